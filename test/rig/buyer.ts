// A buyer of the rig: signs one payment of a payer who pays nothing else, sends it on connections that may be cut, keeps asking
// until there is a final answer, and writes down all that it is told.
import { request } from "node:http";
import { setTimeout as after } from "node:timers/promises";
import type { PrivateKeyAccount } from "viem/accounts";
import { type Challenge, readChallenge, type SignPaymentOptions, signPayment } from "../../src/testing/index.js";
import { withoutKey } from "../e2e/world.js";
import { isGoods, type Told } from "./history.js";

export interface Buyer {
  readonly payer: string;
  readonly keyed: boolean;
  readonly told: Told[];
  /** One request on a connection of its own. Never rejects. */
  ask(url: string, how?: How): Promise<Told>;
  /**
   * Asks, here and there, until the goods are there or the answer is final. Gives up after so many milliseconds.
   * @param next the next URL to try
   * @param pause milliseconds until the next try, by the number of those before
   */
  insist(next: () => string, patienceMs: number, how?: () => How, pause?: (tries: number) => number): Promise<Told>;
}

export interface How {
  readonly by?: Told["by"];
  /** When the connection is cut: once the request is out, or with the first bytes of the answer. */
  readonly cut?: "asked" | "answering" | undefined;
}

/** Milliseconds between two tries, more with each of them. */
const PAUSE_MS = 150;
const MOST_PAUSE_MS = 2_000;
const eager = (tries: number): number => Math.min(PAUSE_MS * tries, MOST_PAUSE_MS);
/** Of thousands of buyers: were each of them as eager, a seller that was slow once would never catch up. */
export const patient = (tries: number): number => Math.min(PAUSE_MS * 1.5 ** (tries - 1), 10 * MOST_PAUSE_MS);
const MOST_READS = 100;
/** A process that was stopped answers nobody. */
const SILENCE_MS = 40_000;

/** @param url of a process that answers now, for the offer; a function where it may be another one that does */
export async function newBuyer(
  url: string | (() => string),
  account: PrivateKeyAccount,
  signing: Pick<SignPaymentOptions, "retryKey" | "overrides"> = {},
): Promise<Buyer> {
  const challenge = await readOffer(typeof url === "string" ? () => url : url);
  const [offer] = challenge.accepts;
  if (!offer) throw new Error("the 402 holds no offer");
  const payment = await signPayment({ account, offer, version: 2, challenge, ...signing });
  const told: Told[] = [];
  const buyer: Buyer = {
    payer: account.address,
    keyed: signing.retryKey !== undefined,
    told,
    async ask(at, how = {}) {
      const { by = "buyer", cut } = how;
      const headers = by === "buyer" ? payment.headers : withoutKey(payment.headers);
      const asked = Date.now();
      const answer = await send(`${at}/report`, headers, cut);
      const one = { by, of: { url: at, asked, answered: Date.now() }, ...answer };
      told.push(one);
      return one;
    },
    async insist(next, patienceMs, how = () => ({}), pause = eager) {
      const endAt = Date.now() + patienceMs;
      for (let tries = 1; ; tries += 1) {
        const answer = await buyer.ask(next(), how());
        if (isFinal(answer) || Date.now() > endAt) return answer;
        await after(pause(tries));
      }
    },
  };
  return buyer;
}

/** The challenge of the first process that gives one. */
async function readOffer(next: () => string): Promise<Challenge> {
  for (let tries = 1; ; tries += 1) {
    try {
      const response = await fetch(`${next()}/report`, { signal: AbortSignal.timeout(3_000) });
      return await readChallenge(response, 2);
    } catch (error) {
      if (tries === MOST_READS) throw error;
      await after(PAUSE_MS);
    }
  }
}

/** Whatever else it is told, a buyer has to send the same payment again. */
export const isFinal = ({ status, complete, bill, code }: Told): boolean =>
  (isGoods(status) && complete) || bill || code === "payment_already_used" || status === 400;

function send(url: string, headers: Record<string, string>, cut: How["cut"]): Promise<Omit<Told, "by">> {
  return new Promise((resolve) => {
    const outgoing = request(url, { headers: { ...headers, connection: "close" }, agent: false });
    const gone = (status?: number) => resolve({ ...NOTHING, status });
    outgoing.setTimeout(SILENCE_MS, () => outgoing.destroy());
    outgoing.on("error", () => gone());
    outgoing.on("finish", () => {
      if (cut === "asked") outgoing.destroy();
    });
    outgoing.on("response", (incoming) => {
      const { statusCode: status, headers: got } = incoming;
      if (cut === "answering") {
        outgoing.destroy();
        gone(status);
        return;
      }
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("error", () => undefined);
      // "end" comes only where all has come; "close" comes always.
      incoming.on("close", () => {
        const body = Buffer.concat(chunks).toString();
        const { complete } = incoming;
        const bill = status === 402 && got["payment-required"] !== undefined;
        const replayed = got["payment-replayed"] === "true";
        resolve({
          status,
          code: complete ? codeOf(body, got["content-type"]) : undefined,
          bill,
          body,
          complete,
          replayed,
        });
      });
    });
    outgoing.end();
  });
}

const NOTHING = { status: undefined, code: undefined, bill: false, body: "", complete: false, replayed: false };

function codeOf(body: string, type: string | undefined): string | undefined {
  if (!type?.includes("json")) return undefined;
  const { code } = JSON.parse(body) as { code?: unknown };
  return typeof code === "string" ? code : undefined;
}
