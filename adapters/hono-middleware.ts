// The paywall as Hono middleware, on every runtime that Hono runs on. It fills the request, follows the verdict and holds
// the handler's answer; what is priced and what a payment is worth is decided elsewhere.
import type { Context, MiddlewareHandler, Next } from "hono";
import type { Guard } from "../src/guard.js";
import type { Payment } from "../src/payment.js";
import type { PaywallRequest, Verdict } from "../src/request.js";
import { type Mark, markMiddleware } from "./audit.js";
import { sendAnswer } from "./hono-answer.js";
import { holdAnswer } from "./hono-gate.js";
import { INTERNAL_ERROR } from "./internal-error.js";
import { announcesNone, peekBody } from "./web-body.js";
import { withoutWithheld } from "./web-request.js";

/**
 * What the paywall sets on the context.
 *
 * @example
 * const app = new Hono<{ Variables: PaymentVariables }>();
 * app.get("/report", pay("$0.01"), (c) => c.json({ paidBy: c.get("payment")?.payer }));
 */
export interface PaymentVariables {
  /** The payment that admitted this request; absent on routes that are not priced. */
  payment?: Payment;
}

type Env = { Variables: PaymentVariables };

/** Hono middleware that asks `guard` about each request. An audit finds it by its `mark`. */
export function toMiddleware(guard: Guard, mark?: Mark): MiddlewareHandler<Env> {
  const middleware: MiddlewareHandler<Env> = function paywall(c, next) {
    let verdict: Verdict | Promise<Verdict>;
    try {
      verdict = guard(new HonoPaywallRequest(c));
    } catch {
      return refuse(c);
    }
    // Invariant: an open route goes on in the same tick, and an error of the guard never reaches next().
    if (!(verdict instanceof Promise)) return follow(verdict, c, next);
    return verdict.then(
      (decided) => follow(decided, c, next),
      () => refuse(c),
    );
  };
  return markMiddleware(middleware, mark);
}

async function refuse(c: Context<Env>): Promise<void> {
  sendAnswer(c, INTERNAL_ERROR);
}

function follow(verdict: Verdict, c: Context<Env>, next: Next): Promise<void> {
  switch (verdict.kind) {
    case "open":
      return next();
    case "refuse":
    case "replay":
      return answer(verdict, c);
    case "admit":
      c.set("payment", verdict.payment);
      c.req.raw = withoutWithheld(c.req.raw);
      return holdAnswer(c, next, verdict.capture);
  }
}

async function answer(verdict: Extract<Verdict, { kind: "refuse" | "replay" }>, c: Context<Env>): Promise<void> {
  const delivery = verdict.kind === "replay" ? verdict.delivery : undefined;
  try {
    sendAnswer(c, verdict.answer, delivery);
  } catch {
    // A header of the answer is not legal. Nothing has left, so the buyer is told.
    void delivery?.lost();
    sendAnswer(c, INTERNAL_ERROR);
  }
}

/** Made anew for every request, free ones too, so everything that costs is done when it is asked for. */
class HonoPaywallRequest implements PaywallRequest {
  readonly native: Context;
  /** The request as it came; the handler may see another one. */
  readonly #raw: Request;

  constructor(c: Context) {
    this.native = c;
    this.#raw = c.req.raw;
  }

  /** Hono answers HEAD by running the GET handler; the raw request still says HEAD. */
  get method(): string {
    return this.#raw.method.toUpperCase();
  }

  /** Path and query of the very text that Hono's router reads: dot segments resolved by the runtime, nothing decoded. */
  get target(): string {
    const { url } = this.#raw;
    const start = pathStart(url);
    return start < 0 ? "/" : url.slice(start);
  }

  get origin(): string | undefined {
    const { url } = this.#raw;
    const start = pathStart(url);
    return start < 0 ? url : url.slice(0, start);
  }

  /** Hono has no proxy rules: the peer of the connection where the runtime tells it (Node). */
  get ip(): string | undefined {
    const env: unknown = this.native.env;
    const socket = property(property(env, "incoming"), "socket");
    const address = property(socket, "remoteAddress");
    return typeof address === "string" ? address : undefined;
  }

  get signal(): AbortSignal {
    return this.#raw.signal;
  }

  header(name: string): string | undefined {
    return this.#raw.headers.get(name) ?? undefined;
  }

  get bodyless(): boolean {
    return announcesNone(this.#raw);
  }

  body(limit: number): Promise<Uint8Array | undefined> {
    return peekBody(this.#raw, limit);
  }
}

/** Where the path begins in an absolute URL; -1 without one. */
function pathStart(url: string): number {
  return url.indexOf("/", url.indexOf("://") + 3);
}

function property(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
