// What an answer to a paid try means: a table as one pure function. What must never be: a second payment for what one payment may
// have bought already.
//
// answer                                      | step                              | proof
// --------------------------------------------|-----------------------------------|--------------------------------------------
// 2xx                                         | served                            | forgotten; kept anew where its body breaks off
// 301 302 303 307 308                         | follow, without the proof         | as the last hop decides
// a browser's opaque redirect, status 0       | outcome_unknown                   | kept
// none at all; 409 425 429 502 503 504        | again, the same proof             | kept
//   and no repeat is left                     | outcome_unknown                   | kept
//   and no repeat is left, known as settled   | charged_without_goods             | kept
// 409 payment_already_used                    | payment_already_used              | forgotten
// 409 that says `retry: never`                | as a 402                          | as a 402
// 402, settled by its receipt or an earlier   | charged_without_goods             | kept
// 402, the proof was signed in this call      | payment_refused                   | kept: the next call asks once more
// 402, of an earlier call, run out            | expired: this call may pay anew   | forgotten
// 402, of an earlier call, still good         | payment_refused                   | forgotten: the next call pays anew
// any other                                   | returned, as any fetch would      | kept: the same request sends it again
//
// So a seller must refuse one proof in two calls, or a minute after it ran out, before another one is signed for that request;
// and one that he has shown to be settled is never replaced as long as it is kept. Whatever became of the proof, its money stays
// counted: only a proof that never left is taken back.
import type { BuyerErrorCode } from "./errors.js";

/** What came back. */
export interface PaidAnswer {
  /** Undefined: no answer, or one that a browser does not show. */
  readonly status: number | undefined;
  /** The connection failed before an answer came. */
  readonly lost: boolean;
  /** `code` of a body in our own words, of a 409 only. */
  readonly code: string | undefined;
  /** `retry` beside it. */
  readonly retry: string | undefined;
}

/** What is known of the proof that it answers. */
export interface ProofState {
  /** Signed by an earlier call. */
  readonly earlier: boolean;
  /** It ran out so long ago that nobody can take it any more. */
  readonly expired: boolean;
  /** A receipt said that its money moved, now or earlier. */
  readonly settled: boolean;
}

export type Step =
  | { readonly kind: "served" }
  | { readonly kind: "follow" }
  | { readonly kind: "again" }
  | { readonly kind: "returned" }
  | { readonly kind: "expired" }
  | { readonly kind: "ended"; readonly code: BuyerErrorCode; readonly forget: boolean };

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const REPEATED: ReadonlySet<number> = new Set([409, 425, 429, 502, 503, 504]);

export const isRedirect = (status: number): boolean => REDIRECTS.has(status);
export const isServed = (status: number): boolean => status >= 200 && status < 300;
/** An answer whose body is never the caller's: it says why, and is read for that alone. */
export const isRepeated = (status: number): boolean => REPEATED.has(status);

const ended = (code: BuyerErrorCode, forget = false): Step => ({ kind: "ended", code, forget });

/** @param repeats how often the same proof may still go out within the call */
export function judgeAnswer(answer: PaidAnswer, proof: ProofState, repeats: number): Step {
  const { status, lost, code, retry } = answer;
  if (!lost && !status) return ended("outcome_unknown");
  if (status !== undefined && isServed(status)) return { kind: "served" };
  if (status !== undefined && isRedirect(status)) return { kind: "follow" };
  if (status === 409 && code === "payment_already_used") return ended("payment_already_used", true);
  if (status === 402 || (status === 409 && retry === "never")) return judgeRefusal(proof);
  if (lost || (status !== undefined && isRepeated(status))) {
    if (repeats > 0) return { kind: "again" };
    return ended(proof.settled ? "charged_without_goods" : "outcome_unknown");
  }
  return { kind: "returned" };
}

function judgeRefusal({ earlier, expired, settled }: ProofState): Step {
  // Invariant: who has shown that he took the money gets no other proof for the same request.
  if (settled) return ended("charged_without_goods");
  if (!earlier) return ended("payment_refused");
  return expired ? { kind: "expired" } : ended("payment_refused", true);
}
