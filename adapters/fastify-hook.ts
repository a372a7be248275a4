// The paywall as a Fastify hook: `onRequest` (before the body is parsed) or any later one up to `preHandler`. It follows
// the verdict and holds what Fastify sends; what is priced and what a payment is worth is decided elsewhere.
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from "fastify";
import type { Guard } from "../src/guard.js";
import type { Payment } from "../src/payment.js";
import type { Capture, Verdict } from "../src/request.js";
import { type Mark, markMiddleware } from "./audit.js";
import { prepare, refuse, sendVerdict } from "./node-follow.js";
import { NodeRequest } from "./node-request.js";

declare module "fastify" {
  interface FastifyRequest {
    /** The payment that admitted this request; absent on routes that are not priced. */
    payment?: Payment;
  }
}

/** Fits `onRequest`, `preValidation` and `preHandler`, for one route or for an instance. */
export type PaywallHook = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => void;

/** A Fastify hook that asks `guard` about each request. An audit finds it by its `mark`. */
export function toHook(guard: Guard, mark?: Mark): PaywallHook {
  const hook: PaywallHook = function paywall(request, reply, done) {
    let verdict: Verdict | Promise<Verdict>;
    try {
      verdict = guard(new FastifyPaywallRequest(request, reply));
    } catch {
      return takeOver(reply, () => refuse(reply.raw));
    }
    // Invariant: an open route goes on in the same tick, and an error of the guard never reaches done().
    if (!(verdict instanceof Promise)) return follow(verdict, request, reply, done);
    verdict
      .then((decided) => follow(decided, request, reply, done))
      .catch(() => takeOver(reply, () => refuse(reply.raw)));
  };
  return markMiddleware(hook, mark);
}

function follow(verdict: Verdict, request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void {
  switch (verdict.kind) {
    case "open":
      done();
      return;
    case "refuse":
    case "replay":
      takeOver(reply, () => sendVerdict(reply.raw, verdict));
      return;
    case "admit":
      request.payment = verdict.payment;
      showHeaders(reply);
      if (prepare(request.raw, reply.raw, letLateEnd(reply, verdict.capture))) done();
      else reply.hijack();
  }
}

/** Answers past Fastify: neither the handler nor a hook of its answer runs; `onResponse` does. */
function takeOver(reply: FastifyReply, send: () => void): void {
  showHeaders(reply);
  reply.hijack();
  send();
}

/** Fastify keeps headers to itself until it sends; the gate and our own answers find them on the raw response. */
function showHeaders(reply: FastifyReply): void {
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
}

/**
 * After a timeout the response is over while the handler goes on, and Fastify would drop what it sends without a word to
 * the gate. The claim is free again only when the handler has ended, so until then its `send` is let through to the gate.
 */
function letLateEnd(reply: FastifyReply, capture: Capture): Capture {
  let [late, ended] = [false, false];
  const usual = Object.getPrototypeOf(reply) as object;
  Object.defineProperty(reply, "sent", {
    configurable: true,
    get: () => (late && !ended ? false : Reflect.get(usual, "sent", reply)),
  });
  const timedOut = capture.timedOut.then((outcome) => {
    late = true;
    return outcome;
  });
  return {
    ...capture,
    timedOut,
    ended() {
      ended = true;
      capture.ended();
    },
  };
}

/** What the guard reads where Fastify has rules of its own. */
class FastifyPaywallRequest extends NodeRequest {
  readonly #request: FastifyRequest;

  constructor(request: FastifyRequest, reply: FastifyReply) {
    super(request.raw, reply.raw);
    this.#request = request;
  }

  override get native(): FastifyRequest {
    return this.#request;
  }

  override get origin(): string | undefined {
    const { host, protocol } = this.#request;
    return host ? `${protocol}://${host}` : undefined;
  }

  override get ip(): string | undefined {
    return this.#request.ip;
  }
}
