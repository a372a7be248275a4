// A transaction by its id, as the chain has it. A node's word is not enough: the bytes must bear that very signature, true
// over their own message.
import * as z from "zod/mini";
import { encodeBase58 } from "./base58.js";
import { verifySignature } from "./ed25519.js";
import { failureOf, type RpcFailure, type RpcOptions, type SolanaRpc } from "./rpc.js";
import { decodeTransaction, messageHash, type Transaction } from "./transaction.js";

/** A transaction that is in a confirmed block, successful or not. */
export interface FetchedTransaction {
  readonly ok: true;
  readonly id: string;
  /** Base64. */
  readonly transaction: string;
  readonly decoded: Transaction;
  readonly messageHash: string;
  readonly slot: number;
  /** Epoch milliseconds of its block; undefined where the node does not know. */
  readonly minedAt: number | undefined;
  /** Why it failed on the chain; null where it succeeded. */
  readonly error: unknown;
  /** Lamports that its fee payer lost; undefined where the node does not tell. */
  readonly fee: bigint | undefined;
}

export type Fetched =
  | FetchedTransaction
  /** The node knows of no such transaction (yet): no evidence of anything. */
  | { readonly ok: false; readonly seen: false }
  | (RpcFailure & { readonly seen: "unknown" });

const schema = z.nullable(
  z.object({
    slot: z.int(),
    blockTime: z.optional(z.nullable(z.int())),
    transaction: z.tuple([z.string(), z.literal("base64")]),
    // A missing member is no success.
    meta: z.object({
      err: z.custom<unknown>((value) => value !== undefined),
      fee: z.optional(z.int().check(z.nonnegative())),
    }),
  }),
);

/** Asks for a transaction by its id (base58 of its first signature), at `confirmed` where nothing else is said. Never rejects. */
export async function fetchTransaction(
  rpc: SolanaRpc,
  id: string,
  options: RpcOptions & { readonly commitment?: "confirmed" | "finalized" } = {},
): Promise<Fetched> {
  const { commitment = "confirmed", ...rest } = options;
  const config = { encoding: "base64", commitment, maxSupportedTransactionVersion: 0 };
  const reply = await rpc.call("getTransaction", [id, config], rest);
  if (!reply.ok) return { ...failureOf(reply), seen: "unknown" };
  const unbelievable = (message: string): Fetched => ({
    ok: false,
    seen: "unknown",
    code: "receiver_bad_response",
    message,
  });
  const parsed = schema.safeParse(reply.result);
  if (!parsed.success) return unbelievable("the node's transaction cannot be read");
  if (!parsed.data) return { ok: false, seen: false };
  const { slot, blockTime, transaction, meta } = parsed.data;
  const decoded = decodeTransaction(transaction[0]);
  if (!decoded.ok) return unbelievable(`the node's transaction cannot be read: ${decoded.problem}`);
  const { message, signatures, keys } = decoded.transaction;
  const [signature, signer] = [signatures[0], keys[0]];
  const bearsId = signature && signer && encodeBase58(signature) === id;
  if (!bearsId || !(await verifySignature(signer, message, signature)))
    return unbelievable("the node's transaction is not the one of this id");
  return {
    ok: true,
    id,
    transaction: transaction[0],
    decoded: decoded.transaction,
    messageHash: await messageHash(message),
    slot,
    minedAt: typeof blockTime === "number" ? blockTime * 1000 : undefined,
    error: meta.err,
    fee: meta.fee === undefined ? undefined : BigInt(meta.fee),
  };
}
