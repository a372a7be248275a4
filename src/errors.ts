// Errors and the words they are told in: the table of codes stands in `error-table.ts`, the two classes at the edges here.
import { ERRORS } from "./error-table.js";
import { hideKeys } from "./secret.js";

export { ERRORS, type Money, type Retry } from "./error-table.js";

export type ErrorCode = keyof typeof ERRORS;

/** The protocol's v1 word where it differs: v1 answers use the closed list of protocol §3.5 only. */
const REASONS_V1: Partial<Record<ErrorCode, string>> = Object.freeze({
  payment_required: "X-PAYMENT header is required",
  extension_echo_mismatch: "invalid_payload",
  amount_mismatch: "invalid_exact_evm_payload_authorization_value",
  wallet_factory_not_allowed: "invalid_exact_evm_payload_undeployed_smart_wallet",
  simulation_failed: "invalid_transaction_state",
  too_many_payments: "invalid_payment",
  too_many_failures: "invalid_payment",
  settlement_unknown: "unexpected_settle_error",
  payment_not_seen: "unexpected_settle_error",
});

/** The protocol's reason word of a code, as a buyer of this version knows it. */
export const reasonOf = (code: ErrorCode, version: 1 | 2): string =>
  (version === 1 && REASONS_V1[code]) || ERRORS[code].reason;

/** Problems of a configuration, found at construction or by `ready()`. */
export type ConfigCode =
  | "required"
  | "invalid"
  | "unknown_option"
  | "contradiction"
  | "not_available_yet"
  | "unknown_network"
  | "unknown_token"
  | "missing_package"
  | "unsafe";

/** One problem with its place and its remedy. */
export interface ConfigProblem {
  /** Option path (`routes["GET /a"].price`) or environment name (`TOLLGATE_PAY_TO`). */
  readonly path: string;
  readonly code: ConfigCode;
  /** What was wrong, what was expected, what came, and what to do. */
  readonly message: string;
}

/** Thrown once at construction with every problem of the configuration. */
export class PaywallConfigError extends Error {
  override readonly name = "PaywallConfigError";
  readonly problems: readonly ConfigProblem[];
  /** `of`: whose configuration it is. */
  constructor(found: readonly ConfigProblem[], of = "paywall") {
    // Whatever repeats what the seller wrote: a private key in the wrong place never comes out again.
    const problems = found.map(({ path, code, message }) => ({
      path: hideKeys(path),
      code,
      message: hideKeys(message),
    }));
    const lines = problems.map((problem) => `  ${problem.path}: ${problem.message} [${problem.code}]`);
    super(`The ${of}'s configuration has problems:\n${lines.join("\n")}`);
    this.problems = problems;
  }
}

/** Facts beside a code: they go to the buyer, so they hold nothing secret. */
export interface ErrorFacts {
  readonly expected?: string;
  readonly got?: string;
  /** The protocol's or the receiver's own reason word. */
  readonly reason?: string;
}

/** An error at the edge of the package, with a code of the table. */
export class PaywallError extends Error {
  override readonly name = "PaywallError";
  readonly code: ErrorCode;
  readonly facts: ErrorFacts;
  constructor(code: ErrorCode, facts: ErrorFacts = {}, options?: ErrorOptions) {
    const { expected, got } = facts;
    const detail = [expected && `expected ${expected}`, got && `got ${got}`].filter(Boolean).join(", ");
    super(detail ? `${ERRORS[code].title} (${detail})` : ERRORS[code].title, options);
    this.code = code;
    this.facts = facts;
  }
}
