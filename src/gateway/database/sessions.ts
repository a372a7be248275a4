// Who is signed in to the dashboard. Of what a browser holds only the SHA-256 is kept, so that whoever reads the database can
// sign in as nobody.
import type { RawBuilder } from "kysely";
import type { Whole } from "../../store/sql/dialect.js";
import { requireAccount } from "./accounts.js";
import type { GatewayConnection } from "./connection.js";
import type { Account } from "./database.js";
import { signsFor } from "./signers.js";
import type { GatewayWork } from "./tables.js";

/** Without a page asked for. */
export const IDLE_MS = 30 * 60_000;
/** Whatever is asked for. */
export const LONGEST_MS = 12 * 60 * 60_000;
/** So long after it began a session may still say who signs for the account. */
export const NEW_MS = 10 * 60_000;
/** A session is written at most this often. */
const NOTED_EVERY_MS = 60_000;

export interface OpenSession {
  readonly account: Account;
  /** It has begun by a sign-in of the last ten minutes. */
  readonly isNew: boolean;
}

export interface Sessions {
  /** `signer`: the wallet by which it begins. False = that wallet signs for the account no more. */
  begin(account: string, hash: string, signer?: string): Promise<boolean>;
  /** Whose session it is, and that it goes on; undefined where it is over, or the account is gone. */
  use(hash: string): Promise<OpenSession | undefined>;
  /** The same for what nobody has asked for: it keeps no session alive. */
  look(hash: string): Promise<OpenSession | undefined>;
  end(hash: string): Promise<void>;
  /** Every session of an account. */
  endAll(account: string): Promise<void>;
}

export function createSessions({ read, write, sql, now, locks }: GatewayConnection): Sessions {
  const look = (hash: string) => read((db) => findOpen(db, hash, (ms) => sql<Whole>`${now()} - ${ms}`));
  return {
    begin: (account, hash, signer) =>
      write(async (db, now) => {
        await requireAccount(db, account);
        // Invariant: a wallet that is taken back at the same time opens nothing that outlives it. It waits for us, and then ends
        // this session too; or it was first.
        if (signer !== undefined && !(await signsFor(db, account, signer, locks))) return false;
        await db.deleteFrom("gateway_sessions").where("expires_at", "<=", now).execute();
        const times = { created_at: now, used_at: now, expires_at: now + LONGEST_MS };
        await db
          .insertInto("gateway_sessions")
          .values({ hash, account, ...times })
          .execute();
        return true;
      }),
    async use(hash) {
      // Looked at before it is written: cookies that are nobody's take no turn of a database's one writer.
      const seen = await look(hash);
      if (!seen?.isStale) return seen?.open;
      return write(async (db, now) => {
        const row = await findOpen(db, hash, (ms) => now - ms);
        // One that is over stays so.
        if (row) await db.updateTable("gateway_sessions").set({ used_at: now }).where("hash", "=", hash).execute();
        return row?.open;
      });
    },
    look: async (hash) => (await look(hash))?.open,
    end: (hash) =>
      write(async (db) => void (await db.deleteFrom("gateway_sessions").where("hash", "=", hash).execute())),
    endAll: (account) =>
      write(async (db) => void (await db.deleteFrom("gateway_sessions").where("account", "=", account).execute())),
  };
}

type Moment = number | RawBuilder<Whole>;

/** `ago`: so many milliseconds before now. */
async function findOpen(db: Pick<GatewayWork, "selectFrom">, hash: string, ago: (ms: number) => Moment) {
  const row = await db
    .selectFrom("gateway_sessions as session")
    .innerJoin("gateway_accounts as account", "account.id", "session.account")
    .select(["account.id", "account.name", "account.created_at"])
    .select((of) => of("session.created_at", ">", ago(NEW_MS)).as("is_new"))
    .select((of) => of("session.used_at", "<=", ago(NOTED_EVERY_MS)).as("is_stale"))
    .where("session.hash", "=", hash)
    .where("session.expires_at", ">", ago(0))
    .where("session.used_at", ">", ago(IDLE_MS))
    .executeTakeFirst();
  if (!row) return undefined;
  const account: Account = { id: row.id, name: row.name, createdAt: Number(row.created_at) };
  // SQLite says 1 or 0.
  return { isStale: Boolean(row.is_stale), open: { account, isNew: Boolean(row.is_new) } };
}
