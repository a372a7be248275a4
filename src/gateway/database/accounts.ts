// Accounts, the addresses that are shown to be theirs, and the nonces of the messages that show it.
import { checkKey } from "../../store/codec.js";
import { spellAddress } from "./address.js";
import type { GatewayConnection } from "./connection.js";
import type { Account, Accounts } from "./database.js";
import { createId } from "./ids.js";
import type { GatewayWork } from "./tables.js";

/** Accounts of one database. What names an account that nobody has made rejects. */
export function createAccounts(connection: GatewayConnection): Accounts {
  const { read, write, sql, locks } = connection;
  return {
    create: (name) => write((db, now) => insertAccount(db, name, now)),
    createFirst: (name) =>
      write(async (db, now) => {
        // Invariant: of several instances that start on an empty database one makes the first account; SQLite has one writer.
        if (locks) await sql`lock table gateway_accounts in exclusive mode`.execute(db);
        const any = await db.selectFrom("gateway_accounts").select("id").limit(1).executeTakeFirst();
        return any ? undefined : insertAccount(db, name, now);
      }),
    async get(id) {
      const row = await read((db) =>
        db.selectFrom("gateway_accounts").selectAll().where("id", "=", id).executeTakeFirst(),
      );
      return row && toAccount(row);
    },
    async list() {
      const rows = await read((db) =>
        db.selectFrom("gateway_accounts").selectAll().orderBy("created_at").orderBy("id").execute(),
      );
      return rows.map(toAccount);
    },
    prove: (account, address) => write((db, now) => proveAddress(db, account, address, now)),
    async ownerOf(address) {
      const row = await read((db) =>
        db
          .selectFrom("gateway_addresses")
          .select("account")
          .where("address", "=", spellAddress(address))
          .executeTakeFirst(),
      );
      return row?.account;
    },
    // Those that nobody came back with are taken away here: one statement, on an index.
    rememberNonce: (nonce, purpose, expiresAt) =>
      write(async (db, now) => {
        await db.deleteFrom("gateway_signin_nonces").where("expires_at", "<=", now).execute();
        await db.insertInto("gateway_signin_nonces").values({ nonce, purpose, expires_at: expiresAt }).execute();
      }),
    useNonce: (nonce, purpose) =>
      write(async (db, now) => {
        // Taken away by whoever uses it, so that of two one finds nothing.
        const used = await db
          .deleteFrom("gateway_signin_nonces")
          .where("nonce", "=", nonce)
          .where("purpose", "=", purpose)
          .where("expires_at", ">", now)
          .executeTakeFirstOrThrow();
        return used.numDeletedRows === 1n;
      }),
  };
}

async function insertAccount(db: GatewayWork, name: string, now: number): Promise<Account> {
  const row = { id: createId("acc"), name: checkKey(name), created_at: now, cursor: 0 };
  await db.insertInto("gateway_accounts").values(row).execute();
  return toAccount(row);
}

/** Invariant: the first account that shows an address keeps it. False where that is another one. */
export async function proveAddress(db: GatewayWork, account: string, address: string, now: number): Promise<boolean> {
  await requireAccount(db, account);
  await db
    .insertInto("gateway_addresses")
    .values({ address: spellAddress(address), account, proven_at: now })
    .onConflict((on) => on.doNothing())
    .execute();
  const row = await db
    .selectFrom("gateway_addresses")
    .select("account")
    .where("address", "=", spellAddress(address))
    .executeTakeFirst();
  return row?.account === account;
}

/** @throws Error where nobody has made the account: nothing may belong to it. */
export async function requireAccount(db: GatewayWork, account: string): Promise<void> {
  const row = await db.selectFrom("gateway_accounts").select("id").where("id", "=", account).executeTakeFirst();
  if (!row) throw new Error(`there is no account ${account}`);
}

const toAccount = (row: { id: string; name: string; created_at: number | string }): Account => ({
  id: row.id,
  name: row.name,
  createdAt: Number(row.created_at),
});
