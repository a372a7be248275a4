// Why a Solana payment is refused before any call: one table of short words with the wire's spelling in protocol v2 and v1.
// v1's words are those of its closed list, so several of ours share one. Source: protocol §3.5, §4.7.

const SVM = "invalid_exact_svm";
const PAYLOAD = `${SVM}_payload`;
const TRANSACTION = `${PAYLOAD}_transaction`;
const INSTRUCTIONS = `${TRANSACTION}_instructions`;

/** v2's word and v1's. */
const WORDS = {
  network_mismatch: [`${SVM}_network_mismatch`, "invalid_network"],
  missing_fee_payer: [`${PAYLOAD}_missing_fee_payer`, "invalid_payment_requirements"],
  invalid_fee_payer: [`${SVM}_invalid_fee_payer`, "invalid_payment_requirements"],
  fee_payer_not_ours: [`${SVM}_fee_payer_not_managed_by_facilitator`, "invalid_payment_requirements"],
  not_decoded: [`${PAYLOAD}_transaction_could_not_be_decoded`, TRANSACTION],
  excessive_signers: [`${PAYLOAD}_excessive_signers`, TRANSACTION],
  fee_payer_mismatch: [`${SVM}_fee_payer_mismatch`, TRANSACTION],
  signature_invalid: [`${PAYLOAD}_signature_invalid`, TRANSACTION],
  lookups_refused: [`${SVM}_smart_wallet_alt_resolution_not_available`, TRANSACTION],
  instruction_count: [`${INSTRUCTIONS}_length`, `${INSTRUCTIONS}_length`],
  compute_limit: [`${INSTRUCTIONS}_compute_limit_instruction`, `${INSTRUCTIONS}_compute_limit_instruction`],
  compute_limit_too_high: [
    `${INSTRUCTIONS}_compute_limit_instruction_too_high`,
    `${INSTRUCTIONS}_compute_limit_instruction`,
  ],
  compute_price: [`${INSTRUCTIONS}_compute_price_instruction`, `${INSTRUCTIONS}_compute_price_instruction`],
  compute_price_too_high: [
    `${INSTRUCTIONS}_compute_price_instruction_too_high`,
    `${INSTRUCTIONS}_compute_price_instruction_too_high`,
  ],
  no_transfer: [`${PAYLOAD}_no_transfer_instruction`, `${TRANSACTION}_not_a_transfer_instruction`],
  no_token_transfer: [
    `${PAYLOAD}_no_transfer_instruction`,
    `${TRANSACTION}_instruction_not_spl_token_transfer_checked`,
  ],
  no_token_2022_transfer: [
    `${PAYLOAD}_no_transfer_instruction`,
    `${TRANSACTION}_instruction_not_token_2022_transfer_checked`,
  ],
  account_creation: [`${PAYLOAD}_no_transfer_instruction`, `${TRANSACTION}_create_ata_instruction`],
  unknown_fourth: [`${PAYLOAD}_unknown_fourth_instruction`, INSTRUCTIONS],
  unknown_fifth: [`${PAYLOAD}_unknown_fifth_instruction`, INSTRUCTIONS],
  unknown_sixth: [`${PAYLOAD}_unknown_sixth_instruction`, INSTRUCTIONS],
  unknown_seventh: [`${PAYLOAD}_unknown_seventh_instruction`, INSTRUCTIONS],
  unknown_optional: [`${PAYLOAD}_unknown_optional_instruction`, INSTRUCTIONS],
  fee_payer_transferring: [
    `${PAYLOAD}_transaction_fee_payer_transferring_funds`,
    `${TRANSACTION}_fee_payer_transferring_funds`,
  ],
  fee_payer_not_isolated: [
    `${SVM}_smart_wallet_fee_payer_not_isolated`,
    `${TRANSACTION}_fee_payer_included_in_instruction_accounts`,
  ],
  mint_mismatch: [`${PAYLOAD}_mint_mismatch`, TRANSACTION],
  recipient_mismatch: [`${PAYLOAD}_recipient_mismatch`, `${TRANSACTION}_transfer_to_incorrect_ata`],
  amount_mismatch: [`${PAYLOAD}_amount_mismatch`, `${TRANSACTION}_amount_mismatch`],
  memo_count: [`${PAYLOAD}_memo_count`, INSTRUCTIONS],
  memo_mismatch: [`${PAYLOAD}_memo_mismatch`, INSTRUCTIONS],
  verification_failed: [`${SVM}_verification_failed`, "unexpected_verify_error"],
} as const satisfies Record<string, readonly [v2: string, v1: string]>;

export type Reason = keyof typeof WORDS;

/** A refusal with the facts that differ. */
export interface Refused {
  readonly ok: false;
  readonly reason: Reason;
  readonly expected?: string;
  readonly got?: string;
}

/** Every reason there is. */
export const REASONS = Object.keys(WORDS) as readonly Reason[];

/** A reason in the words of a protocol version. */
export const wireReason = (reason: Reason, version: 1 | 2): string => WORDS[reason][version === 2 ? 0 : 1];

/** A refusal; facts that are not known are left out. */
export function refused(reason: Reason, expected?: string, got?: string): Refused {
  return { ok: false, reason, ...(expected !== undefined && { expected }), ...(got !== undefined && { got }) };
}
