// What a seller says became of a payment: the receipt header of either version. It is the seller's word and nothing more, so
// it is bounded and shown as such; whatever the header holds, reading it never throws. Spec: protocol §2.3.
import { decodeHeader } from "../wire/header.js";
import { isRecord } from "../wire/json.js";
import { toSellerWords } from "./seller-words.js";

export interface SellerReceipt {
  /** The seller says that the money moved. */
  readonly success: boolean;
  /** Id of the transaction, as the seller names it. */
  readonly transaction: string | undefined;
  /** Why not, printable and short. */
  readonly reason: string | undefined;
}

const NAMES = ["PAYMENT-RESPONSE", "X-PAYMENT-RESPONSE"] as const;
/** An id goes into records and terminals: one word of printable ASCII. */
const ID = /^[\x21-\x7e]{1,128}$/;
const isId = (value: unknown): value is string => typeof value === "string" && ID.test(value);

/**
 * The receipt of an answer; undefined where there is none that can be read.
 *
 * @example readReceipt(response.headers)?.transaction
 */
export function readReceipt(headers: Headers): SellerReceipt | undefined {
  const receipts = NAMES.flatMap((name) => readOne(headers.get(name)) ?? []);
  // Invariant: where two receipts disagree, the money counts as taken.
  return receipts.find(({ success }) => success) ?? receipts[0];
}

function readOne(header: string | null): SellerReceipt | undefined {
  const decoded = header === null ? undefined : decodeHeader(header);
  if (!decoded?.ok || !isRecord(decoded.value)) return undefined;
  const { success, transaction, txHash, errorReason, error_reason, error, errorMessage } = decoded.value;
  if (typeof success !== "boolean") return undefined;
  // Older and other sellers have names of their own for the same members (protocol §2.3).
  const reasons = [errorReason, error_reason, error, errorMessage].map((text) => toSellerWords(text));
  return {
    success,
    transaction: [transaction, txHash].find(isId),
    reason: reasons.find((words) => words !== undefined),
  };
}
