// The paywall around a fetch handler. It follows the verdict and holds the handler's response; what is priced and what a
// payment is worth is decided elsewhere. `tollgate/web` and `tollgate/next` differ in what their handlers are given.
import type { Guard } from "../src/guard.js";
import type { Payment } from "../src/payment.js";
import type { PaywallRequest, Verdict } from "../src/request.js";
import type { Logger } from "../src/settings.js";
import { INTERNAL_ERROR } from "./internal-error.js";
import { toResponse } from "./web-answer.js";
import { holdResponse } from "./web-gate.js";
import { withoutWithheld } from "./web-request.js";

export type Responding = Response | Promise<Response>;

/** Asks about `asked`, which is `request` for the guard, and runs the handler where it may run. */
export function answerPriced<R extends Request>(
  { guard, logger }: { readonly guard: Guard; readonly logger: Logger },
  request: R,
  asked: PaywallRequest,
  run: (request: R, payment: Payment | undefined) => Responding,
): Responding {
  let verdict: Verdict | Promise<Verdict>;
  try {
    verdict = guard(asked);
  } catch {
    return toResponse(request, INTERNAL_ERROR);
  }
  const follow = (decided: Verdict): Responding => {
    switch (decided.kind) {
      case "open":
        return run(request, undefined);
      case "refuse":
        return send(request, decided);
      case "replay":
        return send(request, decided);
      case "admit": {
        const { payment, capture } = decided;
        const tell = (error: unknown) => logger.error("a paid handler failed", { error: textOf(error) });
        // Safe because the copy differs from the request in two headers: what else a framework's own has is methods.
        const paid = withoutWithheld(request) as R;
        return holdResponse(request, () => run(paid, payment), capture, tell);
      }
    }
  };
  // Invariant: an open route goes on in the same tick, and an error of the guard never reaches the handler.
  return verdict instanceof Promise ? verdict.then(follow, () => toResponse(request, INTERNAL_ERROR)) : follow(verdict);
}

function send(request: Request, verdict: Extract<Verdict, { kind: "refuse" | "replay" }>): Response {
  const delivery = verdict.kind === "replay" ? verdict.delivery : undefined;
  try {
    return toResponse(request, verdict.answer, delivery);
  } catch {
    // A header of the answer is not legal. Nothing has left, so the buyer is told.
    void delivery?.lost();
    return toResponse(request, INTERNAL_ERROR);
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));
