// A caller who gives up: before a proof leaves nothing happened, after that everything may have.
import { describe, expect, it } from "vitest";
import { memoryBuyerStore } from "../../src/client/memory-store.js";
import type { BuyerStore } from "../../src/client/store.js";
import { dice } from "../support/dice.js";
import { flowBuyer } from "./flow-buyer.js";
import { asks, goods, receipt, sells, useSellers } from "./scripted-seller.js";

const seller = useSellers();
const never = new Promise<never>(() => {});

/** A signal that a step of the flow aborts. */
function stopper() {
  const controller = new AbortController();
  return { signal: controller.signal, stop: () => controller.abort("enough") };
}

describe("an abort before the proof is sent", () => {
  const steps = ["reserve", "keep"] as const;

  it.each(steps)("in %s of the store takes the money out of the count, and nothing is pending", async (step) => {
    const { signal, stop } = stopper();
    const memory = memoryBuyerStore();
    const store: BuyerStore = {
      ...memory,
      [step]: async (...given: [never, never]) => {
        const done = await memory[step](...given);
        stop();
        return done;
      },
    };
    const shop = await seller();
    const { pay, counted, wallet } = flowBuyer({ store });
    await expect(pay(shop.url, { signal })).rejects.toBe("enough");
    expect(await counted()).toBe(0);
    expect(shop.paid).toHaveLength(0);
    expect(wallet.closed).toBe(wallet.signed.length);
    const later = flowBuyer({ store: memory });
    await later.pay(shop.url);
    expect(later.wallet.signed).toHaveLength(1);
  });

  it("as it is recorded comes too late: it counts as sent, and the next equal call goes on with it", async () => {
    const { signal, stop } = stopper();
    const memory = memoryBuyerStore();
    const record: BuyerStore["record"] = async (purchase) => {
      await memory.record(purchase);
      stop();
    };
    const shop = await seller();
    const { pay, counted } = flowBuyer({ store: { ...memory, record } });
    await expect(pay(shop.url, { signal })).rejects.toBe("enough");
    expect(shop.paid).toHaveLength(0);
    expect(await counted()).toBe(10_000);
    const later = flowBuyer({ store: memory });
    expect((await later.pay(shop.url)).status).toBe(200);
    expect(later.wallet.signed).toHaveLength(0);
    expect(await later.counted()).toBe(10_000);
  });

  it("while a person decides ends the call at once", async () => {
    const { signal, stop } = stopper();
    const shop = await seller();
    const approve = () => {
      stop();
      return never;
    };
    const { pay, counted, wallet } = flowBuyer({ approve });
    await expect(pay(shop.url, { signal })).rejects.toBe("enough");
    expect(wallet.signed).toHaveLength(0);
    expect(await counted()).toBe(0);
  });

  it("while a wallet signs ends the call at once, and a late signature frees its turn", async () => {
    const { signal, stop } = stopper();
    const shop = await seller();
    let sign = (_signed: never) => {};
    let closed = 0;
    const late = new Promise<never>((resolve) => {
      sign = resolve;
    });
    const { pay, counted } = flowBuyer({
      wallet: {
        sign: () => {
          stop();
          return late;
        },
      },
    });
    await expect(pay(shop.url, { signal })).rejects.toBe("enough");
    expect(await counted()).toBe(0);
    sign({ ok: true, close: () => (closed += 1) } as never);
    await new Promise((resolve) => setImmediate(resolve));
    expect(closed).toBe(1);
    expect(shop.requests).toHaveLength(1);
  });

  it("stays counted where the wallet may send the payment by itself", async () => {
    const { signal, stop } = stopper();
    const shop = await seller();
    const sign = () => {
      stop();
      return never;
    };
    const { pay, counted } = flowBuyer({ wallet: { sends: true, sign } });
    await expect(pay(shop.url, { signal })).rejects.toBe("enough");
    expect(await counted()).toBe(10_000);
  });

  it("while the 402 drips in", async () => {
    const { signal, stop } = stopper();
    const drip = new ReadableStream({ pull: () => stop() }, { highWaterMark: 0 });
    const fetch = (async () => new Response(drip, { status: 402 })) as typeof globalThis.fetch;
    await expect(flowBuyer({ fetch }).pay("https://api.example/", { signal })).rejects.toBe("enough");
  });

  it("while the body is still read", async () => {
    const { signal, stop } = stopper();
    async function* body() {
      yield new Uint8Array(1);
      stop();
      await never;
    }
    const fetch = (async () => new Response("", { status: 402, headers: asks().headers! })) as typeof globalThis.fetch;
    const paid = flowBuyer({ fetch }).pay("https://api.example/", { method: "POST", body: body() as never, signal });
    await expect(paid).rejects.toBe("enough");
  });
});

