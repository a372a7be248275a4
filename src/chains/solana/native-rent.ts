// What an account without data must hold to exist: a smaller transfer to an address that holds nothing fails.
import * as z from "zod/mini";
import { failureOf, type RpcFailure, type RpcOptions, type SolanaRpc } from "./rpc.js";

export type RentExemption = { readonly ok: true; readonly lamports: bigint } | RpcFailure;

const schema = z.int().check(z.nonnegative());

/** Asks the chain, for the rate may change. Never rejects. */
export async function readRentExemption(rpc: SolanaRpc, options: RpcOptions = {}): Promise<RentExemption> {
  const reply = await rpc.call("getMinimumBalanceForRentExemption", [0], options);
  if (!reply.ok) return failureOf(reply);
  const parsed = schema.safeParse(reply.result);
  if (parsed.success) return { ok: true, lamports: BigInt(parsed.data) };
  return { ok: false, code: "receiver_bad_response", message: "the node's rent exemption cannot be read" };
}
