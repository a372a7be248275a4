// Verifies a bound proof: its time window here, the rest by whoever verifies it. Read-only: nothing is reserved, nothing sent.
// What a verdict means to a caller is settled here too, so that all endpoints say the same.
import { ERRORS, type ErrorCode, type ErrorFacts } from "../../errors.js";
import type { BoundProof } from "../../proof.js";
import type { Receiver, Verification } from "../../receive/receiver.js";
import type { Resource } from "../../requirement.js";
import { type Fault, fault } from "../errors.js";
import type { GatewayLogger } from "../parts.js";
import { reasonOf } from "../reason.js";
import { alreadyUsed, badProof } from "./proof-value.js";

/** A proof must live for so long at least, or no block could take it in time (protocol §3.2). */
const MIN_LIFE_SECONDS = 6n;
/** A buyer's clock may be off by so much. */
const SKEW_SECONDS = 60n;

export interface VerifyOptions {
  readonly receiver: Pick<Receiver, "verify">;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Epoch milliseconds at which nobody waits any more. */
  readonly deadlineAt: number;
  /** Epoch milliseconds at which this gateway's memory of the account begins. */
  readonly since: number;
  readonly resource: string | undefined;
  /** The caller's. */
  readonly signal: AbortSignal;
  readonly logger: GatewayLogger;
}

/** What is said to be sold: services of protocol v1 want it. */
export const resourceOf = (url: string | undefined): Resource => ({
  url: url ?? "https://unnamed.invalid/",
  description: "",
  mimeType: "application/json",
});

/** Never rejects. Without time left it is `unavailable`, as any verdict that nobody has given. */
export async function verifyProof(proof: BoundProof, options: VerifyOptions): Promise<Verification> {
  const { receiver, now, deadlineAt, since, resource, logger } = options;
  const outside = judgeWindow(proof, now());
  if (outside) return { outcome: "invalid", ...outside };
  const limit = AbortSignal.timeout(Math.max(0, deadlineAt - now()));
  const signal = AbortSignal.any([limit, options.signal]);
  const context = { signatureKnown: false, resource: resourceOf(resource), signal };
  const verification = await receiver.verify(proof, context).catch((error: unknown): Verification => {
    // No receiver rejects, so that this is a fault of ours: somebody has to read of it.
    logger.error({ proofId: proof.id, reason: reasonOf(error) }, "a verification broke off");
    return { outcome: "unavailable", code: "internal_error", message: "the verification broke off" };
  });
  // Invariant: what was mined before the memory of grants begins may have been granted before it began.
  if (verification.outcome === "valid" && verification.minedAt !== undefined && verification.minedAt < since) {
    return { outcome: "invalid", code: "payment_too_old" };
  }
  return verification;
}

/** A proof that would stay good for long would have to be remembered and followed for long. Transactions have no window. */
function judgeWindow(proof: BoundProof, nowMs: number): ({ readonly code: ErrorCode } & ErrorFacts) | undefined {
  if (proof.kind === "transaction") return undefined;
  const { authorization, requirement } = proof;
  const { validAfter, validBefore } = authorization;
  const now = BigInt(Math.floor(nowMs / 1000));
  if (validAfter > now) {
    return { code: "payment_not_yet_valid", expected: `validAfter up to ${now} (server time)`, got: `${validAfter}` };
  }
  if (validBefore <= now) {
    return { code: "payment_expired", expected: `validBefore after ${now} (server time)`, got: `${validBefore}` };
  }
  if (validBefore < now + MIN_LIFE_SECONDS) {
    const expected = `validBefore from ${now + MIN_LIFE_SECONDS}`;
    return { code: "payment_expires_too_soon", expected, got: `${validBefore}` };
  }
  const latest = now + BigInt(requirement.maxTimeoutSeconds) + SKEW_SECONDS;
  return validBefore > latest
    ? { code: "payment_valid_too_long", expected: `validBefore up to ${latest}`, got: `${validBefore}` }
    : undefined;
}

/** The fault of a verdict that is not good. `expired`: the request's own time was over. */
export function refuseVerdict(verdict: Exclude<Verification, { outcome: "valid" }>, expired: boolean): Fault {
  if (verdict.outcome === "used") return alreadyUsed();
  if (verdict.outcome === "invalid") return badProof(verdict.code, verdict);
  if (expired) return outOfTime();
  return unverified(verdict.code, verdict.message) ?? badProof(verdict.code);
}

/** Codes that are nobody's verdict on the proof: it stays as good as it was. */
const NO_VERDICT = new Set<ErrorCode>([
  "receiver_unreachable",
  "receiver_bad_response",
  "receiver_auth",
  "payment_not_seen",
  "misconfigured",
  "not_ready",
  "settlement_unavailable",
  "internal_error",
]);

/** The fault where no verdict could be had; undefined for a code that is one. */
export function unverified(code: ErrorCode, message: string | undefined): Fault | undefined {
  if (!NO_VERDICT.has(code)) return undefined;
  const more = { details: [{ path: code, message: message ?? ERRORS[code].title }] };
  return fault(
    "PAYMENT_VERIFICATION_FAILED",
    message ? `${ERRORS[code].title} (${message})` : ERRORS[code].title,
    more,
  );
}

/** @param paymentId the record that tells how it went on */
export const outOfTime = (paymentId?: string): Fault =>
  fault("PAYMENT_VERIFICATION_FAILED", "The time of this request was over before the payment could be verified.", {
    status: 504,
    ...(paymentId !== undefined && { paymentId }),
  });
