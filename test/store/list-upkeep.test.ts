// What keeps the lists of the shared stores true over time: places of entries that are over go away, and a database that an
// earlier version made is brought to this one.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { STORE } from "../../src/store/load-peer.js";
import { redisStore } from "../../src/store/redis.js";
import { openSqlBackend } from "../../src/store/sql/backend.js";
import { migrateSchema } from "../../src/store/sql/schema.js";
import { openSqlite } from "../../src/store/sql/sqlite.js";
import { noRedis, startRedis } from "../support/redis.js";

describe.skipIf(noRedis())("a Redis", () => {
  it("forgets the places of entries that it has dropped, as others are added", async () => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    const store = redisStore({ url: server.url });
    onTestFinished(() => store.close());
    const add = async (key: string, ms: number) => {
      const expiresAt = (await store.read([])).now + ms;
      expect(await store.commit({ writes: [{ key, version: 0, value: 1, expiresAt, listed: true }] })).toBe("ok");
    };
    const places = async () => Number(await server.command("ZCARD", "{tollgate}:list"));
    const standing = Array.from({ length: 20 }, (_, at) => `standing ${at}`);
    for (const key of standing) await add(key, 3_600_000);
    for (let at = 0; at < 200; at += 1) await add(`brief ${at}`, 1);
    for (const at of standing.keys()) await add(`later ${at}`, 3_600_000);
    expect(await places()).toBeLessThan(80);
    const { entries } = await store.list(undefined, 1000);
    expect(entries.map(({ key }) => key).filter((key) => key.startsWith("standing"))).toEqual(standing.toReversed());
    expect(entries).toHaveLength(40);
  });
});

it("a SQLite file of an earlier version lists what is written from now on, in the order of writing", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-upgrade-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const options = { file: join(folder, "shop.db"), busyMs: 1000 };
  const earlier = await openSqlite(options);
  const [first] = earlier.migrations;
  if (!first) throw new Error("the store has no schema");
  await migrateSchema(earlier, { table: "tollgate_migrations", migrations: [first], owner: STORE });
  const old = { version: 1, value: '"old"', expires_at: Date.now() + 3_600_000, due_at: null };
  for (const key of ["a", "b", "c"])
    await earlier.kysely.sql`insert into tollgate_entries
    values (${key}, ${old.version}, ${old.value}, ${old.expires_at}, ${old.due_at})`.execute(earlier.db);
  await earlier.close();

  const store = await openSqlBackend(await openSqlite(options));
  onTestFinished(() => store.close());
  expect((await store.list(undefined, 10)).entries).toEqual([]);
  for (const key of ["c", "a"]) {
    const [entry] = (await store.read([key], [])).entries;
    expect(entry).toEqual({ version: 1, value: "old" });
    const write = { key, version: 1, value: "new", expiresAt: old.expires_at, listed: true };
    expect(await store.commit({ writes: [write] })).toBe("ok");
  }
  expect((await store.list(undefined, 10)).entries.map(({ key }) => key)).toEqual(["a", "c"]);
  expect((await store.read(["b"], [])).entries[0]?.value).toBe("old");
});
