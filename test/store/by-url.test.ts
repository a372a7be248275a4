// A store named by its URL, and what it needs to be installed.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { silentLogger } from "../../src/logger.js";
import { resolveOptions } from "../../src/options.js";
import { createPaywallCore } from "../../src/paywall.js";
import type { Receiver } from "../../src/receive/receiver.js";
import { storeFromUrl } from "../../src/store/from-url.js";
import { noRedis, startRedis } from "../support/redis.js";

const good = {
  payTo: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  network: "base-sepolia",
  logger: silentLogger,
};
/** A receiver that is always ready: what is asked here is the store. */
const receive = {
  name: "none",
  settleMs: () => 10_000,
  ready: async () => ({ state: "ready" }),
  verify: async () => ({ outcome: "unavailable", code: "not_ready", message: "none" }),
  settle: async () => ({ outcome: "unknown", message: "none" }),
  lookup: async () => ({ outcome: "unknown", message: "none" }),
  close: async () => {},
} as const satisfies Receiver;

it.each([
  ["sqlite:///var/lib/shop/payments.db", "sqlite"],
  ["postgres://shop:secret@db.internal:5432/shop?sslmode=require", "postgres"],
  ["postgresql:///shop?host=/run/postgresql", "postgres"],
  ["redis://cache.internal:6379/1", "redis"],
  ["rediss://shop:secret@cache.internal", "redis"],
])("takes %s", (url, name) => {
  const { store } = resolveOptions(good, { TOLLGATE_STORE_URL: ` ${url} ` });
  expect([store.name, store.shared]).toEqual([name, true]);
});

it.each([
  "",
  "shop.db",
  "sqlite:shop.db",
  "sqlite://shop.db",
  "sqlite:///",
  "sqlite:///var/lib/shop/",
  "sqlite:///shop.db?mode=memory",
  "mysql://db/shop",
  "redis://",
  "http://cache.internal:6379",
])("takes no %j for a store", (url) => {
  expect(storeFromUrl(url)).toBeUndefined();
});

it("is one store in a process, however many paywalls name it, and gives way to a store in the options", () => {
  const url = "postgres://db.internal/shop";
  expect(storeFromUrl(url)).toBe(storeFromUrl(url));
  expect(storeFromUrl(url)).not.toBe(storeFromUrl(`${url}2`));
  const own = storeFromUrl("redis://cache.internal");
  expect(resolveOptions({ ...good, store: own }, { TOLLGATE_STORE_URL: "not read" }).store).toBe(own);
});

it("works from the environment alone, and its paths may hold any sign", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-by-url-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const { store } = resolveOptions(good, { TOLLGATE_STORE_URL: `sqlite://${folder}/a%20shop%E2%80%99s.db` });
  const { now } = await store.read([]);
  expect(await store.commit({ writes: [{ key: "a", version: 0, value: 1, expiresAt: now + 1000 }] })).toBe("ok");
  await store.close();
});

it.skipIf(noRedis())("keeps a paywall from opening where it may forget, with the sentence that mends it", async () => {
  const server = await startRedis(["--maxmemory-policy", "allkeys-lfu"]);
  onTestFinished(() => server.stop());
  const core = createPaywallCore({ ...good, receive }, { from: "later" }, { TOLLGATE_STORE_URL: server.url });
  onTestFinished(() => core.close());
  await expect(core.ready()).rejects.toThrow(/got allkeys-lfu.*Set maxmemory-policy noeviction/);
});

it("is waited for at the start while it cannot be reached", async () => {
  const core = createPaywallCore(
    { ...good, receive },
    { from: "later" },
    { TOLLGATE_STORE_URL: "redis://127.0.0.1:1" },
  );
  const waiting = core.ready().then(
    () => "ready",
    (error: unknown) => String(error),
  );
  expect(await Promise.race([waiting, new Promise((resolve) => setImmediate(() => resolve("waiting")))])).toBe(
    "waiting",
  );
  await core.close();
  expect(await waiting).toContain("closed before the checks were done");
});
