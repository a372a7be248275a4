// The gateway's answer is lost after it has paid: the same payment is taken up again, whoever asks for the same next, and nothing
// is paid twice. On a real gateway and a real chain; what gets lost is lost between client and gateway.
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { BuyerError } from "../../src/client/errors.js";
import { createGatewayClient } from "../../src/client/gateway-client.js";
import { hostedWallet } from "../../src/client/hosted-wallet.js";
import { type PayingFetch, payingFetch } from "../../src/client/paying-fetch.js";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { type Seller, startSeller } from "../e2e/seller.js";
import { outliveFirstSecond } from "../gateway/first-second.js";
import { createGatewayWorld, type GatewayWorld } from "../gateway/world.js";
import { movedClock } from "./scripted-gateway.js";

let evm: Sandbox;
let world: GatewayWorld;
beforeAll(async () => {
  evm = await createSandbox();
  world = await createGatewayWorld({ chains: { evm } });
});
afterAll(async () => {
  await world?.close();
  await evm?.close();
});

interface Shop {
  readonly seller: Seller;
  readonly pay: PayingFetch;
  readonly url: string;
  /** Loses so many answers of the gateway from now on. */
  lose(answers: number): void;
  /** Idempotency-Keys under which the gateway was asked to send. */
  readonly keys: readonly string[];
  /** Called when the gateway has answered, and its answer is about to get lost. */
  onLoss: () => void;
  debits(): Promise<readonly bigint[]>;
}

async function openShop(): Promise<Shop> {
  const payTo = privateKeyToAddress(generatePrivateKey());
  const options = { payTo, network: evm.network, receive: evm.receive() };
  const seller = await startSeller("Hono", options, "0.002 ETH");
  onTestFinished(() => seller.close());
  await seller.ready();
  await outliveFirstSecond();
  const { address, apiKey } = await world.newWallet({ family: "evm" });
  const keys: string[] = [];
  let lost = 0;
  const lossy: typeof fetch = async (input, init) => {
    keys.push(new Headers(init?.headers).get("idempotency-key") ?? "");
    // The gateway goes on, whether or not its caller waits.
    const { signal: _, ...rest } = init ?? {};
    const response = await fetch(input, rest);
    if (lost <= 0) return response;
    lost -= 1;
    shop.onLoss();
    throw new TypeError("fetch failed");
  };
  const client = createGatewayClient({ baseUrl: world.url, apiKey, fetch: lossy }, movedClock());
  const shop: Shop = {
    ...{ seller, keys, url: `${seller.url}/report`, onLoss: () => {} },
    pay: payingFetch({
      wallets: [hostedWallet(client, address)],
      budget: { perRequest: "0.003 ETH", perDay: "0.005 ETH" },
      breaker: { failures: 10, windowMs: 1_000 },
    }),
    lose: (answers) => {
      lost = answers;
    },
    debits: async () => (await evm.native.transfers({ to: payTo })).map(({ value }) => value),
  };
  return shop;
}

const PRICE = 2n * 10n ** 15n;
const errorOf = async (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

describe("a hosted wallet whose gateway's answer is lost", () => {
  it("gets it by asking again under the same key: one call, one debit", async () => {
    const shop = await openShop();
    shop.lose(2);
    expect(await (await shop.pay(shop.url)).text()).toBe("the goods");
    expect(new Set(shop.keys).size).toBe(1);
    expect(shop.keys).toHaveLength(3);
    expect([shop.seller.runs.length, await shop.debits()]).toEqual([1, [PRICE]]);
  });

  it("says that the money may have moved, keeps it counted, and takes the payment up in the next call", async () => {
    const shop = await openShop();
    shop.lose(4);
    const error = await errorOf(shop.pay(shop.url));
    expect(error).toBeInstanceOf(BuyerError);
    expect(error).toMatchObject({ code: "signing_failed", money: "unknown" });
    expect(await shop.debits()).toEqual([PRICE]);

    expect(await (await shop.pay(shop.url)).text()).toBe("the goods");
    expect(new Set(shop.keys).size).toBe(1);
    expect([shop.seller.runs.length, await shop.debits()]).toEqual([1, [PRICE]]);
    // Both calls are counted, 0.002 ETH each, and a third one has no room left in 0.005.
    expect(await errorOf(shop.pay(shop.url))).toMatchObject({ code: "over_budget" });
  });

  it("takes it up after an abort too", async () => {
    const shop = await openShop();
    const stop = new AbortController();
    const reason = new Error("enough");
    shop.onLoss = () => stop.abort(reason);
    shop.lose(1);
    expect(await errorOf(shop.pay(shop.url, { signal: stop.signal }))).toBe(reason);
    expect(await (await shop.pay(shop.url)).text()).toBe("the goods");
    expect(new Set(shop.keys).size).toBe(1);
    expect([shop.seller.runs.length, await shop.debits()]).toEqual([1, [PRICE]]);
  });

  it("makes two payments for two calls at once, however many answers are lost", async () => {
    const shop = await openShop();
    shop.lose(3);
    const answers = await Promise.all([shop.pay(shop.url), shop.pay(shop.url)]);
    expect(await Promise.all(answers.map((answer) => answer.text()))).toEqual(["the goods", "the goods"]);
    expect(new Set(shop.keys).size).toBe(2);
    expect([shop.seller.runs.length, await shop.debits()]).toEqual([2, [PRICE, PRICE]]);
  });
});
