// From a bound proof to a verdict: peek, verify, claim, admit. Nothing unverified ever writes to the store, and the body of
// the request is read only once the proof has turned out to be worth it.
import { admit } from "./admit.js";
import { refusalOf } from "./capture.js";
import type { Found } from "./changes.js";
import type { Claim } from "./claims.js";
import type { Context } from "./context.js";
import { factsOf } from "./facts.js";
import { findNetwork } from "./networks.js";
import type { BoundProof } from "./proof.js";
import type { Verification } from "./receive/receiver.js";
import { answerFromRecord } from "./record-answer.js";
import { refuse } from "./refusal.js";
import { refusal, refuseProof } from "./refusal-step.js";
import type { PaywallRequest, Verdict } from "./request.js";
import { isUpfront } from "./requirement.js";
import type { Sale } from "./sale.js";
import type { Terms } from "./settings.js";
import { settleTime } from "./settle-time.js";
import { settleClaim } from "./settlement.js";
import { isLive, type ProofRecord, type RequestPrint, settleLeases } from "./store/record.js";

/** `fits: false`: the signature does not cover this offer's token; another offer may be meant. */
export interface Sold {
  readonly verdict: Verdict;
  readonly fits: boolean;
}

/** A proof may be overtaken by its own copies so often before it is told to wait. */
export const MAX_LOOKS = 5;

export async function judgeSale(
  context: Context,
  request: PaywallRequest,
  draft: Omit<Sale, "print">,
  read: () => Promise<RequestPrint>,
): Promise<Sold> {
  const { proof, terms } = draft;
  const { version } = proof;
  const sold = (verdict: Verdict): Sold => ({ verdict, fits: true });
  // What stands in the record may be told to whoever holds a valid signature.
  let verified: Verification | undefined;
  let since: number | undefined;
  for (let look = 0; look < MAX_LOOKS; look += 1) {
    const found = await context.claims.peek(proof.id);
    const { record } = found;
    // Invariant: a store that has begun anew has forgotten what was granted, so only what the chain shows from now on counts.
    if (found.since !== since) verified = undefined;
    since = found.since;
    const isKnown = record?.digest === proof.digest;
    if (record && !isKnown) verified ??= await verify(context, draft, since);
    const isReplaced = record !== undefined && !isKnown && isReplacedBy(verified, record, found.now);
    if (record && !isReplaced && (isKnown || verified?.outcome === "valid" || verified?.outcome === "used")) {
      const answer = await answerFromRecord(context, { ...draft, print: await read() }, { ...found, record });
      if (answer === "again") continue;
      if (answer !== "run") return sold(answer);
    }
    verified ??= await verify(context, draft, since);
    if (verified.outcome === "used" && record && isKnown) {
      // Released by us and taken by somebody else since: if it paid us, the buyer has paid (faults A6).
      const later = await context.lookups.lookup(proof.id, draft);
      if (later.record?.settlement === "settled") continue;
    }
    // Invariant: what another request has bought meanwhile is no fault of the payment: what the chain shows now is its settlement.
    if (isAboutMoney(verified) && hasMoved(found, await context.claims.peek(proof.id))) {
      verified = undefined;
      continue;
    }
    if (verified.outcome !== "valid") return refuseVerification(context, request, draft, verified);
    // Invariant: what was mined before the store's memory begins may have been used before it began.
    if (verified.minedAt !== undefined && verified.minedAt < found.since)
      return sold(refusal(context, request, refuse("payment_too_old", { version }), "payment_too_old"));
    context.events.emit("verified", factsOf(proof));
    const print = await read();
    const claimed = await context.claims.claim(proof, print, verified.balance, since, isReplaced);
    if (claimed.ok) {
      context.events.emit("claimed", { ...factsOf(proof), run: claimed.claim.record.runs });
      return sold(await onClaim(context, { ...draft, print, claim: claimed.claim }));
    }
    if (claimed.code !== "lost")
      return sold(refusal(context, request, refuse(claimed.code, { version }), claimed.code));
  }
  return sold(
    refusal(context, request, refuse("payment_in_progress", { version, payment: "unknown" }), "payment_in_progress"),
  );

  function verify(from: Context, sale: Omit<Sale, "print">, memory: number): Promise<Verification> {
    return verifyReady(from, sale, windowOf(from, proof, terms, memory));
  }
}

