// Refusals as verdicts, each told to the observers.
import type { Context } from "./context.js";
import { ERRORS, type ErrorCode, type ErrorFacts } from "./errors.js";
import type { Offers } from "./offers.js";
import { refuse } from "./refusal.js";
import type { Answer, PaywallRequest, Verdict } from "./request.js";

export function refusal({ events }: Context, request: PaywallRequest, answer: Answer, code: ErrorCode): Verdict {
  events.emit("refusal", { code, target: request.target });
  return { kind: "refuse", answer };
}

/** Why a proof is refused. */
export type Refusal = { readonly code: ErrorCode } & ErrorFacts;

/** A refused proof gets the offers again where a new payment would help, and only then. */
export function refuseProof(
  context: Context,
  request: PaywallRequest,
  { offers, url, version }: { readonly offers: Offers; readonly url: string; readonly version: 1 | 2 },
  { code, ...facts }: Refusal,
): Verdict {
  const { expected, got, reason } = facts;
  const told = {
    ...(expected !== undefined && { expected }),
    ...(got !== undefined && { got }),
    ...(reason !== undefined && { reason }),
  };
  const answer =
    ERRORS[code].status === 402 ? offers.challenge.refused(url, code, told, []) : refuse(code, { version, ...told });
  return refusal(context, request, answer, code);
}
