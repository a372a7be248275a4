// What payments by a transaction have in common: what is shown of it, whether it is public first, and the secret by which its
// buyer proves that a public one is his. Source: design §6.
import type { Hex } from "viem";
import { randomNonce } from "../authorization.js";
import type { Made } from "./payer.js";

/** How a buyer's own complete transaction is shown to the seller. */
export interface TransactionParts {
  /** 32 bytes whose SHA-256 the transaction carries. Absent = random bytes where it is broadcast, otherwise none. */
  readonly secret?: Hex;
  /** Sends it before the seller sees it, and waits until a block holds it; `sent` = without waiting. */
  readonly broadcast?: boolean | "sent";
  /** The signed bytes, or the id by which the chain knows it; the bytes where it is absent. */
  readonly show?: "bytes" | "id";
}

export interface SignedTransaction {
  /** The bytes, also where only the id is shown. */
  readonly bytes: Uint8Array;
  /** What the chain knows it by; undefined as long as a signature is missing. */
  readonly id: string | undefined;
  readonly secret: Hex | undefined;
}

/** The secret of a payment, and the reference that its transaction carries; both undefined where it has none. */
export async function secretOf({
  secret,
  broadcast,
}: TransactionParts): Promise<{ readonly secret: Hex; readonly reference: Hex } | undefined> {
  const chosen = secret ?? (broadcast ? randomNonce() : undefined);
  return chosen === undefined ? undefined : { secret: chosen, reference: await referenceOf(chosen) };
}

/** SHA-256 of the 32 bytes. */
export async function referenceOf(secret: Hex): Promise<Hex> {
  const bytes = new Uint8Array(Buffer.from(secret.slice(2), "hex"));
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return `0x${Buffer.from(digest).toString("hex")}`;
}

/** The payload of a transaction, in the form that is asked for. */
export function showTransaction(
  signed: SignedTransaction,
  { show = "bytes" }: TransactionParts,
): Made<SignedTransaction> {
  const { bytes, id, secret } = signed;
  if (show === "id" && id === undefined) throw new Error("A transaction that lacks a signature has no id to show");
  const transaction = show === "id" ? id : Buffer.from(bytes).toString("base64");
  return { payload: { transaction, ...(secret !== undefined && { secret }) }, signed };
}
