// Who is signed in to the dashboard. Of what a browser holds only the SHA-256 is kept, so that whoever reads the database can
// sign in as nobody.

import { requireAccount } from "./accounts.js";
import type { GatewayConnection } from "./connection.js";
import type { Account } from "./database.js";

/** Without a page asked for. */
export const IDLE_MS = 30 * 60_000;
/** Whatever is asked for. */
export const LONGEST_MS = 12 * 60 * 60_000;
/** A session is written at most this often. */
const NOTED_EVERY_MS = 60_000;

export interface Sessions {
  begin(account: string, hash: string): Promise<void>;
  /** Whose session it is, and that it goes on; undefined where it is over, or the account is gone. */
  use(hash: string): Promise<Account | undefined>;
  end(hash: string): Promise<void>;
  /** Every session of an account. */
  endAll(account: string): Promise<void>;
}

export function createSessions({ write }: GatewayConnection): Sessions {
  return {
    begin: (account, hash) =>
      write(async (db, now) => {
        await requireAccount(db, account);
        await db.deleteFrom("gateway_sessions").where("expires_at", "<=", now).execute();
        const times = { created_at: now, used_at: now, expires_at: now + LONGEST_MS };
        await db
          .insertInto("gateway_sessions")
          .values({ hash, account, ...times })
          .execute();
      }),
    use: (hash) =>
      write(async (db, now) => {
        const row = await db
          .selectFrom("gateway_sessions as session")
          .innerJoin("gateway_accounts as account", "account.id", "session.account")
          .select(["account.id", "account.name", "account.created_at", "session.used_at"])
          .where("session.hash", "=", hash)
          .where("session.expires_at", ">", now)
          .where("session.used_at", ">", now - IDLE_MS)
          .executeTakeFirst();
        if (!row) return undefined;
        if (Number(row.used_at) <= now - NOTED_EVERY_MS) {
          await db.updateTable("gateway_sessions").set({ used_at: now }).where("hash", "=", hash).execute();
        }
        return { id: row.id, name: row.name, createdAt: Number(row.created_at) };
      }),
    end: (hash) =>
      write(async (db) => void (await db.deleteFrom("gateway_sessions").where("hash", "=", hash).execute())),
    endAll: (account) =>
      write(async (db) => void (await db.deleteFrom("gateway_sessions").where("account", "=", account).execute())),
  };
}
