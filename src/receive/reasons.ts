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
const SVM = "invalid_exact_svm";
const SVM_PAYLOAD = `${SVM}_payload`;
/** Most words of version 1 begin like this, and some of version 2. */
const SVM_TRANSACTION = `${SVM_PAYLOAD}_transaction`;
const SMART_WALLET = `${SVM}_smart_wallet`;

const all = (prefix: string, endings: string): string[] => endings.split(" ").map((ending) => `${prefix}_${ending}`);

/** What the facilitator says of a fee payer that it has listed and knows no more. */
const FOREIGN_FEE_PAYER: readonly string[] = [
  `${SVM}_fee_payer_not_managed_by_facilitator`,
  "fee_payer_not_managed_by_facilitator",
];

/** Source: protocol §4.7. */
const SOLANA: readonly [string, Fault][] = [
  ...payer("offer_mismatch", `${SVM}_fee_payer_mismatch`, `${SVM_PAYLOAD}_mint_mismatch`),
  ...payer("amount_mismatch", ...all(SVM_PAYLOAD, "amount_mismatch transaction_amount_mismatch")),
  ...payer("recipient_mismatch", ...all(SVM_PAYLOAD, "recipient_mismatch transaction_transfer_to_incorrect_ata")),
  ...payer("signature_invalid", `${SVM_PAYLOAD}_signature_invalid`),
  ...payer("insufficient_funds", `${SVM_TRANSACTION}_sender_ata_not_found`),
  ...payer(
    "simulation_failed",
    `${SVM}_transaction_simulation_failed`,
    "transaction_simulation_failed",
    `${SVM_TRANSACTION}_simulation_failed`,
    `${SMART_WALLET}_simulation_failed`,
  ),
  ...payer(
    "payment_rejected",
    SVM_TRANSACTION,
    ...all(
      SVM_PAYLOAD,
      "transaction_could_not_be_decoded excessive_signers unknown_fourth_instruction unknown_fifth_instruction " +
        "unknown_sixth_instruction unknown_seventh_instruction unknown_optional_instruction " +
        "no_transfer_instruction memo_count memo_mismatch",
    ),
    ...all(
      SVM_TRANSACTION,
      "create_ata_instruction create_ata_instruction_incorrect_payee create_ata_instruction_incorrect_asset " +
        "instructions instructions_length instructions_compute_limit_instruction " +
        "instructions_compute_limit_instruction_too_high instructions_compute_price_instruction " +
        "instructions_compute_price_instruction_too_high instruction_not_spl_token_transfer_checked " +
        "instruction_not_token_2022_transfer_checked not_a_transfer_instruction " +
        "fee_payer_included_in_instruction_accounts fee_payer_transferring_funds",
    ),
    ...all(
      SMART_WALLET,
      "fee_payer_not_isolated malformed_compute_budget malformed_compute_limit malformed_compute_price " +
        "compute_units_too_high priority_fee_too_high unsupported_compute_budget_instruction " +
        "alt_resolution_not_available verification_not_available compute_budget_violation " +
        "cannot_derive_destination_ata no_transfer_in_simulation transfer_mismatch multiple_matching_transfers " +
        "program_not_allowed",
    ),
  ),
  ...others(
    "seller",
    ...FOREIGN_FEE_PAYER,
    ...all(SVM, "unsupported_scheme network_mismatch invalid_fee_payer"),
    `${SVM_PAYLOAD}_missing_fee_payer`,
    `${SVM_TRANSACTION}_receiver_ata_not_found`,
    "network_mismatch",
  ),
  // The last five are words of a settlement that may have left.
  ...others(
    "facilitator",
    ...all(SVM, "verification_failed transaction_signing_failed"),
    "verification_failed",
    `${SMART_WALLET}_alt_resolution_failed`,
    `${SVM}_transaction_failed`,
    "transaction_failed",
    "settle_exact_svm_block_height_exceeded",
    "settle_exact_svm_transaction_confirmation_timed_out",
    "post_settlement_transfer_not_confirmed",
  ),
];

const FAULTS: ReadonlyMap<string, Fault> = new Map([
  ...SOLANA,
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

/** The facilitator lists its fee payers, and this one no longer is: the list that we have is old. */
export const isForeignFeePayer = (reason: string | undefined): boolean =>
  reason !== undefined && FOREIGN_FEE_PAYER.includes(reason);

/** A reason as it may be shown and put in a header: printable ASCII, at most 128 characters. */
export function boundedReason(reason: string): string {
  return reason
    .replace(/(0x)?[0-9a-f]{64,}/gi, "(hex)")
    .slice(0, 128)
    .replace(/[^\x20-\x7e]/g, "?");
}