/** Could a settlement of this very payment be why? A signature that does not hold never does, and nobody pays for looking. */
const isAboutMoney = (verified: Verification): boolean =>
  verified.outcome === "used" || (verified.outcome === "invalid" && verified.code !== "signature_invalid");

/** Has somebody been at work on the proof between two looks? */
const hasMoved = ({ record: before, since }: Found, later: Found): boolean =>
  later.since !== since ||
  later.record?.fence !== before?.fence ||
  later.record?.settlement !== before?.settlement ||
  later.record?.digest !== before?.digest;

/**
 * A transaction that is mined has taken the account nonce of the one in the record, which can then never be mined: a wallet's
 * "speed up". Nothing was granted for that one, so its end need not be waited for.
 */
const isReplacedBy = (verified: Verification | undefined, record: ProofRecord, now: number): boolean =>
  verified?.outcome === "valid" &&
  verified.minedAt !== undefined &&
  !isLive(record, now) &&
  record.delivery !== "delivered" &&
  settleLeases(record, now).settlement === "unknown";

type Window = Parameters<Context["verifier"]["verify"]>[2];

function windowOf({ receiver }: Context, { requirement }: BoundProof, terms: Terms, since: number): Window {
  return {
    handlerTimeoutMs: isUpfront(requirement) ? 0 : terms.handlerTimeoutMs,
    settleMs: settleTime(receiver, requirement),
    blockMs: findNetwork(requirement.network)?.blockMs ?? 0,
    since,
  };
}

/** Nothing is verified before the start-up checks of its network are done. */
async function verifyReady(
  context: Context,
  { proof, resource }: Omit<Sale, "print">,
  window: Window,
): Promise<Verification> {
  const state = await context.readiness.settled([proof.requirement]);
  if (state === "ready") return context.verifier.verify(proof, resource, window);
  return state === "starting"
    ? { outcome: "unavailable", code: "not_ready", message: "the start-up checks are not done" }
    : { outcome: "unavailable", code: "misconfigured", message: "the start-up checks found a mismatch" };
}

function refuseVerification(
  context: Context,
  request: PaywallRequest,
  { proof, offers, resource }: Omit<Sale, "print">,
  verification: Exclude<Verification, { outcome: "valid" }>,
): Sold {
  const { version } = proof;
  switch (verification.outcome) {
    case "invalid":
      return {
        verdict: refuseProof(context, request, { offers, url: resource.url, version }, verification),
        fits: verification.code !== "signature_invalid",
      };
    case "used":
      return {
        verdict: refusal(context, request, refuse("payment_already_used", { version }), "payment_already_used"),
        fits: true,
      };
    case "unavailable": {
      const { code, message } = verification;
      context.logger.warn("a proof could not be verified", { proofId: proof.id, code, message });
      return { verdict: refusal(context, request, refuse(code, { version }), code), fits: true };
    }
  }
}

/** `authorization` runs the handler now; `upfront` takes the money first. */
async function onClaim(context: Context, claimed: Sale & { readonly claim: Claim }): Promise<Verdict> {
  const { proof, resource, claim } = claimed;
  if (!isUpfront(proof.requirement)) return admit(context, { ...claimed, transaction: undefined });
  const settled = await settleClaim(context, proof, claim, resource);
  if (settled.kind !== "settled") return { kind: "refuse", answer: refusalOf(context, claimed, settled) };
  return admit(context, { ...claimed, claim: settled.claim, transaction: settled.transaction });
}
