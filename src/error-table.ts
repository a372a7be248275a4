// The one frozen table of codes. Types, HTTP answers and documentation come from it; a test produces every code.
// `retry` tells the buyer what to do next, `payment` whether money moved, `reason` is the protocol's own word for it.

export type Retry = "same-payment" | "new-payment" | "later" | "never";
/** `none`: nothing was taken; `unknown`: it may have been; `settled`: it was. */
export type Money = "none" | "unknown" | "settled";

interface Row {
  readonly status: number;
  readonly retry: Retry;
  readonly payment: Money;
  /** The protocol's reason code (`error`, `invalidReason`, `errorReason`); a receiver's own reason takes its place. */
  readonly reason: string;
  /** One sentence for a person: what was wrong and what to do. */
  readonly title: string;
}

const row =
  (payment: Money) =>
  (status: number, retry: Retry, reason: string, title: string): Row =>
    Object.freeze({ status, retry, payment, reason, title });
const none = row("none");
const unknown = row("unknown");

export const ERRORS = Object.freeze({
  // 402: pay, or pay again.
  payment_required: none(
    402,
    "new-payment",
    "Payment required",
    "This resource must be paid for: choose an offer, sign it and send the request again.",
  ),
  offer_mismatch: none(
    402,
    "new-payment",
    "invalid_payment_requirements",
    "The payment is not for one of this route's offers: sign an offer of this answer unchanged.",
  ),
  extension_echo_mismatch: none(
    402,
    "new-payment",
    "extension_echo_mismatch",
    "An extension came back altered: echo it as it was offered, or leave it out.",
  ),
  unsupported_scheme: none(
    402,
    "new-payment",
    "unsupported_scheme",
    "The payment uses a scheme or transfer method that this route does not offer.",
  ),
  recipient_mismatch: none(
    402,
    "new-payment",
    "invalid_exact_evm_payload_recipient_mismatch",
    "The payment names another recipient than this route's seller: sign the offer's payTo.",
  ),
  amount_mismatch: none(
    402,
    "new-payment",
    "invalid_exact_evm_payload_authorization_value_mismatch",
    "The payment's amount is not the price: sign exactly the offer's amount.",
  ),
  signature_invalid: none(
    402,
    "new-payment",
    "invalid_exact_evm_payload_signature",
    "The signature is not the payer's over this payment: sign with the payer's key and the offer's token domain.",
  ),
  wallet_not_deployed: none(
    402,
    "new-payment",
    "invalid_exact_evm_payload_undeployed_smart_wallet",
    "The paying smart wallet is not deployed: deploy it first or pay from another wallet.",
  ),
  wallet_factory_not_allowed: none(
    402,
    "new-payment",
    "eip6492_factory_not_allowed",
    "The paying smart wallet's factory is not on this seller's list: deploy the wallet first or pay from another one.",
  ),
  payment_not_yet_valid: none(
    402,
    "new-payment",
    "invalid_exact_evm_payload_authorization_valid_after",
    "The payment is not valid yet: check the clock of the signing machine.",
  ),
  payment_expired: none(
    402,
    "new-payment",
    "invalid_exact_evm_payload_authorization_valid_before",
    "The payment has expired and was not taken: check the clock and sign a new one.",
  ),
  payment_expires_too_soon: none(
    402,
    "new-payment",
    "invalid_exact_evm_payload_authorization_valid_before",
    "The payment would expire before it could be settled: it is too old to be sent again, was signed for too short a time, or a clock is wrong. Check the clock, and sign a new one for the offer's maxTimeoutSeconds.",
  ),
  payment_valid_too_long: none(
    402,
    "new-payment",
    "invalid_exact_evm_payload_authorization_valid_before",
    "The payment stays valid for longer than the offer allows: check the clock and sign one that lasts for the offer's maxTimeoutSeconds.",
  ),
  insufficient_funds: none(
    402,
    "new-payment",
    "insufficient_funds",
    "The payer does not hold enough of the asset: add funds or pay with another wallet.",
  ),
  simulation_failed: none(
    402,
    "new-payment",
    "invalid_exact_evm_transaction_simulation_failed",
    "The chain would refuse this payment: the facts say why.",
  ),
  payment_rejected: none(
    402,
    "new-payment",
    "invalid_payment",
    "The payment was checked and is not valid: `error` says why.",
  ),
  settlement_refused: none(
    402,
    "new-payment",
    "invalid_transaction_state",
    "The payment could not be taken and nothing was moved: `error` says why.",
  ),
  payment_used_elsewhere: none(
    402,
    "new-payment",
    "duplicate_settlement",
    "This payment has already bought another request: sign a new one for this request.",
  ),
  // 402: a pass that opens nothing. Whoever holds a good one as well may send that.
  pass_malformed: none(
    402,
    "new-payment",
    "invalid_payment",
    "The pass cannot be read: send the 43 characters of one Payment-Pass, or pay.",
  ),
  pass_unknown: none(
    402,
    "new-payment",
    "invalid_payment",
    "This pass is not known: it has ended, another has taken its place, or it never was one. Pay for another.",
  ),
  pass_expired: none(402, "new-payment", "invalid_payment", "The time of this pass is over: pay for another."),
  pass_used_up: none(402, "new-payment", "invalid_payment", "All uses of this pass are used: pay for another."),
  pass_elsewhere: none(
    402,
    "new-payment",
    "invalid_payment",
    "This pass was sold for something else, or for less than is asked here: pay for this request.",
  ),
  // 400: the request itself is malformed; sending it again changes nothing.
  payment_malformed: none(
    400,
    "never",
    "invalid_payload",
    "The payment header cannot be read: send base64 of the x402 payment JSON.",
  ),
  payment_header_too_large: none(400, "never", "invalid_payload", "The payment header is larger than 16 KiB."),
  payment_version_invalid: none(
    400,
    "never",
    "invalid_x402_version",
    "The x402Version does not fit the header: X-PAYMENT carries 1, PAYMENT-SIGNATURE carries 2.",
  ),
  payment_headers_conflict: none(
    400,
    "never",
    "invalid_payload",
    "X-PAYMENT and PAYMENT-SIGNATURE carry different payments: send one, or the same payment in both.",
  ),
  retry_key_invalid: none(
    400,
    "never",
    "invalid_payload",
    "The retry key is malformed: 16 to 128 characters of a-z, A-Z, 0-9, _ and -.",
  ),
  request_malformed: none(
    400,
    "never",
    "invalid_payload",
    "The request target or host cannot be read: send a valid, decodable path.",
  ),
  route_not_listed: none(404, "never", "invalid_payload", "This path is not on the seller's price list."),
  // 409, 429: this payment, at this moment.
  payment_in_progress: none(
    409,
    "same-payment",
    "duplicate_settlement",
    "This payment is being worked on by another request: send the same payment again in a moment.",
  ),
  payment_already_used: row("settled")(
    409,
    "never",
    "duplicate_settlement",
    "This payment has already been used: it buys nothing more. What a retry would have needed stands in `expected`.",
  ),
  payment_secret_required: unknown(
    409,
    "same-payment",
    "duplicate_settlement",
    "This transaction carries the hash of a secret and counts only with that secret: send it with the payment.",
  ),
  payment_unreferenced: unknown(
    409,
    "never",
    "duplicate_settlement",
    "This transaction is public and carries no reference, so nobody can show that it is his own: it buys nothing here. Ask the seller.",
  ),
  payment_too_old: unknown(
    409,
    "never",
    "duplicate_settlement",
    "This transaction was mined too long ago, or before the seller's memory begins: it may have been used. It buys nothing here.",
  ),
  payment_too_low: row("settled")(
    409,
    "never",
    "duplicate_settlement",
    "This transaction has been made and pays less than the price: it buys nothing here. Its sender may ask the seller for it.",
  ),
  too_many_payments: none(
    429,
    "same-payment",
    "too_many_payments",
    "This payer has too many payments open: wait until some are finished and send the same payment again.",
  ),
  too_many_failures: none(
    429,
    "later",
    "too_many_failures",
    "Requests with this payment failed too often without being charged: wait before you try again.",
  ),
  // 5xx: not the buyer's fault.
  internal_error: unknown(
    500,
    "same-payment",
    "unexpected_verify_error",
    "The server failed. Send the same payment again, never a new one; the id leads to the log entry.",
  ),
  price_invalid: none(
    500,
    "later",
    "invalid_payment_requirements",
    "The seller's price for this request is not valid. Nothing was charged.",
  ),
  receiver_bad_response: none(
    502,
    "same-payment",
    "unexpected_verify_error",
    "The payment service gave an answer that cannot be read. The payment was not taken: send the same one again.",
  ),
  not_ready: none(
    503,
    "same-payment",
    "unexpected_verify_error",
    "The paywall is still starting: send the same payment again in a moment.",
  ),
  misconfigured: none(
    503,
    "later",
    "unexpected_verify_error",
    "The seller's payment set-up cannot work as it is. Nothing was charged; the seller's log says why.",
  ),
  receiver_unreachable: none(
    503,
    "same-payment",
    "unexpected_verify_error",
    "The chain or payment service cannot be reached. The payment was not taken: send the same one again.",
  ),
  payment_not_seen: unknown(
    503,
    "same-payment",
    "settlement_pending",
    "The chain knows no transaction with this id yet. Do not pay again: send the same payment again in a moment.",
  ),
  receiver_auth: none(
    503,
    "same-payment",
    "unexpected_verify_error",
    "The payment service does not accept the seller's credentials. The payment was not taken.",
  ),
  store_unavailable: unknown(
    503,
    "same-payment",
    "unexpected_verify_error",
    "The seller's store cannot be reached. Send the same payment again in a moment.",
  ),
  store_full: none(
    503,
    "same-payment",
    "unexpected_verify_error",
    "The seller has no room for another payment. The payment was not taken: send the same one again later.",
  ),
  settlement_unavailable: none(
    503,
    "same-payment",
    "unexpected_settle_error",
    "The payment could not be sent to the chain. It was not taken: send the same one again.",
  ),
  settlement_unknown: unknown(
    503,
    "same-payment",
    "settlement_pending",
    "The outcome of the payment is not known yet. Do not pay again: send the same payment again in a moment.",
  ),
  handler_timeout: none(
    504,
    "same-payment",
    "unexpected_settle_error",
    "The resource took too long. Nothing was charged: send the same payment again.",
  ),
} as const satisfies Record<string, Row>);
