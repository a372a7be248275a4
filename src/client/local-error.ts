// Why a transaction that a gateway built was not signed, not sent, or did not come to its end. Each code says whether money moved.
import type { BuyerMoney } from "./errors.js";

interface Kind {
  readonly title: string;
  readonly money: BuyerMoney;
  readonly remedy: string;
}

const table = <Code extends string>(kinds: Record<Code, Kind>): Readonly<Record<Code, Kind>> => Object.freeze(kinds);

export const LOCAL_ERRORS = table({
  order_invalid: { title: "The order cannot be read", money: "none", remedy: "Correct it; nothing was asked for" },
  node_failed: {
    title: "Your own node does not answer as it should",
    money: "none",
    remedy: "Check rpcUrl; nothing was sent",
  },
  built_wrong: {
    title: "The gateway built something else than was ordered",
    money: "none",
    remedy: "Nothing was signed. Do not trust this gateway before you know why",
  },
  would_fail: { title: "The transaction would fail", money: "none", remedy: "Nothing was signed" },
  too_expensive: {
    title: "The transaction costs more than it may",
    money: "none",
    remedy: "Nothing was signed. Raise maxFee if the price is right",
  },
  signing_failed: { title: "The account did not sign", money: "none", remedy: "Nothing was sent" },
  built_expired: {
    title: "What was built cannot be sent any more",
    money: "none",
    remedy: "Nothing was sent. Order again, under another idempotencyKey",
  },
  not_taken: {
    title: "Your own node did not take the transaction",
    money: "none",
    remedy: "Nobody else has it. Order again",
  },
  proof_refused: { title: "The proof is not good", money: "none", remedy: "Nothing was sent" },
  failed_on_chain: {
    title: "The transaction failed on the chain",
    money: "none",
    remedy: "It cost its network fee and moved nothing else",
  },
  replaced: {
    title: "Another transaction of the account has taken its place",
    money: "none",
    remedy: "This one can never land. Order again",
  },
  outcome_unknown: {
    title: "It is not known whether the transaction has landed",
    money: "unknown",
    remedy: "Ask for the payment's status, or order again under the same idempotencyKey: the same transaction is sent",
  },
});

export type LocalErrorCode = keyof typeof LOCAL_ERRORS;

/** What is known of a transaction that was signed. */
export interface SignedBytes {
  /** The transaction's id. */
  readonly transaction: string;
  /** The signed bytes, base64. */
  readonly bytes: string;
}

export interface LocalErrorFacts {
  /** The gateway's record, once there is one. */
  readonly paymentId?: string | undefined;
  /** Under which the transaction was built. */
  readonly idempotencyKey?: string | undefined;
  readonly signed?: SignedBytes | undefined;
}

/**
 * A local transaction that did not come to its end.
 *
 * @example
 * try { await signAndSend(client, signing, order); } catch (error) {
 *   if (error instanceof LocalTransactionError && error.money === "unknown") await client.wait(error.paymentId);
 * }
 */
export class LocalTransactionError extends Error {
  override readonly name = "LocalTransactionError";
  readonly code: LocalErrorCode;
  readonly money: BuyerMoney;
  readonly paymentId: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** Id of the transaction, once one was signed. */
  readonly transaction: string | undefined;
  // Private, so that no log prints it: whoever has the bytes can send them.
  readonly #bytes: string | undefined;
  constructor(code: LocalErrorCode, detail: string, facts: LocalErrorFacts = {}, options?: ErrorOptions) {
    const { title, money, remedy } = LOCAL_ERRORS[code];
    super(`${title}: ${detail}.\n${remedy}.`, options);
    this.code = code;
    this.money = money;
    this.paymentId = facts.paymentId;
    this.idempotencyKey = facts.idempotencyKey;
    this.transaction = facts.signed?.transaction;
    this.#bytes = facts.signed?.bytes;
  }
  /** The signed bytes, base64, once there are some. */
  get bytes(): string | undefined {
    return this.#bytes;
  }
}
