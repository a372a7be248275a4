// API keys: what is kept of them is their public part and the SHA-256 of the whole. Looked up by the public part alone, so that
// what a stranger sends is compared outside of the database, in constant time.
import { checkKey } from "../../store/codec.js";
import type { ApiKey, Scope } from "../caller.js";
import { requireAccount } from "./accounts.js";
import { chunksOf } from "./chunks.js";
import type { GatewayConnection } from "./connection.js";
import type { Keys, NewKey } from "./database.js";
import { createId, createSecret } from "./ids.js";
import type { KeyRow } from "./tables.js";

const USED_EVERY_MS = 60_000;

/** Keys of one database. `find` tells of revoked and expired ones too: what they may is judged by who asks. */
export function createKeys(connection: GatewayConnection): Keys {
  const { read, write } = connection;
  const byId = (id: string): Promise<KeyRow | undefined> =>
    read((db) => db.selectFrom("gateway_keys").selectAll().where("id", "=", id).executeTakeFirst());
  return {
    create: createKey(connection),
    /**
     * One row is read in any case, the next one in order where no key has the prefix, and thrown away after the same work. So the
     * time of an answer does not tell which prefixes there are. Source: faults A41, bench/key-timing.mjs.
     */
    async find(prefix) {
      const row = await read((db) =>
        db
          .selectFrom("gateway_keys")
          .selectAll()
          .where("prefix", ">=", (of) =>
            of
              .selectFrom("gateway_keys as last")
              // Beyond the last one there is no next.
              .select(({ fn, eb, val }) =>
                eb
                  .case()
                  .when(fn.max<string>("last.prefix"), "<", prefix)
                  .then(fn.max<string>("last.prefix"))
                  .else(val(prefix))
                  .end()
                  .as("prefix"),
              ),
          )
          .orderBy("prefix")
          .limit(1)
          .executeTakeFirst(),
      );
      const found = row && { key: fromKeyRow(row), hash: row.hash };
      return found?.key.prefix === prefix ? found : undefined;
    },
    async get(id) {
      const row = await byId(id);
      return row && fromKeyRow(row);
    },
    usable: (ids) => findUsable(connection, ids),
    async list(account) {
      const rows = await read((db) =>
        db
          .selectFrom("gateway_keys")
          .selectAll()
          .where("account", "=", account)
          .orderBy("created_at")
          .orderBy("id")
          .execute(),
      );
      return rows.map(fromKeyRow);
    },
    revoke: (account, id) =>
      write(async (db, now) => {
        const revoked = await db
          .updateTable("gateway_keys")
          .set({ revoked_at: now })
          .where("id", "=", id)
          .where("account", "=", account)
          .where("revoked_at", "is", null)
          .executeTakeFirstOrThrow();
        return revoked.numUpdatedRows === 1n;
      }),
    async used(id) {
      const { sql, now } = connection;
      const isLongAgo = () => sql<boolean>`coalesce(last_used_at, 0) <= ${now()} - ${USED_EVERY_MS}`;
      // Asked before it is written: most calls find that it was written a moment ago, and hold up nobody.
      const stale = await read((db) =>
        db.selectFrom("gateway_keys").select("id").where("id", "=", id).where(isLongAgo()).executeTakeFirst(),
      );
      if (!stale) return;
      await write((db, at) =>
        db.updateTable("gateway_keys").set({ last_used_at: at }).where("id", "=", id).where(isLongAgo()).execute(),
      );
    },
  };
}

async function findUsable({ read, now }: GatewayConnection, ids: readonly string[]): Promise<readonly ApiKey[]> {
  const parts = await Promise.all(
    chunksOf(ids).map((some) =>
      read((db) =>
        db
          .selectFrom("gateway_keys as key")
          .innerJoin("gateway_accounts as account", "account.id", "key.account")
          .selectAll("key")
          .where("key.id", "in", some)
          .where("key.revoked_at", "is", null)
          .where((of) => of.or([of("key.expires_at", "is", null), of("key.expires_at", ">", now())]))
          .execute(),
      ),
    ),
  );
  return parts.flat().map(fromKeyRow);
}

/** Another secret where the public part of one is taken already. */
function createKey({ write }: GatewayConnection): Keys["create"] {
  return (key) =>
    write(async (db, now) => {
      await requireAccount(db, key.account);
      for (;;) {
        const { secret, prefix, hash } = createSecret(key.mode);
        const row = toKeyRow(key, { id: createId("key"), prefix, hash, created_at: now });
        const { numInsertedOrUpdatedRows } = await db
          .insertInto("gateway_keys")
          .values(row)
          .onConflict((on) => on.doNothing())
          .executeTakeFirstOrThrow();
        if (numInsertedOrUpdatedRows === 1n) return { key: fromKeyRow(row), secret };
      }
    });
}

/** What the database adds to a new key. */
type Made = Pick<KeyRow, "id" | "prefix" | "hash" | "created_at">;

const toKeyRow = (key: NewKey, made: Made): KeyRow => ({
  ...made,
  account: key.account,
  name: checkKey(key.name),
  mode: key.mode,
  plan: key.plan,
  rate_limit: key.rateLimit ?? null,
  scopes: JSON.stringify(key.scopes),
  wallets: JSON.stringify(key.wallets ?? []),
  last_used_at: null,
  expires_at: key.expiresAt ?? null,
  revoked_at: null,
});

function fromKeyRow(row: KeyRow): ApiKey {
  const { id, account, prefix, name, mode, plan } = row;
  return {
    ...{ id, account, prefix, name, mode, plan },
    rateLimit: row.rate_limit === null ? null : Number(row.rate_limit),
    scopes: JSON.parse(row.scopes) as readonly Scope[],
    wallets: JSON.parse(row.wallets) as readonly string[],
    createdAt: Number(row.created_at),
    lastUsedAt: timeOf(row.last_used_at),
    expiresAt: timeOf(row.expires_at),
    revokedAt: timeOf(row.revoked_at),
  };
}

const timeOf = (at: number | string | null): number | null => (at === null ? null : Number(at));
