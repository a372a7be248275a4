// The reason words of facilitators, read as one of four kinds. Each implementation has a vocabulary of its own (protocol
// §3.5, §9.15), so an unknown word stays opaque: it passes through to the buyer and decides as little as possible.
import type { ErrorCode } from "../errors.js";

export type Fault =
  /** The payer's: sign another payment. */
  | { readonly fault: "payer"; readonly code: ErrorCode }
  /** The authorization has been spent already; perhaps somebody else's submission paid the seller with it. */
  | { readonly fault: "used" }
  /** The seller's configuration does not fit the chain: no signature of the buyer can mend that. */
  | { readonly fault: "seller" }
  /** The facilitator's own failure: nobody's verdict. */
  | { readonly fault: "facilitator" }
  | { readonly fault: "unknown" };

const payer = (code: ErrorCode, ...words: readonly string[]): [string, Fault][] =>
  words.map((word) => [word, { fault: "payer", code }]);
const others = (fault: "used" | "seller" | "facilitator", ...words: readonly string[]): [string, Fault][] =>
  words.map((word) => [word, { fault }]);

const EVM = "invalid_exact_evm";
const EVM_PAYLOAD = `${EVM}_payload`;

const FAULTS: ReadonlyMap<string, Fault> = new Map([
  ...payer("insufficient_funds", "insufficient_funds", `${EVM}_insufficient_balance`),
  ...payer("payment_not_yet_valid", `${EVM_PAYLOAD}_authorization_valid_after`, "invalid_payment_early"),
  ...payer(
    "payment_expired",
    `${EVM_PAYLOAD}_authorization_valid_before`,
    "payment_expired",
    "invalid_payment_expired",
  ),
  ...payer(
    "amount_mismatch",
    `${EVM_PAYLOAD}_authorization_value`,
    `${EVM_PAYLOAD}_authorization_value_mismatch`,
    `${EVM}_authorization_value`,
    "invalid_payment_amount",
  ),
  ...payer(
    "signature_invalid",
    `${EVM_PAYLOAD}_signature`,
    `${EVM}_signature`,
    `${EVM}_failed_to_parse_signature`,
    "invalid_signature",
  ),
  ...payer(
    "recipient_mismatch",
    `${EVM_PAYLOAD}_recipient_mismatch`,
    `${EVM}_recipient_mismatch`,
    "recipient_mismatch",
  ),
  ...payer("wallet_not_deployed", `${EVM_PAYLOAD}_undeployed_smart_wallet`),
  ...payer("wallet_factory_not_allowed", "eip6492_factory_not_allowed"),
  ...payer("simulation_failed", `${EVM}_transaction_simulation_failed`),
  ...payer("payment_rejected", "invalid_payment", "invalid_payload", "invalid_format", "unsupported_payload_type"),
  ...others(
    "used",
    `${EVM}_nonce_already_used`,
    "nonce_already_used",
    "authorization_already_used",
    "authorization_used",
    "already_used",
    "duplicate_settlement",
  ),
  ...others(
    "seller",
    "invalid_network",
    "invalid_scheme",
    "unsupported_scheme",
    "unsupported_chain",
    "chain_id_mismatch",
    "invalid_x402_version",
    "invalid_payment_requirements",
    "asset_not_deployed_contract",
    `${EVM}_scheme`,
    `${EVM}_network_mismatch`,
    `${EVM}_missing_eip712_domain`,
    `${EVM}_token_name_mismatch`,
    `${EVM}_token_version_mismatch`,
    `${EVM}_eip3009_not_supported`,
  ),
  ...others("facilitator", "unexpected_verify_error", "unexpected_settle_error", "unexpected_error"),
]);

/** What a reason word means. Words are compared exactly. */
export function faultOf(reason: string): Fault {
  return FAULTS.get(reason) ?? { fault: "unknown" };
}

/** A reason as it may be shown and put in a header: printable ASCII, at most 128 characters. */
export function boundedReason(reason: string): string {
  return reason
    .replace(/(0x)?[0-9a-f]{64,}/gi, "(hex)")
    .slice(0, 128)
    .replace(/[^\x20-\x7e]/g, "?");
}
