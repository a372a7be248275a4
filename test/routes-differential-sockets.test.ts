// The same comparison over sockets, byte for byte, with the whole paywall: an app without it and one with it get the same
// targets, and where the bare one reaches a priced handler the other must ask that handler's price or refuse.
// 200 variants for each router in CI, 2,000 with `FULL=1`.
import { afterEach, describe, expect, it } from "vitest";
import { silentLogger } from "../src/logger.js";
import { createPaywallCore } from "../src/paywall.js";
import { local } from "../src/receive/local.js";
import { memoryStore } from "../src/store/memory.js";
import { listen } from "./adapters/frameworks.js";
import { exchange } from "./fuzz/support/exchange.js";
import { OVER_SOCKETS, SEED } from "./fuzz/support/scale.js";
import { pathVariants } from "./support/path-variants.js";
import { PATHS, PRICES, ROUTERS } from "./support/route-shop.js";
import { reachedBy } from "./support/routers.js";
import { PAY_TO } from "./support/world.js";

const variants = pathVariants(PATHS, OVER_SOCKETS, SEED + 1);
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** No chain is needed to ask for money: this one is not there. */
function createGuard() {
  const receive = local({
    networks: { "base-sepolia": { rpcUrl: "http://127.0.0.1:9", settler: `0x${"11".repeat(32)}` } },
  });
  const options = {
    payTo: PAY_TO,
    network: "base-sepolia",
    receive,
    routes: PRICES,
    store: memoryStore(),
    logger: silentLogger,
  };
  const core = createPaywallCore(options, { from: "later" }, {});
  closing.push(() => core.close());
  return core.defaultGuard();
}

const get = (target: string) => Buffer.from(`GET ${target} HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n`);
const AMOUNTS: Record<string, string> = { $1: "1000000", $5: "5000000" };

describe(`over sockets, on ${OVER_SOCKETS} variants`, () => {
  it.each(ROUTERS)("$name behind the paywall asks the price of whatever it would have served", async ({ create }) => {
    const bare = await listen(create().server());
    const guarded = await listen(create(createGuard()).server());
    closing.push(bare.close, guarded.close);
    const wrong: string[] = [];
    const reached = new Set<string>();
    for (const { target } of variants) {
      const [without, behind] = await Promise.all([
        exchange(bare.port, get(target)),
        exchange(guarded.port, get(target)),
      ]);
      const shown = `${JSON.stringify(target)}: ${behind.statuses.join()} ${behind.text.slice(-200)}`;
      if (behind.statuses.some((status) => status >= 500)) wrong.push(`failed: ${shown}`);
      for (const [key, price] of Object.entries(PRICES)) {
        if (price === "free" || !without.text.endsWith(reachedBy(key))) continue;
        reached.add(target);
        const asks = behind.statuses[0] === 402 && behind.text.includes(`"maxAmountRequired":"${AMOUNTS[price]}"`);
        if (!asks && behind.statuses[0] !== 400) wrong.push(`${key} is not asked for: ${shown}`);
      }
      for (const [key, price] of Object.entries(PRICES))
        if (price !== "free" && behind.text.endsWith(reachedBy(key))) wrong.push(`given away: ${shown}`);
    }
    expect(wrong).toEqual([]);
    expect([...reached].filter((target) => !PATHS.includes(target)).length).toBeGreaterThan(OVER_SOCKETS / 20);
  });
});
