// Race and replay: one authorization is one grant and one receipt, whoever sends it how often, and a death between the
// settlement and the answer costs the buyer nothing.
import { afterEach, describe, expect, it } from "vitest";
import { memoryStore } from "../../src/store/memory.js";
import type { Store } from "../../src/store/store.js";
import { FRAMEWORKS, send } from "../e2e/seller.js";
import { answer, startScriptedFacilitator } from "../support/scripted-facilitator.js";
import { type Market, openMarket, RETRY_KEY, receiptOf, served } from "./market.js";

const opened: Market[] = [];
const open = async (...args: Parameters<typeof openMarket>) => {
  const market = await openMarket(...args);
  opened.push(market);
  return market;
};
afterEach(async () => {
  for (const market of opened.splice(0)) await market.close();
});

describe.each(FRAMEWORKS)("race and replay on %s", (framework) => {
  it("F1: five payments at once that a facilitator settles by one transaction buy once, and the operator hears of it", async () => {
    const market = await open(framework);
    market.remote.always("settle", answer.claim(`0x${"ab".repeat(32)}`));
    const payments = await Promise.all(Array.from({ length: 5 }, () => market.sign()));
    const all = await Promise.all(payments.map((payment) => market.buy(payment)));
    expect(served(all)).toHaveLength(1);
    expect(all.map(({ status }) => status).sort()).toEqual([200, 503, 503, 503, 503]);
    expect(market.log.filter((line) => line.startsWith("duplicate settlement reference"))).toHaveLength(4);
  });

  it("F2: one header sent 200 times, 50 at a time, is one run and one settlement", async () => {
    const market = await open(framework);
    const payment = await market.sign();
    const all = [];
    for (let round = 0; round < 4; round += 1) {
      all.push(...(await Promise.all(Array.from({ length: 50 }, () => market.buy(payment)))));
    }
    expect([served(all).length, market.seller.runs.length, market.asked("settle")]).toEqual([1, 1, 1]);
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200, 409]));
  });

  it("F3: a settlement that is answered and not successful gives out nothing, beside one that is", async () => {
    const market = await open(framework);
    market.remote.script("settle", answer.honest(), answer.refuse("nonce_already_used"));
    const twice = await market.sign();
    const copies = await Promise.all([market.buy(twice), market.buy(twice)]);
    expect([served(copies).length, market.asked("settle")]).toEqual([1, 1]);
    const late = await market.buy(await market.sign());
    expect([late.status, late.body.includes("the goods"), market.asked("settle")]).toEqual([503, false, 2]);
    expect(receiptOf(late)).toMatchObject({ success: false });
  });

  it("F4: a verification that failed once leaves the same header good", async () => {
    const market = await open(framework, { verify: "remote" });
    market.remote.script("verify", answer.status(503));
    const payment = await market.sign();
    const first = await market.buy(payment);
    expect([first.status, first.json.payment, market.seller.runs.length]).toEqual([503, "none", 0]);
    expect((await market.buy(payment)).status).toBe(200);
    expect(market.asked("settle")).toBe(1);
  });

  it("F9: a seller that dies between settlement and answer is followed by one that gives the goods with the first receipt", async () => {
    const store = memoryStore();
    const { store: mortal, die } = mortalStore(store);
    const remote = await startScriptedFacilitator();
    const first = await open(framework, { store: mortal, remote, limits: { leaseMs: 1_000 } });
    const payment = await first.sign("/report", { retryKey: RETRY_KEY });
    // The process is gone as soon as the settlement stands in the store: nothing it does later reaches anybody.
    const gone = die.after("settled");
    const lost = send(`${first.seller.url}/report`, { headers: payment.headers, leave: gone });
    await gone;
    expect(await lost).toBeUndefined();

    const second = await open(framework, { store, remote, limits: { leaseMs: 1_000 } });
    let got = await second.buy(payment);
    // Until the lease of the dead one is out, nobody can know that it will not deliver.
    while (got.json.code === "payment_in_progress") got = await second.buy(payment);
    expect([got.status, got.body]).toEqual([200, "the goods"]);
    expect(receiptOf(got).transaction).toBe([...remote.settled.values()][0]);
    expect(remote.settled.size).toBe(1);
    await remote.close();
  });
});

/** A store in front of another one for a process that dies: from then on nothing of it is read or written. */
function mortalStore(store: Store) {
  let dead = false;
  let onDeath = () => {};
  let word = "";
  const never = new Promise<never>(() => {});
  const mortal: Store = {
    ...store,
    name: "mortal",
    read: (keys, ledgers) => (dead ? never : store.read(keys, ledgers)),
    due: (limit) => (dead ? never : store.due(limit)),
    async commit(transaction) {
      if (dead) return never;
      const result = await store.commit(transaction);
      const isLast = transaction.writes.some(({ value }) => JSON.stringify(value).includes(`"settlement":"${word}"`));
      if (!isLast) return result;
      dead = true;
      onDeath();
      return never;
    },
  };
  const after = (settlement: string) =>
    new Promise<void>((resolve) => {
      word = settlement;
      onDeath = resolve;
    });
  return { store: mortal, die: { after } };
}
