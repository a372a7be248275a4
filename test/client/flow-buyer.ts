// A buyer for the tests of the flow: a wallet that signs without a key, a clock that stands still, waits that take no time.
import type { BuyerEvent } from "../../src/client/events.js";
import { memoryBuyerStore } from "../../src/client/memory-store.js";
import type { Offer } from "../../src/client/offer.js";
import { type PayingFetchOptions, readOptions } from "../../src/client/options.js";
import { createPayingFetch, type PayingFetch } from "../../src/client/paying-fetch.js";
import type { Purchase } from "../../src/client/purchase.js";
import type { BuyerSettings } from "../../src/client/settings.js";
import type { BuyerStore } from "../../src/client/store.js";
import type { Signed, SignRequest, Wallet } from "../../src/client/wallet.js";

export const PAYER = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
export const START = Date.UTC(2026, 0, 1);

export interface FakeWallet extends Wallet {
  /** What it signed, in order. */
  readonly signed: readonly Offer[];
  readonly requests: readonly SignRequest[];
  /** How many of them were told that their call has ended. */
  readonly closed: number;
}

let nonces = 0;

/** Signs authorizations that no chain would take: a contract wallet's signature, so that nobody recovers a key from it. */
export function fakeWallet(
  now: () => number,
  parts: Partial<Wallet> & { readonly alter?: (signed: Signed & { ok: true }, offer: Offer) => Signed } = {},
): FakeWallet {
  const { alter = (signed: Signed) => signed, ...own } = parts;
  const [signed, requests]: [Offer[], SignRequest[]] = [[], []];
  let closed = 0;
  return {
    address: PAYER,
    takes: (offer) => offer.method === "eip3009" || "it signs authorizations only",
    async sign(offer, request) {
      signed.push(offer);
      requests.push(request);
      nonces += 1;
      const validBefore = Math.min(
        Math.floor(now() / 1000) + offer.maxTimeoutSeconds,
        Math.floor(request.validUntil / 1000),
      );
      const authorization = {
        from: PAYER,
        to: offer.payTo,
        value: String(offer.amount),
        validAfter: "0",
        validBefore: String(validBefore),
        nonce: `0x${nonces.toString(16).padStart(64, "0")}`,
      };
      const payload = { signature: `0x${"5a".repeat(96)}`, authorization };
      const close = () => {
        closed += 1;
      };
      return alter({ ok: true, payload, payer: PAYER, expiresAt: validBefore * 1000, close }, offer);
    },
    ...own,
    signed,
    requests,
    get closed() {
      return closed;
    },
  };
}

export interface FlowBuyer {
  readonly pay: PayingFetch;
  readonly wallet: FakeWallet;
  readonly store: BuyerStore;
  readonly events: readonly BuyerEvent[];
  readonly payments: readonly Purchase[];
  /** The waits, in milliseconds. */
  readonly waits: readonly number[];
  readonly settings: BuyerSettings;
  /** Moves the clock. */
  advance(ms: number): void;
  /** What is counted in dollars now, found out by asking for more and more. */
  counted(): Promise<number>;
}

export type FlowOptions = Partial<Extract<PayingFetchOptions, { readonly budget: { readonly perDay: unknown } }>> & {
  readonly wallet?: Parameters<typeof fakeWallet>[1];
  readonly wait?: BuyerSettings["wait"];
  /** In place of the wallet above. */
  readonly startAt?: number;
};

export function flowBuyer(options: FlowOptions = {}): FlowBuyer {
  const { wallet: parts, wait, startAt = START, budget = { perRequest: "$0.10", perDay: "$5" }, ...given } = options;
  let now = startAt;
  const events: BuyerEvent[] = [];
  const payments: Purchase[] = [];
  const waits: number[] = [];
  const wallet = fakeWallet(() => now, parts);
  const store = given.store ?? memoryBuyerStore();
  const clock = {
    now: () => now,
    wait: async (ms: number, signal: AbortSignal | undefined) => {
      waits.push(ms);
      await wait?.(ms, signal);
      signal?.throwIfAborted();
      now += ms;
    },
  };
  const settings = readOptions(
    {
      wallets: [wallet],
      budget,
      onEvent: (event) => void events.push(event),
      onPayment: (purchase) => void payments.push(purchase),
      ...given,
      store,
    },
    clock,
  );
  return {
    pay: createPayingFetch(settings),
    wallet,
    store,
    events,
    payments,
    waits,
    settings,
    advance: (ms) => {
      now += ms;
    },
    counted: () => countedIn(store, now),
  };
}

/** Atomic units of 6 decimals that count within the day: a reservation over any limit tells what is spent. */
export async function countedIn(store: BuyerStore, now: number): Promise<number> {
  const limit = { name: "probe", unit: "usd", windowMs: 86_400_000, amount: -1n };
  const probe = await store.reserve({ id: "probe", host: "", unit: "usd", amount: 0n, at: now }, [limit]);
  if (probe.ok) throw new Error("the probe was counted");
  return Number(probe.spent / 10n ** 12n);
}
