// Requests that no client would send, as bytes, to the paywall on every framework: nothing in them gets goods, makes the
// server fail, or takes it down. The list is test/fuzz/support/raw-requests.ts.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { silentLogger } from "../src/logger.js";
import { memoryStore } from "../src/store/memory.js";
import { createSandbox, type Sandbox } from "../src/testing/index.js";
import { FRAMEWORKS } from "./e2e/seller.js";
import { exchange } from "./fuzz/support/exchange.js";
import { RAW_REQUESTS, type RawRequest } from "./fuzz/support/raw-requests.js";
import { FREE, GOODS, type Shop, startShop } from "./fuzz/support/shops.js";

let sandbox: Sandbox;
const unhandled: unknown[] = [];
const note = (reason: unknown) => void unhandled.push(reason);
beforeAll(async () => {
  process.on("unhandledRejection", note);
  process.on("uncaughtExceptionMonitor", note);
  sandbox = await createSandbox();
});
afterAll(async () => {
  process.off("unhandledRejection", note);
  process.off("uncaughtExceptionMonitor", note);
  await sandbox.close();
});

describe.each(FRAMEWORKS)("%s", (framework) => {
  let shop: Shop;
  const failures: string[] = [];
  /** Answers that the paywall itself gave. */
  let judged = 0;
  beforeAll(async () => {
    const { payTo, network } = sandbox;
    const error = (message: string, facts?: object) => void failures.push(`${message} ${JSON.stringify(facts)}`);
    const options = {
      payTo,
      network,
      receive: sandbox.receive(),
      store: memoryStore(),
      logger: { ...silentLogger, error },
    };
    shop = await startShop(framework, options);
  });
  afterAll(() => shop.close());
  beforeEach(() => {
    shop.runs.length = 0;
    failures.length = 0;
    judged = 0;
  });

  const isAlive = async () => {
    const { text } = await exchange(
      shop.port,
      Buffer.from("GET /free HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"),
    );
    return text.endsWith(FREE) || text.includes(`\r\n${FREE}\r\n`);
  };
  /** What went wrong with one request; undefined when nothing did. */
  const wrongWith = async ({ name, bytes, hangUp }: RawRequest): Promise<string | undefined> => {
    const { statuses, text } = await exchange(shop.port, bytes, { hangUp: hangUp ?? false });
    if (text.includes('"code":"')) judged += 1;
    const failed = statuses.some((status) => status >= 500);
    // Neither a line of the head nor a host of the sender's making may come back as ours.
    const isBad = failed || text.includes(GOODS) || /^X-Evil:|<script>|evil\.test|@shop\.test/im.test(text);
    return isBad ? `${name}: ${statuses.join()} ${text.slice(0, 400)}` : undefined;
  };

  it.each(Object.entries(RAW_REQUESTS))("neither sells to odd %s nor fails", async (_, requests) => {
    const wrong: string[] = [];
    for (const request of requests) {
      const found = await wrongWith(request);
      if (found) wrong.push(found);
    }
    expect(wrong).toEqual([]);
    expect(shop.runs).toEqual([]);
    expect(failures).toEqual([]);
    expect(unhandled).toEqual([]);
    expect(await isAlive()).toBe(true);
    // Most are refused by Node or by the framework; enough must come through to the paywall.
    expect(judged).toBeGreaterThan(requests.length / 5);
  });
});
