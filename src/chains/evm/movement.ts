// What a transaction moves, read from its own signed members, and whether its secret belongs to it. Two forms pay, and nothing
// else: native currency with empty calldata, or `transfer(payee, amount)` of a token; each may end with a reference, 32 bytes
// that are the SHA-256 of a secret. Source: design §6.
import { checksumAddress } from "../../address.js";
import { sha256 } from "../../hash.js";
import { NATIVE } from "../../requirement.js";
import { type Hex, toBytes } from "./hex.js";
import type { SignedTransaction, TransactionFields } from "./transaction.js";

export interface Movement {
  /** `native`, or the token, checksummed. */
  readonly asset: string;
  /** Lower case. */
  readonly payTo: Hex;
  /** Atomic units. */
  readonly amount: bigint;
  readonly reference: Hex | undefined;
}

/** `transfer(address,uint256)`, a payee and an amount, and nothing more than a reference after them. */
const TRANSFER_CALL = /^0xa9059cbb0{24}([0-9a-f]{40})([0-9a-f]{64})([0-9a-f]{64})?$/;
const REFERENCE = /^0x[0-9a-f]{64}$/;

/** What it moves; undefined for anything but one plain transfer. */
export function movementOf({
  to,
  value,
  data,
}: Pick<TransactionFields, "to" | "value" | "data">): Movement | undefined {
  if (data === "0x") return { asset: NATIVE, payTo: to, amount: value, reference: undefined };
  if (REFERENCE.test(data)) return { asset: NATIVE, payTo: to, amount: value, reference: data };
  const [, payTo, amount, reference] = TRANSFER_CALL.exec(data) ?? [];
  if (payTo === undefined || value !== 0n) return undefined;
  return {
    asset: checksumAddress(to),
    payTo: `0x${payTo}`,
    amount: BigInt(`0x${amount}`),
    reference: reference === undefined ? undefined : `0x${reference}`,
  };
}

/**
 * Whose transaction it is, as far as the secret tells: `open` = it carries no reference, `owned` = whoever showed it knows the
 * secret of its reference, `foreign` = he does not.
 */
export async function ownership(
  { reference }: Pick<Movement, "reference">,
  secret: string | undefined,
): Promise<"open" | "owned" | "foreign"> {
  if (reference === undefined) return "open";
  if (secret === undefined) return "foreign";
  return `0x${await sha256(toBytes(secret))}` === reference ? "owned" : "foreign";
}

/** What a proof by a transaction is known by: only one transaction of a sender and nonce is ever mined. */
export const keyOf = ({ sender, nonce }: Pick<SignedTransaction, "sender" | "nonce">): string => `${sender}/${nonce}`;
