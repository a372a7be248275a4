// A Postgres that breaks commits off, goes away, starts anew or is emptied: tried again where the server has undone everything,
// refused everywhere else. The faults happen in the server itself.
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { PaywallConfigError } from "../../src/errors.js";
import type { PgPool } from "../../src/store/sql/pool.js";
import { sqlStore } from "../../src/store/sql.js";
import type { Store, Write } from "../../src/store/store.js";
import { noPostgres, type PostgresServer, startPostgres } from "../support/postgres.js";

const FAR = 3_600_000;
let server: PostgresServer;

const write = async (store: Store, key: string, version: number, more: Partial<Write> = {}) => {
  const { now } = await store.read([]);
  return store.commit({ writes: [{ key, version, value: key, expiresAt: now + FAR, ...more }] });
};
const storeOn = (options: Parameters<typeof sqlStore>[0]): Store => {
  const store = sqlStore(options);
  onTestFinished(() => store.close());
  return store;
};
/** A pool of the seller's own that counts what it is asked. */
function countingPool(url: string): { pool: PgPool; count(text: string): number } {
  const pool = new pg.Pool({ connectionString: url });
  pool.on("error", () => undefined);
  onTestFinished(() => pool.end());
  const asked: string[] = [];
  return {
    count: (text) => asked.filter((one) => one.startsWith(text)).length,
    pool: {
      end: () => pool.end(),
      async connect() {
        const client = await pool.connect();
        return {
          query: (text, values) => {
            asked.push(text);
            return client.query(text, [...values]);
          },
          release: (destroy) => client.release(destroy),
        };
      },
    },
  };
}
/** Makes the server itself do `body` for the first `times` rows that are written. */
const sabotage = (url: string, times: number, body: string) =>
  server.query(
    `create sequence sabotaged;
     create function sabotage() returns trigger language plpgsql as $$
     begin if nextval('sabotaged') <= ${times} then ${body} end if; return new; end $$;
     create trigger sabotage before insert or update on tollgate_entries for each row execute function sabotage()`,
    url,
  );

