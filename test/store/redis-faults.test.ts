// A Redis that evicts, is full, starts anew, stands still, breaks off or is a cluster: refused, or right, and never forgetful.
import { Cluster, Redis } from "ioredis";
import { createCluster } from "redis";
import { describe, expect, it, onTestFinished } from "vitest";
import { PaywallConfigError } from "../../src/errors.js";
import type { RedisClient } from "../../src/store/redis/client.js";
import { redisStore } from "../../src/store/redis.js";
import type { Store, Write } from "../../src/store/store.js";
import { noRedis, type RedisServer, startRedis } from "../support/redis.js";

const FAR = 3_600_000;

async function serve(settings: readonly string[] = []): Promise<RedisServer> {
  const server = await startRedis(settings);
  onTestFinished(() => server.stop());
  return server;
}
function storeOn(options: Parameters<typeof redisStore>[0]): Store {
  const store = redisStore(options);
  onTestFinished(() => store.close());
  return store;
}
const admin = (server: RedisServer): Redis => {
  const client = new Redis(server.url);
  onTestFinished(() => client.disconnect());
  return client;
};
const write = async (store: Store, key: string, version: number, more: Partial<Write> = {}) => {
  const { now } = await store.read([]);
  return store.commit({
    writes: [{ key, version, value: { body: new Uint8Array(1000) }, expiresAt: now + FAR, ...more }],
  });
};
const versionOf = async (store: Store, key: string) => (await store.read([key])).entries[0]?.version ?? 0;

