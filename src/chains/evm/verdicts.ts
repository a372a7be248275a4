// Verdicts against a payer, worded for the version of the protocol that he speaks. Version 1 is a closed list (protocol
// §3.5), so codes that it does not know are said by the nearest word it has.
import { type ErrorCode, reasonOf } from "../../errors.js";
import type { BoundProof } from "../../proof.js";
import type { Verification } from "../../receive/receiver.js";

export type Valid = Extract<Verification, { outcome: "valid" }>;
export type Invalid = Extract<Verification, { outcome: "invalid" }> & { readonly reason: string };
export type Unavailable = Extract<Verification, { outcome: "unavailable" }>;

export function invalid(
  proof: Pick<BoundProof, "version">,
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
