// What the `facilitator` receiver judges of an EVM payment in this process: the signed fields and a plain account's signature.
// The chain code is loaded on first use only.
import { findNetwork } from "../networks.js";
import type { AuthorizationProof } from "../proof.js";
import { loadOnce } from "./load-once.js";
import type { Verification } from "./receiver.js";

/**
 * Judges fields and signature in this process. Undefined where that cannot be done here: a contract wallet answers for
 * itself on the chain, so its payment has to be shown to the facilitator. A balance is not looked at.
 */
export async function checkLocally(
  proof: AuthorizationProof,
  signatureKnown: boolean,
  now: number,
): Promise<Verification | undefined> {
  const { authorization, requirement } = proof;
  const refused = checkFields(proof, BigInt(Math.floor(now / 1000)));
  if (refused) return refused;
  const valid: Verification = { outcome: "valid", payer: proof.payer };
  if (signatureKnown) return valid;
  const chainId = findNetwork(requirement.network)?.chainId;
  if (chainId === undefined) return undefined;
  const [{ readSignature, isSignedBy }, { loadBackend }] = await loadSignatures();
  const form = readSignature(proof.signature);
  if (form.form !== "ecdsa") return undefined;
  const { name, version } = requirement.extra;
  const domain = { name, version, chainId, asset: requirement.asset };
  if (await isSignedBy(await loadBackend(), domain, authorization, form)) return valid;
  return { outcome: "invalid", code: "signature_invalid", reason: "invalid_exact_evm_payload_signature" };
}

const loadSignatures = loadOnce(() =>
  Promise.all([import("../chains/evm/signature.js"), import("../chains/evm/backend.js")]),
);

/** The signed fields against our requirement and the clock: asked again here, because nobody asks after this. */
function checkFields({ authorization, requirement }: AuthorizationProof, now: bigint): Verification | undefined {
  const { to, value, validAfter, validBefore } = authorization;
  if (to.toLowerCase() !== requirement.payTo.toLowerCase()) {
    return refuse("recipient_mismatch", "invalid_exact_evm_payload_recipient_mismatch", requirement.payTo, to);
  }
  if (value !== requirement.amount) {
    const reason = "invalid_exact_evm_payload_authorization_value_mismatch";
    return refuse("amount_mismatch", reason, `${requirement.amount}`, `${value}`);
  }
  if (validAfter > now) {
    const reason = "invalid_exact_evm_payload_authorization_valid_after";
    return refuse("payment_not_yet_valid", reason, `validAfter up to ${now}`, `${validAfter}`);
  }
  if (validBefore <= now) {
    const reason = "invalid_exact_evm_payload_authorization_valid_before";
    return refuse("payment_expired", reason, `validBefore after ${now}`, `${validBefore}`);
  }
  return undefined;
}

type Invalid = Extract<Verification, { outcome: "invalid" }>;

const refuse = (code: Invalid["code"], reason: string, expected: string, got: string): Invalid => ({
  outcome: "invalid",
  code,
  reason,
  expected,
  got,
});
