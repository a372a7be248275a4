// A proof whose outcome is not known: the same request gets it again, whoever asks, and nothing is signed (F107).
import { describe, expect, it } from "vitest";
import { flowBuyer, START } from "./flow-buyer.js";
import { asks, goods, receipt, type Script, sells, useSellers } from "./scripted-seller.js";

const seller = useSellers();
const once = { resend: { times: 0 } };
const MINUTE = 60_000;
/** Fails so many paid tries, then serves. */
const drops = (count: number): Script => sells(...Array(count).fill("drop"), goods());

describe("after an outcome that is not known", () => {
  it("an outer retry sends the same proof and key, and pays nothing (F107)", async () => {
    const shop = await seller(drops(2));
    const { pay, wallet, counted, payments } = flowBuyer(once);
    await expect(pay(shop.url)).rejects.toMatchObject({ code: "outcome_unknown" });
    await expect(pay(shop.url)).rejects.toMatchObject({ code: "outcome_unknown" });
    expect(await (await pay(shop.url)).text()).toBe("the goods");
    expect(wallet.signed).toHaveLength(1);
    expect(new Set(shop.paid.map(({ proof }) => proof)).size).toBe(1);
    expect(new Set(shop.paid.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
    // One unpaid request: a pending proof goes out first.
    expect(shop.requests).toHaveLength(4);
    expect(await counted()).toBe(10_000);
    expect(payments).toHaveLength(1);
    expect(await pay.receipts()).toMatchObject([{ status: "settled", served: true }]);
  });

  it("another process goes on with what it finds in the store, without asking first", async () => {
    const shop = await seller(drops(1));
    const first = flowBuyer(once);
    await expect(first.pay(shop.url, { method: "POST", body: "text" })).rejects.toThrow();
    // What a store in a file gives to a later process: the same memory, and nothing else of the earlier one.
    const store = { ...first.store };
    const later = flowBuyer({ store });
    expect((await later.pay(shop.url, { method: "POST", body: "text" })).status).toBe(200);
    expect(later.wallet.signed).toHaveLength(0);
    expect(shop.requests).toHaveLength(3);
  });

  it("one that another process left meanwhile is found before anything is signed", async () => {
    const shop = await seller(drops(1));
    const other = flowBuyer(once);
    const late = flowBuyer({ store: { ...other.store } });
    await late.pay((await seller()).url);
    await expect(other.pay(shop.url)).rejects.toThrow();
    expect((await late.pay(shop.url)).status).toBe(200);
    expect(late.wallet.signed).toHaveLength(1);
    expect(shop.requests.map(({ proof }) => proof !== undefined)).toEqual([false, true, false, true]);
  });

  it.each([
    ["another method", "", { method: "DELETE" }],
    ["another path", "/2", {}],
    ["another query", "?q=2", {}],
    ["another body", "", { method: "POST", body: "b" }],
  ])("a request with %s is paid for on its own", async (_name, path, other: RequestInit) => {
    const shop = await seller(drops(1));
    const { pay, wallet } = flowBuyer(once);
    const init = other.method === "POST" ? { method: "POST", body: "a" } : {};
    await expect(pay(shop.url, init)).rejects.toThrow();
    await pay(shop.url + path, other);
    expect(wallet.signed).toHaveLength(2);
    expect((await pay(`${shop.url}#elsewhere`, init)).status).toBe(200);
    expect(wallet.signed).toHaveLength(2);
  });

  it("a host that may not be paid any more is sent nothing", async () => {
    const shop = await seller(drops(1));
    const { pay, store } = flowBuyer(once);
    await expect(pay(shop.url)).rejects.toThrow();
    const later = flowBuyer({ store, hosts: ["api.example"] });
    await expect(later.pay(shop.url)).rejects.toMatchObject({ code: "host_not_allowed" });
    expect(shop.paid).toHaveLength(1);
  });
});

describe("a proof that is refused", () => {
  it("in the call that signed it is sent once more by the next one, which then lets it go", async () => {
    const shop = await seller(() => asks());
    const { pay, wallet, counted } = flowBuyer({ breaker: { failures: 100 } });
    const codes = [];
    for (let call = 0; call < 4; call += 1) codes.push(await pay(shop.url).catch(({ code }) => code));
    expect(codes).toEqual(Array(4).fill("payment_refused"));
    expect(wallet.signed).toHaveLength(2);
    expect(shop.requests.map(({ proof }) => (proof ? "proof" : "ask"))).toEqual([
      ...["ask", "proof", "proof"],
      ...["ask", "proof", "proof"],
    ]);
    expect(await counted()).toBe(20_000);
  });

  it("and was only late is served by the next call", async () => {
    const shop = await seller(sells(asks(), goods()));
    const { pay, wallet } = flowBuyer();
    await expect(pay(shop.url)).rejects.toMatchObject({ code: "payment_refused" });
    expect((await pay(shop.url)).status).toBe(200);
    expect(wallet.signed).toHaveLength(1);
  });

  it.each([
    [59, 1],
    [61, 2],
  ])("%i s after it ran out: %i payments in all", async (seconds, signed) => {
    const shop = await seller(sells("drop", asks(), goods()));
    const { pay, wallet, advance, counted } = flowBuyer(once);
    await expect(pay(shop.url)).rejects.toMatchObject({ code: "outcome_unknown" });
    // The offer's 300 s.
    advance(300_000 + seconds * 1000);
    const outcome = await pay(shop.url).then(
      ({ status }) => status,
      ({ code }) => code,
    );
    expect(outcome).toBe(signed === 2 ? 200 : "payment_refused");
    expect(wallet.signed).toHaveLength(signed);
    expect(await counted()).toBe(signed * 10_000);
  });

  it("is not replaced as long as the seller has shown that he took the money", async () => {
    const shop = await seller(sells({ status: 500, headers: receipt() }, asks()));
    const { pay, wallet, advance } = flowBuyer({ breaker: { failures: 100 } });
    expect((await pay(shop.url)).status).toBe(500);
    for (let call = 0; call < 3; call += 1) {
      advance(10 * MINUTE);
      await expect(pay(shop.url)).rejects.toMatchObject({ code: "charged_without_goods", money: "settled" });
    }
    expect(wallet.signed).toHaveLength(1);
  });

  it("as used already is let go at once", async () => {
    const used = { status: 409, body: JSON.stringify({ code: "payment_already_used" }) };
    const shop = await seller(sells("drop", used, goods()));
    const { pay, wallet } = flowBuyer(once);
    await expect(pay(shop.url)).rejects.toMatchObject({ code: "outcome_unknown" });
    await expect(pay(shop.url)).rejects.toMatchObject({ code: "payment_already_used" });
    expect((await pay(shop.url)).status).toBe(200);
    expect(wallet.signed).toHaveLength(2);
  });
});

describe("an answer that is no success", () => {
  it("leaves the proof to the next call, until the goods came", async () => {
    const shop = await seller(sells({ status: 500 }, { status: 404 }, goods(), goods()));
    const { pay, wallet } = flowBuyer();
    const statuses = [];
    for (let call = 0; call < 4; call += 1) statuses.push((await pay(shop.url)).status);
    expect(statuses).toEqual([500, 404, 200, 200]);
    expect(wallet.signed).toHaveLength(2);
  });
});

describe("equal calls at one time", () => {
  it("are as many purchases: 100 of them make 100 payments, and none takes another's proof", async () => {
    const shop = await seller();
    const { pay, wallet, counted } = flowBuyer();
    const answers = await Promise.all(Array.from({ length: 100 }, () => pay(shop.url)));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(wallet.signed).toHaveLength(100);
    expect(wallet.closed).toBe(100);
    expect(new Set(shop.paid.map(({ proof }) => proof)).size).toBe(100);
    expect(new Set(shop.paid.map(({ headers }) => headers["idempotency-key"])).size).toBe(100);
    expect(await counted()).toBe(1_000_000);
    expect(await pay.receipts()).toHaveLength(100);
  });

  it("keep each its own proof where the outcome is not known, and later calls go on with each of them once", async () => {
    let down = true;
    // All of them are there before the first one fails: until then none is pending.
    const shop = await seller(async ({ proof }) => {
      if (proof === undefined) return asks();
      if (down) await shop.got(20);
      return down ? "drop" : goods();
    });
    const { pay, wallet, store } = flowBuyer({ ...once, breaker: { failures: 100 } });
    const first = await Promise.allSettled(Array.from({ length: 10 }, () => pay(shop.url)));
    expect(first.every(({ status }) => status === "rejected")).toBe(true);
    expect(wallet.signed).toHaveLength(10);
    down = false;
    // Half of them at one time, half of them one after the other; and in another process.
    await Promise.all(Array.from({ length: 5 }, () => pay(shop.url)));
    const later = flowBuyer({ store: { ...store } });
    for (let call = 0; call < 5; call += 1) await later.pay(shop.url);
    expect(wallet.signed).toHaveLength(10);
    expect(later.wallet.signed).toHaveLength(0);
    expect(new Set(shop.paid.map(({ proof }) => proof)).size).toBe(10);
    await later.pay(shop.url);
    expect(later.wallet.signed).toHaveLength(1);
  });

  it("to which the caller gave one retry key keep two proofs all the same", async () => {
    const shop = await seller(async ({ proof }) => {
      if (proof === undefined) return asks();
      await shop.got(4);
      return shop.requests.length > 4 ? goods() : "drop";
    });
    const { pay, wallet } = flowBuyer(once);
    const init = { headers: { "idempotency-key": "order-2026-01-01" } };
    await Promise.allSettled([pay(shop.url, init), pay(shop.url, init)]);
    const lost = new Set(shop.paid.map(({ proof }) => proof));
    expect(lost.size).toBe(2);
    for (let call = 0; call < 2; call += 1) expect((await pay(shop.url, init)).status).toBe(200);
    expect(wallet.signed).toHaveLength(2);
    expect(new Set(shop.paid.slice(2).map(({ proof }) => proof))).toEqual(lost);
  });

  it("one that succeeds does not forget the proof of one that failed", async () => {
    const answers = sells("drop", goods());
    // Both proofs are made before the first one fails: until then none is pending.
    const shop = await seller(async (request, count) => {
      if (request.proof !== undefined) await shop.got(4);
      return answers(request, count);
    });
    const { pay, wallet } = flowBuyer(once);
    const both = await Promise.allSettled([pay(shop.url), pay(shop.url)]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect((await pay(shop.url)).status).toBe(200);
    expect(wallet.signed).toHaveLength(2);
    expect(shop.paid[2]?.proof).toBe(shop.paid[0]?.proof);
  });
});

it("a proof is let go after a day, when its answer cannot be collected any more", async () => {
  const shop = await seller(sells("drop", goods()));
  const { pay, wallet, advance } = flowBuyer(once);
  await expect(pay(shop.url)).rejects.toThrow();
  advance(24 * 60 * MINUTE + 1);
  await pay(shop.url);
  expect(wallet.signed).toHaveLength(2);
  expect(wallet.requests[1]?.validUntil).toBeGreaterThan(START + 24 * 60 * MINUTE);
});
