// A seller of one kind of money, a buyer's ways to it, and the three counters of a payment: handler runs, debits on the chain,
// 2xx bodies on distinct connections.
import { expect } from "vitest";
import type { PaywallOptions } from "../../src/options.js";
import { memoryStore } from "../../src/store/memory.js";
import type { Store } from "../../src/store/store.js";
import {
  type Payer,
  readChallenge,
  type SignedPayment,
  type SignedTransaction,
  signPayment,
} from "../../src/testing/index.js";
import type { Money } from "./money.js";
import { type Framework, type Got, type Seller, type SendOptions, send, startSeller } from "./seller.js";

export type TransactionPayment = SignedPayment<SignedTransaction>;

export interface Sign {
  readonly path?: string;
  readonly version?: 1 | 2;
  readonly retryKey?: string;
  /** A fresh one where it is absent. */
  readonly payer?: Payer<SignedTransaction>;
}

export interface World {
  readonly seller: Seller;
  readonly payTo: string;
  readonly store: Store;
  sign(options?: Sign): Promise<TransactionPayment>;
  /** One request with these headers on a connection of its own; a 2xx answer is counted. */
  buy(payment: Pick<TransactionPayment, "headers">, path?: string, options?: SendOptions): Promise<Got>;
  counters(): Promise<{ readonly runs: number; readonly debits: number; readonly bodies: number }>;
  /** Ends the seller, after what was delivered was asked for once more by a stranger. */
  close(): Promise<void>;
}

/** What stands in place of what the world chooses. */
export interface Own extends Partial<Pick<PaywallOptions, "receive" | "limits" | "handlerTimeoutMs" | "logger">> {
  readonly payTo?: string;
  readonly store?: Store;
}

/** Opens a seller on a fresh address. */
export async function openWorld<Parts>(framework: Framework, money: Money<Parts>, own: Own = {}): Promise<World> {
  const payTo = own.payTo ?? (await money.newPayee());
  const store = own.store ?? memoryStore();
  const options = { handlerTimeoutMs: 20_000, ...money.options(), ...own, payTo, store };
  const seller = await startSeller(framework, options, money.price);
  await seller.ready();
  const delivered: { readonly headers: Readonly<Record<string, string>>; readonly path: string }[] = [];
  return {
    seller,
    payTo,
    store,
    async sign({ path = "/report", version = 2, retryKey, payer } = {}) {
      const challenge = await readChallenge(await fetch(seller.url + path), version);
      const paying = payer ?? (await money.newPayer());
      const offer = challenge.accepts.find((one) => paying.takes(one));
      if (!offer) throw new Error("the 402 holds no offer that this buyer can pay");
      return signPayment({ payer: paying, offer, version, challenge, ...(retryKey && { retryKey }) });
    },
    async buy({ headers }, path = "/report", asked = {}) {
      const got = await send(seller.url + path, { ...asked, headers: { ...headers, ...asked.headers } });
      if (!got) throw new Error("the connection was cut");
      if (got.status < 300) delivered.push({ headers, path });
      return got;
    },
    async counters() {
      const debits = (await money.received(payTo)).length;
      return { runs: seller.runs.length, debits, bodies: delivered.length };
    },
    async close() {
      for (const { headers, path } of delivered) {
        const got = await send(seller.url + path, { headers: withoutKey(headers) });
        expect(got?.status).toBeGreaterThanOrEqual(400);
      }
      await seller.close();
    },
  };
}

/** What a stranger can send who saw the payment on the way, or on the chain: the same proof, without its retry key. */
export function withoutKey(headers: Readonly<Record<string, string>>): Record<string, string> {
  return changePayment(headers, ({ extensions: _, ...payment }) => payment);
}

/** The payment header with its JSON changed; other headers are left out. */
export function changePayment(
  headers: Readonly<Record<string, string>>,
  change: (payment: Record<string, unknown>) => Record<string, unknown>,
): Record<string, string> {
  const name = "X-PAYMENT" in headers ? "X-PAYMENT" : "PAYMENT-SIGNATURE";
  const json = JSON.parse(Buffer.from(String(headers[name]), "base64").toString()) as Record<string, unknown>;
  return { [name]: Buffer.from(JSON.stringify(change(json))).toString("base64") };
}

/** The payment with another transaction, or another secret, in its payload. */
export const withPayload = (
  headers: Readonly<Record<string, string>>,
  members: { readonly transaction?: string; readonly secret?: string | undefined },
): Record<string, string> =>
  changePayment(headers, (payment) => ({ ...payment, payload: { ...(payment.payload as object), ...members } }));

/** The receipt of an answer, whichever version it is in. */
export function receiptOf({ headers }: Got): Record<string, unknown> {
  const header = headers["payment-response"] ?? headers["x-payment-response"];
  return JSON.parse(Buffer.from(String(header), "base64").toString()) as Record<string, unknown>;
}

/** A store that has remembered for an hour, so that what was mined a moment ago is younger than it. */
export const olderStore = (): Store => storeOfAge(3_600_000);

/** `ms`: how long ago its memory began; below zero, what is mined before that moment is older than it. */
export function storeOfAge(ms: number): Store {
  let back = ms;
  const store = memoryStore({}, { now: () => Date.now() - back, after: () => () => {} });
  back = 0;
  return store;
}
