// Parts that a buyer brings along and that misbehave: a store that never answers, a wallet that throws when it is told of the end.
import { describe, expect, it } from "vitest";
import { memoryBuyerStore } from "../../src/client/memory-store.js";
import type { BuyerStore } from "../../src/client/store.js";
import { flowBuyer } from "./flow-buyer.js";
import { asks, goods, useSellers } from "./scripted-seller.js";

const seller = useSellers();

describe("a store that never answers", () => {
  it.each(["purchases", "pending"] as const)("in %s does not hold a call that its caller gives up", async (step) => {
    const controller = new AbortController();
    const store: BuyerStore = {
      ...memoryBuyerStore(),
      [step]: () => {
        queueMicrotask(() => controller.abort("enough"));
        return new Promise<never>(() => {});
      },
    };
    const { pay, wallet } = flowBuyer({ store });
    await expect(pay((await seller()).url, { signal: controller.signal })).rejects.toBe("enough");
    expect(wallet.signed).toEqual([]);
  });

  it("in time gives the proof to the next call all the same", async () => {
    const shop = await seller(({ proof }) => (proof === undefined ? asks() : "drop"));
    const memory = memoryBuyerStore();
    const first = flowBuyer({ store: memory, resend: { times: 0, maxDelayMs: 1 } });
    await expect(first.pay(shop.url)).rejects.toMatchObject({ code: "outcome_unknown" });
    const controller = new AbortController();
    const slow: BuyerStore = {
      ...memory,
      pending: async (...given) => {
        const found = await memory.pending(...given);
        controller.abort("enough");
        return found;
      },
    };
    const second = flowBuyer({ store: slow });
    await expect(second.pay(shop.url, { signal: controller.signal })).rejects.toBe("enough");
    shop.script = ({ proof }) => (proof === undefined ? asks() : goods());
    expect((await second.pay(shop.url)).status).toBe(200);
    expect(second.wallet.signed).toEqual([]);
  });
});

it("a wallet that throws when its call has ended takes no goods away", async () => {
  const close = () => {
    throw new Error("no");
  };
  const { pay } = flowBuyer({ wallet: { alter: (signed) => ({ ...signed, close }) } });
  const response = await pay((await seller()).url);
  expect([response.status, await response.text()]).toEqual([200, "the goods"]);
});
