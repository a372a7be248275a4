// Every store as the tests of what is built on stores open it: two connections to one new place, as two processes have them.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { memoryStore } from "../../src/store/memory.js";
import { redisStore } from "../../src/store/redis.js";
import { sqlStore } from "../../src/store/sql.js";
import type { Store } from "../../src/store/store.js";
import { noPostgres, type PostgresServer, startPostgres } from "./postgres.js";
import { noRedis, type RedisServer, startRedis } from "./redis.js";

export type OpenStores = () => Promise<readonly [Store, Store]>;

/** All stores by name, why one is skipped, and how it is opened; their servers live as long as the test file that calls this. */
export function everyStore(): readonly [name: string, skipped: string | undefined, open: OpenStores][] {
  let redis: RedisServer | undefined;
  let postgres: PostgresServer | undefined;
  let names = 0;
  beforeAll(async () => {
    if (!noRedis()) redis = await startRedis();
    if (!noPostgres()) postgres = await startPostgres();
  }, 60_000);
  afterAll(async () => {
    await redis?.stop();
    await postgres?.stop();
  });
  const opened = (open: () => Store): readonly [Store, Store] => {
    const both = [open(), open()] as const;
    onTestFinished(async () => void (await Promise.all(both.map((store) => store.close()))));
    return both;
  };
  return [
    [
      "memory",
      undefined,
      async () => {
        const store = memoryStore();
        return [store, store];
      },
    ],
    [
      "SQLite",
      undefined,
      async () => {
        const folder = mkdtempSync(join(tmpdir(), "tollgate-sqlite-"));
        onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
        return opened(() => sqlStore({ file: join(folder, "shop.db") }));
      },
    ],
    [
      "Redis",
      noRedis(),
      async () => {
        const name = `shop${++names}`;
        return opened(() => redisStore({ url: redis?.url ?? "", name }));
      },
    ],
    [
      "PostgreSQL",
      noPostgres(),
      async () => {
        const url = (await postgres?.newSchema()) ?? "";
        return opened(() => sqlStore({ url }));
      },
    ],
  ];
}