describe.skipIf(noPostgres())("a store in PostgreSQL", () => {
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server?.stop());

  it.each(["40001", "40P01", "55P03"])("tries a commit again that the server broke off with %s", async (code) => {
    const url = await server.newSchema();
    const { pool, count } = countingPool(url);
    const store = storeOn({ pool });
    await store.read([]);
    await sabotage(url, 3, `raise exception 'broken off' using errcode = '${code}';`);
    const before = count("start transaction");
    expect(await write(store, "a", 0)).toBe("ok");
    expect([count("start transaction") - before, count("rollback")]).toEqual([4, 3]);
    expect((await store.read(["a"])).entries[0]?.value).toBe("a");
  });

  it("F92: 64 claims on 8 keys where the database is serializable by default: 8 winners, and no conflict comes out", async () => {
    const url = await server.newSchema();
    const stores = [1, 2].map(() => storeOn({ url: `${url}%20-c%20default_transaction_isolation%3Dserializable` }));
    const { now } = await stores[0]!.read([]);
    const claim = (at: number) =>
      stores[at % 2]!.commit({
        writes: [{ key: `proof ${at % 8}`, version: 0, value: at, expiresAt: now + FAR }],
        reserve: [{ ledger: "payer", member: `${at % 8}`, amount: "1", maxMembers: 8, expiresAt: now + FAR }],
      });
    const results = await Promise.all(Array.from({ length: 64 }, (_, at) => claim(at)));
    expect(results.filter((result) => result === "ok")).toHaveLength(8);
    expect(results.filter((result) => result === "conflict")).toHaveLength(56);
  });

  it("gives up where the server breaks it off for ever, and nothing is written", async () => {
    const url = await server.newSchema();
    const store = storeOn({ url });
    await store.read([]);
    await sabotage(url, 1000, "raise exception 'broken off' using errcode = '40001';");
    await expect(write(store, "a", 0)).rejects.toThrow("broken off");
    expect((await store.read(["a"])).entries).toEqual([undefined]);
  });

  it("waits for a lock that somebody else holds, and tries again when it is not given in time", async () => {
    const url = await server.newSchema();
    const { pool, count } = countingPool(url);
    const store = storeOn({ pool, timeoutMs: 8000 });
    await write(store, "a", 0);
    const { entries } = await store.read(["a"]);
    const holder = new pg.Client(url);
    await holder.connect();
    onTestFinished(() => holder.end());
    await holder.query("begin");
    await holder.query("select * from tollgate_entries where key = 'a' for update");
    const before = count("start transaction");
    const writing = write(store, "a", entries[0]?.version ?? 0);
    await expect.poll(() => count("start transaction") - before, { timeout: 10_000 }).toBeGreaterThan(1);
    await holder.query("rollback");
    expect(await writing).toBe("ok");
  });

  it("breaks a deadlock with a stranger's transaction, and wins once that is gone", async () => {
    const url = await server.newSchema();
    const store = storeOn({ url });
    await write(store, "a", 0);
    await write(store, "b", 0);
    const { now, entries } = await store.read(["a", "b"]);
    const stranger = new pg.Client(url);
    await stranger.connect();
    onTestFinished(() => stranger.end());
    await stranger.query("begin; set local deadlock_timeout = '10s'");
    await stranger.query("select * from tollgate_entries where key = 'b' for update");
    const both = ["a", "b"].map((key, at) => ({
      key,
      version: entries[at]?.version ?? 0,
      value: 1,
      expiresAt: now + FAR,
    }));
    const committing = store.commit({ writes: both });
    const waiting = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'tollgate'";
    await expect.poll(() => server.query(waiting), { timeout: 10_000 }).not.toEqual([]);
    await stranger.query("select * from tollgate_entries where key = 'a' for update");
    await stranger.query("rollback");
    expect(await committing).toBe("ok");
  });

  it("refuses a commit whose connection is cut in the middle, and works on the next one", async () => {
    const url = await server.newSchema();
    const store = storeOn({ url });
    await store.read([]);
    await sabotage(url, 1, "perform pg_terminate_backend(pg_backend_pid());");
    await expect(write(store, "a", 0)).rejects.toThrow();
    expect((await store.read(["a"])).entries).toEqual([undefined]);
    expect(await write(store, "a", 0)).toBe("ok");
  });

  it("that starts anew has kept everything, and remembers since the same moment", async () => {
    const url = await server.newSchema();
    const store = storeOn({ url });
    await write(store, "a", 0);
    const before = await store.read(["a"]);
    await server.kill();
    await expect(store.read(["a"])).rejects.toThrow();
    await server.restart();
    const after = await store.read(["a"]);
    expect([after.since, after.entries]).toEqual([before.since, before.entries]);
  });

  it("whose standby took over remembers since then: it may have been behind", async () => {
    const own = await startPostgres();
    onTestFinished(() => own.stop());
    const store = storeOn({ url: own.url });
    await write(store, "copied", 0);
    await own.makeStandby();
    await write(store, "lost", 0);
    const before = await store.read(["copied", "lost"]);
    await own.failOver();
    const stale = [{ key: "lost", version: 0, value: 1, expiresAt: before.now + FAR }];
    await expect(store.commit({ since: before.since, writes: stale })).resolves.toBe("conflict");
    const after = await store.read(["copied", "lost"]);
    expect(after.since).toBeGreaterThanOrEqual(before.now);
    expect(after.entries.map(Boolean)).toEqual([true, false]);
    expect(await write(store, "copied", before.entries[0]?.version ?? 0)).toBe("ok");
    expect((await store.read([])).since).toBe(after.since);
  });

  it("whose tables are gone begins anew, and what was decided before is a conflict", async () => {
    const url = await server.newSchema();
    const store = storeOn({ url });
    await write(store, "a", 0);
    const before = await store.read(["a"]);
    await server.query("drop table tollgate_meta, tollgate_entries, tollgate_members, tollgate_migrations", url);
    await server.query("drop sequence tollgate_version", url);
    await expect(store.read(["a"])).rejects.toThrow("does not exist");
    const after = await store.read(["a"]);
    expect(after.since).toBeGreaterThan(before.since);
    const expiresAt = after.now + FAR;
    const stale = { key: "a", version: 0, value: 1, expiresAt };
    expect(await store.commit({ since: before.since, writes: [stale] })).toBe("conflict");
    expect(await write(store, "a", 0)).toBe("ok");
    expect((await store.read(["a"])).entries[0]?.version).toBeGreaterThan(before.entries[0]?.version ?? 0);
  });

  it("refuses all work where the row in which it began is lost", async () => {
    const url = await server.newSchema();
    const store = storeOn({ url });
    await write(store, "a", 0);
    await server.query("delete from tollgate_meta", url);
    await expect(store.read(["a"])).rejects.toThrow("has lost the row");
    await expect(store.commit({ writes: [] })).rejects.toThrow("has lost the row");
  });

  it("says full where the disk is, and writes nothing", async () => {
    const url = await server.newSchema();
    const store = storeOn({ url });
    await store.read([]);
    await sabotage(url, 1, "raise exception 'could not extend file' using errcode = '53100';");
    expect(await write(store, "a", 0)).toBe("full");
    expect((await store.read(["a"])).entries).toEqual([undefined]);
  });

  it("waits for the disk also where the database usually does not", async () => {
    const url = await server.newSchema();
    const { pool } = countingPool(`${url}%20-c%20synchronous_commit%3Doff`);
    const store = storeOn({ pool });
    await store.read([]);
    await server.query(
      `create table seen (setting text); create function see() returns trigger language plpgsql as
       $$ begin insert into seen values (current_setting('synchronous_commit')); return new; end $$;
       create trigger see before insert on tollgate_entries for each row execute function see()`,
      url,
    );
    await write(store, "a", 0);
    expect(await server.query("select setting from seen", url)).toEqual([{ setting: "on" }]);
  });

  it("takes expired rows away as it goes", async () => {
    const url = await server.newSchema();
    const store = storeOn({ url });
    const { now } = await store.read([]);
    await server.query(
      `insert into tollgate_entries select 'old' || n, n, '1', ${now - 1}, null from generate_series(1, 1500) n;
       insert into tollgate_members select 'l', 'm' || n, '1', ${now - 1} from generate_series(1, 10) n`,
      url,
    );
    await write(store, "a", 0);
    await write(store, "b", 0);
    const left = "select (select count(*) from tollgate_entries) + (select count(*) from tollgate_members) as rows";
    expect(await server.query(left, url)).toEqual([{ rows: "2" }]);
  });

  it("leaves a database alone that a later version has changed", async () => {
    const url = await server.newSchema();
    await storeOn({ url }).read([]);
    await server.query("insert into tollgate_migrations values (99, 0)", url);
    const refused = await storeOn({ url })
      .ready?.()
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(PaywallConfigError);
    expect(String(refused)).toContain("update the package");
  });

  it("leaves a pool of the seller's open, and opens none for a URL of another kind", async () => {
    const pool = new pg.Pool({ connectionString: await server.newSchema() });
    onTestFinished(() => pool.end());
    const store = sqlStore({ pool });
    await write(store, "a", 0);
    await store.close();
    expect((await pool.query("select key from tollgate_entries")).rows).toEqual([{ key: "a" }]);
    expect(() => sqlStore({ url: "mysql://user:secret@host" })).toThrow(/^(?!.*secret).*postgres:\/\//s);
  });
});