describe("an abort after the proof was sent", () => {
  it("keeps the proof and the count: the next equal call sends the same one (F14)", async () => {
    const shop = await seller(({ proof }) => (proof ? "hang" : asks()));
    const { pay, counted, wallet, events, store } = flowBuyer();
    const { signal, stop } = stopper();
    const call = pay(shop.url, { signal });
    await shop.got(2);
    stop();
    await expect(call).rejects.toBe("enough");
    expect(await counted()).toBe(10_000);
    expect(wallet.closed).toBe(1);
    expect(events.at(-1)).toMatchObject({ type: "failed", code: "outcome_unknown" });
    expect(await store.purchases()).toMatchObject([{ status: "sent", served: false }]);
    shop.script = sells();
    expect((await pay(shop.url)).status).toBe(200);
    expect(wallet.signed).toHaveLength(1);
    expect(await counted()).toBe(10_000);
  });

  it("while it waits for the next try", async () => {
    const { signal, stop } = stopper();
    const shop = await seller(sells({ status: 503, headers: receipt() }));
    const wait = async () => {
      stop();
    };
    const { pay, payments, counted } = flowBuyer({ wait });
    await expect(pay(shop.url, { signal })).rejects.toBe("enough");
    expect(shop.paid).toHaveLength(1);
    expect(await counted()).toBe(10_000);
    expect(payments).toMatchObject([{ status: "settled", served: false }]);
  });

  it("while a refusal drips in, and on the way of a redirect", async () => {
    const headers = asks().headers!;
    for (const status of [402, 503]) {
      const { signal, stop } = stopper();
      const fetch = (async (_url: string, init?: RequestInit) => {
        if (!new Headers(init?.headers).has("payment-signature")) return new Response("{}", { status: 402, headers });
        return new Response(new ReadableStream({ pull: () => stop() }, { highWaterMark: 0 }), { status });
      }) as typeof globalThis.fetch;
      const { pay, counted } = flowBuyer({ fetch });
      await expect(pay("https://api.example/", { signal })).rejects.toBe("enough");
      expect(await counted()).toBe(10_000);
    }
    const { signal, stop } = stopper();
    const shop = await seller(({ path, proof }) => {
      if (path === "/elsewhere") stop();
      return path === "/elsewhere" ? "hang" : proof ? { status: 302, headers: { location: "/elsewhere" } } : asks();
    });
    await expect(flowBuyer().pay(shop.url, { signal })).rejects.toBe("enough");
  });

  it("by the signal of a Request, unless init brings another or none", async () => {
    const shop = await seller(({ proof }) => (proof ? "hang" : asks()));
    const { signal, stop } = stopper();
    const { pay } = flowBuyer({ resend: { times: 0 } });
    const call = pay(new Request(shop.url, { signal }));
    await shop.got(2);
    stop();
    await expect(call).rejects.toBe("enough");
    shop.script = ({ proof }) => (proof ? goods() : asks());
    expect((await pay(new Request(`${shop.url}/2`, { signal }), { signal: null })).status).toBe(200);
  });
});

it("aborts at random moments: what is counted is what may have been paid, and every proof that left goes on (seeded)", async () => {
  const roll = dice(20_260_101);
  const shop = await seller(async ({ proof }) => {
    // Answers in an order of chance.
    for (let turn = roll(4); turn > 0; turn -= 1) await new Promise((resolve) => setImmediate(resolve));
    return proof ? goods() : asks();
  });
  const { pay, counted, wallet } = flowBuyer({ breaker: { failures: 1_000 } });
  const calls = Array.from({ length: 120 }, async (_, at) => {
    const stop = new AbortController();
    const call = pay(`${shop.url}/${at}`, { signal: stop.signal }).then(({ status }) => status);
    const aborts = (async () => {
      for (let turn = roll(60); turn > 0; turn -= 1) await new Promise((resolve) => setImmediate(resolve));
      stop.abort("enough");
    })();
    const [outcome] = await Promise.allSettled([call, aborts]);
    return outcome.status === "fulfilled" ? outcome.value : outcome.reason;
  });
  const outcomes = await Promise.all(calls);
  expect(new Set(outcomes)).toEqual(new Set([200, "enough"]));
  const proofs = new Set(shop.paid.map(({ proof }) => proof));
  const receipts = await pay.receipts();
  expect(await counted()).toBe(receipts.length * 10_000);
  expect(receipts.length).toBeGreaterThanOrEqual(proofs.size);
  expect(wallet.closed).toBe(wallet.signed.length);
  // Each aborted request is made again: those whose proof had left pay nothing.
  const before = wallet.signed.length;
  const open = receipts.filter(({ served }) => !served).length;
  const aborted = outcomes.flatMap((outcome, at) => (outcome === "enough" ? [at] : []));
  for (const at of aborted) expect((await pay(`${shop.url}/${at}`)).status).toBe(200);
  expect(wallet.signed.length - before).toBe(aborted.length - open);
  expect(await counted()).toBe((await pay.receipts()).length * 10_000);
});
