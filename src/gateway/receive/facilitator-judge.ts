// A request to the facilitator, read: the payment bound to the seller's own requirements, or why it is for something else. And
// what the chain's verdict on it is in the protocol's words.
import { ERRORS, type ErrorCode, reasonOf } from "../../errors.js";
import type { BoundProof } from "../../proof.js";
import type { Verification } from "../../receive/receiver.js";
import type { FacilitatorRequest } from "../../wire/facilitator.js";
import type { Caller } from "../caller.js";
import type { Fault } from "../errors.js";
import type { GatewayParts } from "../parts.js";
import { bindProof } from "./bind.js";
import { type Rejection, readSellerTerms, rejection, type SellerTerms } from "./facilitator-terms.js";
import { readPayload } from "./proof-value.js";
import { judgeSponsored } from "./sponsor.js";
import { refuseVerdict } from "./verify.js";

export interface Asked {
  readonly outcome: "asked";
  readonly version: 1 | 2;
  readonly terms: SellerTerms;
  readonly proof: BoundProof;
}

/** No verdict on a payment: the caller may not ask, or nobody could be asked. */
export interface Refused {
  readonly outcome: "refused";
  readonly fault: Fault;
}

export type Judged =
  | { readonly outcome: "valid"; readonly payer: string }
  | (Rejection & { readonly payer?: string })
  | Refused;

/** Reads payment and requirements. Nothing is verified. */
export async function readAsked(
  parts: GatewayParts,
  caller: Caller,
  request: FacilitatorRequest,
): Promise<Asked | (Rejection & { readonly payer?: string }) | Refused> {
  const version = request.x402Version;
  const read = await readSellerTerms(parts, caller, request);
  if (read.outcome !== "terms") return read;
  const { terms } = read;
  const decoded = readPayload(request.paymentPayload);
  if (!decoded.ok) return toRejection(decoded, version);
  const { maxTimeoutSeconds } = terms;
  const bound = await bindProof(decoded.value, terms, { logger: parts.logger, maxTimeoutSeconds });
  if (!bound.ok) return toRejection(bound, version);
  const unpaid = judgeSponsored(terms, bound.value);
  if (unpaid) return rejection(reasonOf("offer_mismatch", version), unpaid.message);
  return { outcome: "asked", version, terms, proof: withMemo(bound.value, terms.memo) };
}

/** An offer on Solana may name the memo that its payment has to carry. */
function withMemo(proof: BoundProof, memo: string | undefined): BoundProof {
  if (memo === undefined || proof.kind !== "transaction" || proof.requirement.method !== "spl") return proof;
  const { requirement } = proof;
  return { ...proof, requirement: { ...requirement, extra: { ...requirement.extra, memo } } };
}

/** The verdict of whoever verified it. `expired`: the request's own time was over. */
export function judgePresented({ version, proof }: Asked, verdict: Verification, expired: boolean): Judged {
  const { payer } = proof;
  switch (verdict.outcome) {
    case "valid":
      return { outcome: "valid", payer };
    case "used":
      return { ...rejection("duplicate_settlement", "the chain shows this payment as used already"), payer };
    case "invalid": {
      const { code, reason = reasonOf(code, version), expected, got } = verdict;
      const words = [expected && `expected ${expected}`, got && `got ${got}`].filter(Boolean).join(", ");
      return { ...rejection(reason, words || ERRORS[code].title), payer };
    }
    case "unavailable":
      return { outcome: "refused", fault: refuseVerdict(verdict, expired) };
  }
}

/** A fault that is a verdict, in the protocol's words; any other stays one. */
function toRejection(problem: Fault, version: 1 | 2): Rejection | Refused {
  const code = problem.details?.[0]?.path ?? "";
  if (problem.code === "INVALID_REQUEST") return rejection(reasonOf("offer_mismatch", version), problem.message);
  if (problem.code !== "INVALID_PAYMENT_PROOF" || !isCode(code)) return { outcome: "refused", fault: problem };
  return rejection(reasonOf(code, version), problem.details?.[0]?.message ?? problem.message);
}

const isCode = (text: string): text is ErrorCode => Object.hasOwn(ERRORS, text);
