// What the chain knows of a transaction, and since when: nothing, a block that may still vanish, or what became of it. "The
// node knows no such id" is a state of that node and no evidence.
import * as z from "zod/mini";
import type { SolanaChain } from "./chain.js";
import { fetchTransaction } from "./fetch.js";
import type { NativeTransfer } from "./native-static.js";
import { minedBy, readChainTime } from "./native-time.js";
import { failureOf, type RpcFailure, type RpcOptions, type SolanaRpc } from "./rpc.js";
import { readStatuses, type Status } from "./statuses.js";

export type NativeState =
  | { readonly known: "not" }
  /** Its block is not confirmed. `minedAt`: epoch milliseconds by this server, no later than it was. */
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
  { rpc, now }: Pick<SolanaChain, "rpc" | "now">,
  transfer: Pick<NativeTransfer, "signature" | "messageHash">,
  options: RpcOptions,
): Promise<NativeState> {
  const read = await readStatuses(rpc, [transfer.signature], { ...options, history: true });
  if (!read.ok) return { known: "unreadable", ...read };
  const [status] = read.statuses;
  if (!status) return { known: "not" };
  const [found, chain] = await Promise.all([
    findBlock(rpc, transfer, status, options),
    readChainTime(rpc, status.slot, options),
  ]);
  if (found.known === "unreadable") return found;
  if (!chain.ok) return { known: "unreadable", ...chain };
  const { block, ...state } = found;
  return { ...state, minedAt: minedBy({ block, chain: chain.ms, now: now() }) };
}

type Timed<State> = State extends { minedAt: number } ? Omit<State, "minedAt"> & { readonly block: number } : never;
/** `block`: its time as the chain has it, epoch milliseconds. */
type Found = Timed<NativeState> | Extract<NativeState, { known: "unreadable" }>;

async function findBlock(
  rpc: SolanaRpc,
  { signature, messageHash }: Pick<NativeTransfer, "signature" | "messageHash">,
  { slot, level }: Status,
  options: RpcOptions,
): Promise<Found> {
  if (level !== "processed") {
    const fetched = await fetchTransaction(rpc, signature, options);
    if (fetched.ok) {
      if (fetched.messageHash !== messageHash) return unreadable("the node shows another transaction");
      const { minedAt: block, error } = fetched;
      return block === undefined ? noTime : { known: "mined", level, slot: fetched.slot, block, error };
    }
    if (fetched.seen !== false) return { known: "unreadable", ...fetched };
  }
  const before = await timeBefore(rpc, slot, options);
  return typeof before === "number" ? { known: "pending", slot, block: before } : before;
}

/**
 * A time that is no later than a block's which has none yet: that of the newest confirmed block, or its own. Too early is
 * safe, for then it counts as older than it is.
 */
async function timeBefore(rpc: SolanaRpc, slot: number, options: RpcOptions) {
  const confirmed = await rpc.call("getSlot", [{ commitment: "confirmed" }], options);
  if (!confirmed.ok) return { known: "unreadable", ...failureOf(confirmed) } as const;
  const newest = z.int().safeParse(confirmed.result);
  if (!newest.success) return unreadable("the node's slot cannot be read");
  const reply = await rpc.call("getBlockTime", [Math.min(newest.data, slot)], options);
  if (!reply.ok) return { known: "unreadable", ...failureOf(reply) } as const;
  const seconds = z.int().safeParse(reply.result);
  return seconds.success ? seconds.data * 1000 : noTime;
}

const unreadable = (message: string) =>
  ({ known: "unreadable", ok: false, code: "receiver_bad_response", message }) as const;

const noTime = unreadable("the node does not tell when the transaction was mined");
