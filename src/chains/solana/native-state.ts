// What the chain knows of a transaction, and since when: nothing, a block that may still vanish, or what became of it. "The
// node knows no such id" is a state of that node and no evidence.
import * as z from "zod/mini";
import { type FetchedTransaction, fetchTransaction } from "./fetch.js";
import type { NativeTransfer } from "./native-static.js";
import { failureOf, type RpcFailure, type RpcOptions, type SolanaRpc } from "./rpc.js";
import { readStatuses } from "./statuses.js";

export type NativeState =
  | { readonly known: "not" }
  /** `minedAt`: no later than its block, epoch milliseconds; that block is not confirmed. */
  | { readonly known: "pending"; readonly slot: number; readonly minedAt: number }
  /** `error`: why it failed in its block; null where it succeeded. */
  | {
      readonly known: "mined";
      readonly level: "confirmed" | "finalized";
      readonly slot: number;
      readonly minedAt: number;
      readonly error: unknown;
    }
  | ({ readonly known: "unreadable" } & RpcFailure);

/** Asks for a transaction by its id, the history included. Never rejects. */
export async function readNativeState(
  rpc: SolanaRpc,
  { signature, messageHash }: Pick<NativeTransfer, "signature" | "messageHash">,
  options: RpcOptions,
): Promise<NativeState> {
  const read = await readStatuses(rpc, [signature], { ...options, history: true });
  if (!read.ok) return { known: "unreadable", ...read };
  const [status] = read.statuses;
  if (!status) return { known: "not" };
  const { slot, level } = status;
  if (level !== "processed") {
    const fetched = await fetchTransaction(rpc, signature, options);
    if (fetched.ok && fetched.messageHash !== messageHash) return unreadable("the node shows another transaction");
    if (fetched.ok) return minedState(fetched, level);
    if (fetched.seen !== false) return { known: "unreadable", ...fetched };
  }
  const before = await timeBefore(rpc, slot, options);
  return typeof before === "number" ? { known: "pending", slot, minedAt: before } : before;
}

const minedState = ({ slot, minedAt, error }: FetchedTransaction, level: "confirmed" | "finalized"): NativeState =>
  minedAt === undefined ? noTime : { known: "mined", level, slot, minedAt, error };

/**
 * A time that is no later than a block's which has none yet: that of the newest confirmed block, or its own. Too early is
 * safe, for then it counts as older than it is.
 */
async function timeBefore(rpc: SolanaRpc, slot: number, options: RpcOptions): Promise<number | NativeState> {
  const confirmed = await rpc.call("getSlot", [{ commitment: "confirmed" }], options);
  if (!confirmed.ok) return { known: "unreadable", ...failureOf(confirmed) };
  const newest = z.int().safeParse(confirmed.result);
  if (!newest.success) return unreadable("the node's slot cannot be read");
  const reply = await rpc.call("getBlockTime", [Math.min(newest.data, slot)], options);
  if (!reply.ok) return { known: "unreadable", ...failureOf(reply) };
  const seconds = z.int().safeParse(reply.result);
  return seconds.success ? seconds.data * 1000 : noTime;
}

const unreadable = (message: string): NativeState => ({
  known: "unreadable",
  ok: false,
  code: "receiver_bad_response",
  message,
});

const noTime = unreadable("the node does not tell when the transaction was mined");
