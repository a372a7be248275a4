// The paywall around a plain node:http request listener. It follows the verdict and holds the listener's answer; what is
// priced and what a payment is worth is decided elsewhere.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Guard } from "../src/guard.js";
import type { Payment } from "../src/payment.js";
import type { Verdict } from "../src/request.js";
import type { Logger } from "../src/settings.js";
import { type Mark, markMiddleware } from "./audit.js";
import { prepare, refuse, sendVerdict } from "./node-follow.js";
import { NodeRequest } from "./node-request.js";

/** A request that the paywall has let through. */
export interface PaidMessage extends IncomingMessage {
  /** The payment that admitted this request; absent on routes that are not priced. */
  payment?: Payment;
}

/** A request listener as a server takes it. What stands after the response (a `next`) is passed on to the handler. */
export type Listener<Rest extends readonly unknown[]> = (
  req: IncomingMessage,
  res: ServerResponse,
  ...rest: Rest
) => unknown;

/** Puts the paywall in front of a handler. */
export type Protect = <Rest extends readonly unknown[]>(
  handler: (req: PaidMessage, res: ServerResponse, ...rest: Rest) => unknown,
) => Listener<Rest>;

/** A wrapper for request listeners that asks `guard` about each request. */
export function toWrapper(guard: Guard, mark: Mark & { readonly core: { readonly logger: Logger } }): Protect {
  const { logger } = mark.core;
  const protect: Protect = (handler) =>
    function paywall(req, res, ...rest) {
      let verdict: Verdict | Promise<Verdict>;
      try {
        verdict = guard(new NodeRequest(req, res));
      } catch {
        return refuse(res);
      }
      const follow = (decided: Verdict): unknown => {
        switch (decided.kind) {
          case "open":
            return handler(req, res, ...rest);
          case "refuse":
          case "replay":
            return sendVerdict(res, decided);
          case "admit":
            if (!prepare(req, res, decided.capture)) return;
            return runPaid(() => handler(Object.assign(req, { payment: decided.payment }), res, ...rest), res, logger);
        }
      };
      // Invariant: an open route goes on in the same tick, and an error of the guard never reaches the handler.
      return verdict instanceof Promise ? verdict.then(follow, () => refuse(res)) : follow(verdict);
    };
  return markMiddleware(protect, mark);
}

/**
 * Node has no answer of its own to a handler that fails, it ends the process. A paid request must not: the run is given
 * back, the buyer gets a 500 and is not charged, and the error is logged.
 */
async function runPaid(run: () => unknown, res: ServerResponse, logger: Logger): Promise<void> {
  try {
    await run();
    // A late handler that has noticed says so by coming back: its end() is dropped and means just that.
    if (res.closed && res.writableEnded) res.end();
  } catch (error) {
    logger.error("a paid handler failed", {
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
    // What is complete stays as it is; a late handler only says that it has come to its end.
    if (res.writableEnded) res.end();
    else res.destroy();
  }
}
