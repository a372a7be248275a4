// One sale by a seller behind `hosted()`: a payment that can be sent as often as a test likes, and what came of it at the seller,
// on the chain and in the gateway's records.
import { expect } from "vitest";
import { silentLogger } from "../../src/logger.js";
import { hosted } from "../../src/receive/hosted.js";
import type { Receiver } from "../../src/receive/receiver.js";
import { readChallenge, signPayment } from "../../src/testing/index.js";
import { type Framework, type Got, type Seller, send, startSeller } from "../e2e/seller.js";
import type { CallOptions } from "./call.js";
import type { Kind } from "./receiving.js";
import type { GatewayWorld } from "./world.js";

export interface SaleOptions {
  /** The gateway, as the seller reaches it. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** As the seller writes it. */
  readonly price: string;
  readonly framework?: Framework;
  /** What stands between the seller and his gateway. */
  readonly around?: (gateway: Receiver) => Receiver;
}

export interface Sale {
  readonly payTo: string;
  readonly seller: Seller;
  /** Sends the payment. */
  buy(): Promise<Got>;
  /** Sends it until the answer is no "not yet". */
  collect(): Promise<Got>;
  /** How often the handler ran, and atomic units of each debit that went to the payee. */
  counters(): Promise<{ readonly runs: number; readonly debits: readonly bigint[] }>;
  /** How many payments to the payee the gateway has on record. */
  records(world: Pick<GatewayWorld, "call">, options: CallOptions): Promise<unknown>;
}

/** A lost process's lease, a settlement that got lost, a wait for the chain: none takes longer. */
const LONGEST_MS = 80_000;

/** Opens a seller, and signs one payment for what it sells. */
export async function openSale(kind: Kind, options: SaleOptions): Promise<Sale> {
  const { baseUrl, apiKey, price, framework = "Express 5", around = (gateway) => gateway } = options;
  const payTo = await kind.newPayee();
  const receive = around(hosted({ baseUrl, apiKey, logger: silentLogger }));
  const seller = await startSeller(framework, { payTo, network: kind.network, receive }, price);
  await seller.ready();
  const url = `${seller.url}/report`;
  const { version } = kind;
  const challenge = await readChallenge(await fetch(url), version);
  const payer = await kind.newPayer();
  const offer = challenge.accepts.find((one) => payer.takes(one));
  if (!offer) throw new Error("the 402 holds no offer that this buyer can pay");
  const { headers } = await signPayment({ payer, offer, version, challenge, retryKey: "retry-key-0123456789" });
  const buy = async (): Promise<Got> => {
    const got = await send(url, { headers });
    if (!got) throw new Error("no answer");
    return got;
  };
  return {
    ...{ payTo, seller, buy },
    async collect() {
      let got = await buy();
      const again = async () => {
        if (got.status < 500 && got.status !== 409) return true;
        expectNoBill(got);
        got = await buy();
        return false;
      };
      await expect.poll(again, { timeout: LONGEST_MS, interval: 100 }).toBe(true);
      return got;
    },
    counters: async () => ({ runs: seller.runs.length, debits: await kind.received(payTo) }),
    records: async (world, call) =>
      (await world.call("GET", `/payment/history/${payTo}`, undefined, call)).body.pagination?.total,
  };
}

/** No goods, and nothing that invites another payment. */
export function expectNoBill(got: Got): void {
  expect(got.body).not.toContain("the goods");
  expect(got.headers["payment-required"]).toBeUndefined();
  expect(got.json).not.toHaveProperty("accepts");
  expect(got.headers["retry-after"]).toBeDefined();
}
