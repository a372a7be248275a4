// The world of one case: a seller on the framework under test, buyers with money, and the three counters of a payment: runs of
// the handler, debits on the chain, 2xx answers on distinct connections.
import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Receiver } from "../../receive/receiver.js";
import { type SignedPayment, signPayment } from "../buyer.js";
import { readChallenge } from "../challenge.js";
import type { Sandbox } from "../sandbox.js";
import { type Ask, askOnce, type Got } from "./client.js";
import type { HttpFramework, Reply, RunningSite, Site, SiteRoute, SiteRun } from "./framework.js";

export const GOODS = "the goods";
export const RETRY_KEY = "retry-key-0123456789";

export interface ShopOptions {
  /** What `/paid`, `/other` and `/upfront` answer; the goods as text by default. `count`: runs so far, this one included. */
  readonly handler?: (run: SiteRun, count: number) => Reply | Promise<Reply>;
  /** Puts something in the place of the sandbox's receiver. */
  readonly receive?: (honest: Receiver) => Receiver;
  readonly handlerTimeoutMs?: number;
  readonly headersBefore?: Site["headersBefore"];
  readonly parser?: "before" | "after";
}

export interface Sign {
  readonly path?: string;
  readonly version?: 1 | 2;
  readonly retryKey?: string;
}

export interface Shop {
  readonly port: number;
  readonly payTo: `0x${string}`;
  readonly runs: readonly SiteRun[];
  /** Resolves when the handlers have run so often in all. */
  ran(count: number): Promise<void>;
  sign(options?: Sign): Promise<SignedPayment>;
  /** One request on a connection of its own, without a payment. */
  ask(path: string, ask?: Ask): Promise<Got>;
  /** The same with a payment; a 2xx answer is counted. */
  buy(payment: SignedPayment, path?: string, ask?: Ask): Promise<Got>;
  /** Asks until nobody is at work on the payment any more. */
  settled(payment: SignedPayment, path?: string): Promise<Got>;
  /** Fails unless the three counters stand so. */
  counted(expected: { readonly runs: number; readonly debits: number; readonly bodies: number }): Promise<void>;
  close(): Promise<void>;
}

/** The default answer of a shop. */
export const goods = (): Reply => ({ status: 200, headers: { "Content-Type": "text/plain" }, body: GOODS });

/**
 * `/paid` and `/other` for $0.01, `/upfront` settled first, `/hour` and `/three` with a pass for an hour and for three uses,
 * `/free` for nothing; each for every method.
 */
export async function openShop(framework: HttpFramework, sandbox: Sandbox, options: ShopOptions = {}): Promise<Shop> {
  const { handler = goods, receive = (honest) => honest, handlerTimeoutMs = 20_000, headersBefore, parser } = options;
  // An address of its own for each case, so that its debits can be counted; nobody has to hold its key.
  const payTo = `0x${randomBytes(20).toString("hex")}` as const;
  const runs: SiteRun[] = [];
  const waiting = new Set<() => void>();
  const sell = (run: SiteRun) => {
    runs.push(run);
    for (const check of waiting) check();
    return handler(run, runs.length);
  };
  const route = (path: string, more: Partial<SiteRoute> = {}) => ({ path, price: "$0.01", handler: sell, ...more });
  const site: RunningSite = await framework.start({
    settings: {
      payTo,
      network: sandbox.network,
      receive: receive(sandbox.receive()),
      logger: SILENT,
      handlerTimeoutMs,
    },
    routes: [
      route("/paid"),
      route("/other"),
      route("/upfront", { options: { flow: "upfront" } }),
      route("/hour", { options: { access: { for: "1h" } } }),
      route("/three", { options: { access: { uses: 3, for: "1h" } } }),
      route("/free", { price: "free", handler: goods }),
    ],
    ...(headersBefore && { headersBefore }),
    ...(parser && { parser }),
  });
  const delivered: { payment: SignedPayment; path: string; method: string }[] = [];
  let bodies = 0;

  const ask = (path: string, asked: Ask = {}) => askOnce(site.port, path, asked);
  const buy: Shop["buy"] = async (payment, path = "/paid", asked = {}) => {
    const got = await ask(path, { ...asked, headers: { ...payment.headers, ...asked.headers } });
    if (got.status >= 200 && got.status < 300) {
      bodies += 1;
      delivered.push({ payment, path, method: asked.method ?? "GET" });
    }
    return got;
  };
  await site.ready();
  return {
    port: site.port,
    payTo,
    runs,
    ask,
    buy,
    ran: (count) =>
      new Promise((resolve) => {
        const check = () => {
          if (runs.length < count) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
    async sign({ path = "/paid", version = 2, retryKey } = {}) {
      const challenge = await readChallenge(await fetch(`http://127.0.0.1:${site.port}${path}`), version);
      const [offer] = challenge.accepts;
      if (!offer) throw new Error("the 402 holds no offer");
      const account = await sandbox.newBuyer();
      return signPayment({ account, offer, version, challenge, ...(retryKey && { retryKey }) });
    },
    async settled(payment, path = "/paid") {
      for (let tries = 0; tries < 200; tries += 1) {
        const got = await buy(payment, path);
        if (got.json.code !== "payment_in_progress") return got;
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
      throw new Error("the payment is worked on for ever");
    },
    async counted(expected) {
      const debits = (await sandbox.token.transfers({ to: payTo })).length;
      equal({ runs: runs.length, debits, bodies }, expected);
    },
    async close() {
      try {
        await strangers(ask, delivered);
      } finally {
        await site.close();
      }
    },
  };
}

/** The standing test of every case: a delivered proof without its retry key, from a stranger's connection, buys nothing. */
async function strangers(
  ask: Shop["ask"],
  delivered: readonly { payment: SignedPayment; path: string; method: string }[],
): Promise<void> {
  for (const { payment, path, method } of delivered) {
    const got = await ask(path, { method, headers: stripKey(payment) });
    if (got.status < 400 || got.text.includes(GOODS)) throw new Error(`a stranger got ${got.status} for ${path}`);
  }
}

/** The payment header without its retry key. */
function stripKey({ name, value }: SignedPayment): Record<string, string> {
  const json = JSON.parse(atob(value)) as Record<string, unknown>;
  delete json.extensions;
  return { [name]: btoa(JSON.stringify(json)) };
}

/** Throws with both values where they differ. */
export function equal(got: unknown, expected: unknown): void {
  if (isDeepStrictEqual(got, expected)) return;
  throw new Error(`expected ${JSON.stringify(expected)}, got ${JSON.stringify(got)}`);
}

const nothing = () => {};
const SILENT = { debug: nothing, info: nothing, warn: nothing, error: nothing };
