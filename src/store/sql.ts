// `tollgate/store/sql`: payments remembered in a database that several processes share. SQLite for the processes of one machine,
// Postgres for any number of machines. Drivers are loaded when the store is first used.
import { PaywallConfigError } from "../errors.js";
import { createSharedStore, TIMEOUT_MS } from "./shared-store.js";
import type { PgPool } from "./sql/pool.js";
import type { Store } from "./store.js";

export type { PgClient, PgPool, PgResult } from "./sql/pool.js";
export type { Store } from "./store.js";

export type SqlStoreOptions = SqliteFile | PostgresUrl | PostgresPoolOption;

interface SqlTimes {
  /** For one call; default 5000. Longer than that and the payment is refused for now. */
  readonly timeoutMs?: number;
}
export interface SqliteFile extends SqlTimes {
  /** A path; the file is made where there is none. Needs `kysely` and `libsql`. */
  readonly file: string;
  /** `normal` is faster and may forget the last payments when the power fails; default `full`. */
  readonly synchronous?: "full" | "normal";
  /** Bytes of the file beyond which new payments are refused with `store_full`; default: what the disk holds. */
  readonly maxBytes?: number;
}
export interface PostgresUrl extends SqlTimes {
  /** `postgres://user:password@host/database`. Needs `kysely` and `pg`. */
  readonly url: string;
}
export interface PostgresPoolOption extends SqlTimes {
  /** A `pg.Pool` of your own; `close()` leaves it open. Needs `kysely`. */
  readonly pool: PgPool;
}

/**
 * Makes a store in a SQL database; its tables (`tollgate_…`) are made at first use.
 *
 * @throws PaywallConfigError where the options name no database.
 * @example createPaywall({ payTo, network: "base", store: sqlStore({ url: "postgres://shop@db.internal/shop" }) });
 */
export function sqlStore(options: SqlStoreOptions): Store {
  const { timeoutMs = TIMEOUT_MS } = options;
  const problem = "file" in options ? problemOfFile(options) : "url" in options ? problemOfUrl(options) : undefined;
  if (problem) throw new PaywallConfigError([{ path: "store", code: "invalid", message: problem }]);
  if ("file" in options) {
    const open = async () => (await import("./sql/open.js")).openFile(options);
    return createSharedStore({ name: "sqlite", timeoutMs, open });
  }
  const open = async () => (await import("./sql/open.js")).openServer(options);
  return createSharedStore({ name: "postgres", timeoutMs, open });
}

const problemOfFile = ({ file }: SqliteFile): string | undefined =>
  /^(?:$|:memory:|file:)/.test(file)
    ? 'expected the path of a file, for example "/var/lib/shop/payments.db": what is in memory ends with the process'
    : undefined;

/** A URL of a database holds its password, so it is not repeated. */
const problemOfUrl = ({ url }: PostgresUrl): string | undefined =>
  /^postgres(?:ql)?:\/\//i.test(url)
    ? undefined
    : 'expected "postgres://user:password@host/database" (what came is not shown); for SQLite give file';
