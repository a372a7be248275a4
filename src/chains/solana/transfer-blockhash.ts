// The newest blockhash that a transfer is made with, and how long it will be taken.
import * as z from "zod/mini";
import { decodeAddress } from "./base58.js";
import { failureOf, type RpcFailure, type RpcOptions, type SolanaRpc } from "./rpc.js";

export interface FreshBlockhash {
  readonly ok: true;
  /** Base58. */
  readonly blockhash: string;
  /** How far the node was: what is made with the blockhash lands in a later slot, or never. */
  readonly slot: number;
  /** The last block height in which it can land. */
  readonly lastValidBlockHeight: number;
}

const schema = z.object({
  context: z.object({ slot: z.int() }),
  value: z.object({
    blockhash: z.string().check(z.refine((text) => decodeAddress(text) !== undefined)),
    lastValidBlockHeight: z.int().check(z.positive()),
  }),
});

/** Asks at `confirmed`: a newer blockhash may vanish with its fork, and the transfer with it. Never rejects. */
export async function readFreshBlockhash(rpc: SolanaRpc, options: RpcOptions): Promise<FreshBlockhash | RpcFailure> {
  const reply = await rpc.call("getLatestBlockhash", [{ commitment: "confirmed" }], options);
  if (!reply.ok) return failureOf(reply);
  const parsed = schema.safeParse(reply.result);
  if (!parsed.success) {
    return { ok: false, code: "receiver_bad_response", message: "the node's latest blockhash cannot be read" };
  }
  const { context, value } = parsed.data;
  return { ok: true, slot: context.slot, ...value };
}
