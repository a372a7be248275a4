// Verdicts against a payer, worded for the version of the protocol that he speaks. Version 1 is a closed list (protocol
// §3.5), so codes that it does not know are said by the nearest word it has.
import { ERRORS, type ErrorCode } from "../../errors.js";
import type { BoundProof } from "../../proof.js";
import type { Verification } from "../../receive/receiver.js";

export type Invalid = Extract<Verification, { outcome: "invalid" }> & { readonly reason: string };
export type Unavailable = Extract<Verification, { outcome: "unavailable" }>;

/** Version 1 words where they differ from the word of the code table. */
const V1_REASONS: Readonly<Partial<Record<ErrorCode, string>>> = {
  amount_mismatch: "invalid_exact_evm_payload_authorization_value",
  wallet_factory_not_allowed: "invalid_exact_evm_payload_undeployed_smart_wallet",
  simulation_failed: "invalid_transaction_state",
};

/** The protocol's reason word of a code. */
export function reasonOf(code: ErrorCode, version: 1 | 2): string {
  return (version === 1 ? V1_REASONS[code] : undefined) ?? ERRORS[code].reason;
}

export function invalid(
  proof: BoundProof,
  code: ErrorCode,
  facts: { readonly expected?: string; readonly got?: string } = {},
): Invalid {
  return { outcome: "invalid", code, reason: reasonOf(code, proof.version), ...facts };
}

export const unavailable = (code: ErrorCode, message: string): Unavailable => ({
  outcome: "unavailable",
  code,
  message,
});
