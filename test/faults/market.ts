// One seller on a scripted facilitator, for faults whose cause is a facilitator's or a buyer's answer and not a chain: no
// block has to be mined, so hundreds of purchases take a second. Signatures are checked by the paywall itself.
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import type { PaywallOptions } from "../../src/options.js";
import { facilitator } from "../../src/receive/facilitator.js";
import type { Logger } from "../../src/settings.js";
import { readChallenge, type SignedPayment, type SignPaymentOptions, signPayment } from "../../src/testing/index.js";
import { type Framework, type Got, type Seller, type SendOptions, send, startSeller } from "../e2e/seller.js";
import { type Endpoint, type ScriptedFacilitator, startScriptedFacilitator } from "../support/scripted-facilitator.js";

export const PAY_TO = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
export const RETRY_KEY = "retry-key-0123456789";

export interface Market {
  readonly seller: Seller;
  readonly remote: ScriptedFacilitator;
  /** Every message of the paywall and its facts, debug level included. */
  readonly log: string[];
  /** An offer of the path, signed by a buyer nobody else has. */
  sign(path?: string, parts?: Partial<SignPaymentOptions>): Promise<SignedPayment>;
  buy(payment: Pick<SignedPayment, "headers">, path?: string, options?: SendOptions): Promise<Got>;
  /** Requests to an endpoint of the facilitator so far. */
  asked(endpoint: Endpoint): number;
  close(): Promise<void>;
}

export interface MarketOptions
  extends Partial<Pick<PaywallOptions, "store" | "publicUrl" | "trustProxy" | "cors" | "access">> {
  readonly verify?: "remote" | "local";
  readonly remote?: ScriptedFacilitator;
  readonly limits?: PaywallOptions["limits"];
  readonly maxTimeoutSeconds?: number;
}

export const newBuyer = (): PrivateKeyAccount => privateKeyToAccount(generatePrivateKey());

/** Where every level goes, facts included. */
export function recorder(log: string[]): Logger {
  const write = (message: string, facts?: object): void => {
    const text = JSON.stringify(facts ?? {}, (_key, value: unknown) =>
      typeof value === "bigint" ? `${value}` : value,
    );
    log.push(`${message} ${text}`);
  };
  return { debug: write, info: write, warn: write, error: write };
}

/** Opens the seller; `close` ends the facilitator too, unless it was given. */
export async function openMarket(framework: Framework, options: MarketOptions = {}): Promise<Market> {
  const { verify = "local", remote: given, ...own } = options;
  const remote = given ?? (await startScriptedFacilitator());
  const log: string[] = [];
  const logger = recorder(log);
  const seller = await startSeller(framework, {
    payTo: PAY_TO,
    network: "base-sepolia",
    receive: facilitator({ url: remote.url, verify, timeoutMs: 10_000, logger }),
    handlerTimeoutMs: 20_000,
    logger,
    ...own,
  });
  await seller.ready();
  return {
    seller,
    remote,
    log,
    async sign(path = "/report", parts = {}) {
      const challenge = await readChallenge(await fetch(seller.url + path), 2);
      const [offer] = challenge.accepts;
      if (!offer) throw new Error("the 402 holds no offer");
      return signPayment({ account: newBuyer(), offer, version: 2, challenge, ...parts });
    },
    async buy(payment, path = "/report", sending = {}) {
      const headers = { ...payment.headers, ...sending.headers };
      const got = await send(seller.url + path, { ...sending, headers });
      if (!got) throw new Error("no answer");
      return got;
    },
    asked: (endpoint) => remote.requests.filter((request) => request.endpoint === endpoint).length,
    async close() {
      await seller.close();
      if (!given) await remote.close();
    },
  };
}

/** Answers that brought goods. */
export const served = (all: readonly Got[]): Got[] => all.filter(({ status }) => status < 300);

/** The receipt of an answer, whichever version it is in. */
export function receiptOf(got: Got): Record<string, unknown> {
  const header = got.headers["payment-response"] ?? got.headers["x-payment-response"];
  return JSON.parse(Buffer.from(String(header), "base64").toString("utf8")) as Record<string, unknown>;
}