describe.skipIf(noRedis())("a store in Redis", () => {
  it.each(["allkeys-lru", "volatile-ttl"])("refuses to begin where the server may evict by %s", async (policy) => {
    const server = await serve(["--maxmemory-policy", policy]);
    const store = storeOn({ url: server.url });
    const refused = await store.ready?.().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(PaywallConfigError);
    expect(String(refused)).toContain(`got ${policy}`);
    expect(String(refused)).toContain("Set maxmemory-policy noeviction");
    await expect(store.read(["a"])).rejects.toThrow("never drops an entry");
    await expect(store.commit({ writes: [] })).rejects.toThrow("never drops an entry");
  });

  it("whose policy was changed since the shop began there lets no other process begin", async () => {
    const server = await serve();
    const first = storeOn({ url: server.url });
    await first.ready?.();
    await admin(server).config("SET", "maxmemory-policy", "allkeys-lru");
    const refused = await storeOn({ url: server.url })
      .ready?.()
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(PaywallConfigError);
    expect(String(refused)).toContain("got allkeys-lru");
  });

  it("whose policy is changed while it runs serves no more once anything was evicted, and then trusts no older memory", async () => {
    const server = await serve();
    const store = storeOn({ url: server.url });
    const redis = admin(server);
    expect(await write(store, "record", 0)).toBe("ok");
    const before = await store.read(["record"]);
    await evictRecords(redis);
    await expect(store.read(["record"])).rejects.toThrow("never drops an entry");
    await expect(store.commit({ since: before.since, writes: [] })).rejects.toThrow("got volatile-ttl");
    await redis.config("SET", "maxmemory-policy", "noeviction");
    const after = await store.read(["record"]);
    expect(after.entries).toEqual([undefined]);
    expect(after.since).toBeGreaterThan(before.since);
    expect((await store.read([])).since).toBe(after.since);
  });

  it("that evicted for a moment between a read and its commit takes nothing that was decided before", async () => {
    const server = await serve();
    const store = storeOn({ url: server.url });
    const redis = admin(server);
    expect(await write(store, "record", 0)).toBe("ok");
    const { now, since } = await store.read(["record"]);
    await evictRecords(redis);
    await redis.config("SET", "maxmemory-policy", "noeviction");
    const again = { key: "record", version: 0, value: 1, expiresAt: now + FAR };
    expect(await store.commit({ since, writes: [again] })).toBe("conflict");
  });

  it("without memory left refuses new payments, carries on those that it has, and forgets only kept answers", async () => {
    const server = await serve();
    const store = storeOn({ url: server.url });
    const redis = admin(server);
    expect(await write(store, "record", 0)).toBe("ok");
    expect(await write(store, "answer", 0, { evictable: true })).toBe("ok");
    const version = await versionOf(store, "record");
    await redis.config("SET", "maxmemory", "1");
    expect(await write(store, "new", 0)).toBe("full");
    expect(await write(store, "transaction", 0, { always: true })).toBe("ok");
    expect(await write(store, "record", version)).toBe("ok");
    const settled = await versionOf(store, "record");
    const { now } = await store.read([]);
    const body = { body: "x" };
    const both = [
      { key: "record", version: settled, value: body, expiresAt: now + FAR },
      { key: "other answer", version: 0, value: body, expiresAt: now + FAR, evictable: true },
    ];
    expect(await store.commit({ writes: both })).toBe("ok");
    const { entries } = await store.read(["record", "transaction", "new", "answer", "other answer"]);
    expect(entries.map(Boolean)).toEqual([true, true, false, false, false]);
    await redis.config("SET", "maxmemory", "0");
    expect(await write(store, "new", 0)).toBe("ok");
  });

  it("keeps no more bytes of answers than it may, dropping those that would end first", async () => {
    const server = await serve();
    const store = storeOn({ url: server.url, maxKeptBytes: 5000 });
    const { now } = await store.read([]);
    expect(await write(store, "record", 0)).toBe("ok");
    for (const at of [0, 1, 2, 3, 4, 5])
      await write(store, `answer ${at}`, 0, { evictable: true, expiresAt: now + FAR + at });
    const { entries } = await store.read(["record", ...[0, 1, 2, 3, 4, 5].map((at) => `answer ${at}`)]);
    expect(entries.map(Boolean)).toEqual([true, false, false, false, true, true, true]);
    for (const at of [3, 4, 5])
      await write(store, `answer ${at}`, await versionOf(store, `answer ${at}`), { value: null });
    expect(await admin(server).hget("{tollgate}:meta", "keptbytes")).toBe("0");
  });

  it("that starts empty remembers from then on, and what was decided before is a conflict", async () => {
    const server = await serve();
    const store = storeOn({ url: server.url });
    await write(store, "a", 0);
    const before = await store.read(["a", "b"]);
    await server.restart();
    const after = await untilAnswered(store, ["a", "b"]);
    expect(after.since).toBeGreaterThanOrEqual(before.now);
    expect(after.entries).toEqual([undefined, undefined]);
    const expiresAt = after.now + FAR;
    const stale = (key: string, version: number) =>
      store.commit({ since: before.since, writes: [{ key, version, value: 1, expiresAt }] });
    expect(await stale("a", before.entries[0]?.version ?? 0)).toBe("conflict");
    expect(await stale("b", 0)).toBe("conflict");
    expect(await write(store, "a", 0)).toBe("ok");
    expect(await versionOf(store, "a")).toBeGreaterThan(before.entries[0]?.version ?? 0);
  });

  it("that starts anew with what it had on disk keeps it, and trusts nothing that it may have lost", async () => {
    const server = await serve(["--appendonly", "yes", "--appendfsync", "always"]);
    const store = storeOn({ url: server.url });
    await write(store, "a", 0);
    const before = await store.read(["a"]);
    await server.restart();
    const after = await untilAnswered(store, ["a"]);
    expect(after.entries).toEqual(before.entries);
    expect(after.since).toBeGreaterThan(before.since);
    expect(await write(store, "a", before.entries[0]?.version ?? 0)).toBe("ok");
  });

  it("runs its scripts again where the server has forgotten them", async () => {
    const server = await serve();
    const store = storeOn({ url: server.url });
    await write(store, "a", 0);
    await admin(server).script("FLUSH");
    expect(await write(store, "b", 0)).toBe("ok");
  });

  it("that stands still is given up after its time, and serves again when it goes on", async () => {
    const server = await serve();
    const store = storeOn({ url: server.url, timeoutMs: 2000 });
    await write(store, "a", 0);
    const { now } = await store.read([]);
    server.freeze();
    const late = { key: "b", version: 0, value: 1, expiresAt: now + FAR };
    const asked = [store.read(["a"]), store.commit({ writes: [late] })];
    await Promise.all(asked.map((one) => expect(one).rejects.toThrow("did not answer within 2000 ms")));
    server.thaw();
    expect((await untilAnswered(store, ["a"])).entries[0]).toBeDefined();
  });

  it("that ends in the middle of commits gives each of them up", async () => {
    const server = await serve();
    const store = storeOn({ url: server.url, timeoutMs: 2000 });
    await write(store, "a", 0);
    const { now } = await store.read([]);
    server.freeze();
    const commits = Array.from({ length: 20 }, (_, at) =>
      store.commit({ writes: [{ key: `k${at}`, version: 0, value: at, expiresAt: now + FAR }] }),
    );
    const ended = Promise.allSettled(commits);
    await server.kill();
    expect((await ended).map(({ status }) => status)).toEqual(commits.map(() => "rejected"));
  });

  it("keeps shops of different names apart", async () => {
    const server = await serve();
    const [one, two] = [storeOn({ url: server.url, name: "one" }), storeOn({ url: server.url, name: "two" })];
    await write(one, "a", 0);
    expect((await two.read(["a"])).entries).toEqual([undefined]);
    expect(() => redisStore({ url: server.url, name: "{a}" })).toThrow("expected a name");
    expect(() => redisStore({ url: "http://user:secret@host" })).toThrow(/^(?!.*secret).*redis:\/\//s);
  });

  it.each<[string, (port: number) => Promise<RedisClient>]>([
    [
      "ioredis",
      async (port) => {
        const cluster = new Cluster([{ host: "127.0.0.1", port }]);
        onTestFinished(() => cluster.disconnect());
        return cluster;
      },
    ],
    [
      "node-redis",
      async (port) => {
        const cluster = createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${port}` }] });
        await cluster.connect();
        onTestFinished(() => cluster.destroy());
        return cluster;
      },
    ],
  ])("works on a cluster through %s: all its keys have one slot", async (_client, connect) => {
    const server = await serve(["--cluster-enabled", "yes", "--cluster-announce-ip", "127.0.0.1"]);
    const redis = admin(server);
    await redis.cluster("ADDSLOTSRANGE", 0, 16_383);
    await expect.poll(() => redis.cluster("INFO"), { timeout: 10_000 }).toContain("cluster_state:ok");
    const store = storeOn({ client: await connect(server.port) });
    const { now } = await store.read([]);
    const expiresAt = now + FAR;
    const result = await store.commit({
      writes: ["a", "b"].map((key) => ({ key, version: 0, value: key, expiresAt, dueAt: now - 1 })),
      reserve: [{ ledger: "l", member: "m", amount: "1", maxMembers: 1, expiresAt }],
    });
    const { entries, members } = await store.read(["a", "b"], ["l"]);
    expect([result, entries.map((entry) => entry?.value), members]).toEqual(["ok", ["a", "b"], [1]]);
    expect(await store.due(5)).toEqual(["a", "b"]);
    const slots = await Promise.all((await redis.keys("*")).map((key) => redis.cluster("KEYSLOT", key)));
    expect(new Set(slots).size).toBe(1);
  });
});

/** Sets a policy that evicts, and has all records go; what never ends stays, the store's own beginning too. */
async function evictRecords(redis: Redis): Promise<void> {
  await redis.config("SET", "maxmemory-policy", "volatile-ttl");
  await redis.config("SET", "maxmemory", "1");
  await expect.poll(() => redis.keys("{tollgate}:e:*"), { timeout: 10_000 }).toEqual([]);
  await redis.config("SET", "maxmemory", "0");
  expect(await redis.exists("{tollgate}:meta")).toBe(1);
}

/** Asks until the connection is there again. */
async function untilAnswered(store: Store, keys: readonly string[]) {
  return expect
    .poll(() => store.read(keys).catch(() => undefined), { timeout: 10_000 })
    .toBeDefined()
    .then(() => store.read(keys));
}
