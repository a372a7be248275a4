// How old what is on the chain is, by this server's clock. Clocks disagree: one behind the chain's would take an old
// transaction for a new one, so its age counts as well by what the chain itself has lived since.
import * as z from "zod/mini";
import { accountSchema, toAccount } from "./accounts.js";
import { failureOf, type RpcFailure, type RpcOptions, type SolanaRpc } from "./rpc.js";

/** The account in which the chain tells its programs the time. */
const CLOCK = "SysvarC1ock11111111111111111111111111111111";
/** Slot, the epoch's beginning, epoch, the next one's leaders, and then Unix seconds. */
const [CLOCK_SIZE, SECONDS_AT] = [40, 32];
/** The last second that a date can be made of. */
const LATEST = 8_640_000_000_000n;

const schema = z.object({ value: accountSchema });

/** Epoch milliseconds, by the chain, of the newest block of a node that is as far as `slot`. Never rejects. */
export async function readChainTime(
  rpc: SolanaRpc,
  slot: number,
  options: RpcOptions,
): Promise<{ readonly ok: true; readonly ms: number } | RpcFailure> {
  // Invariant: the node is not behind the block in question, or all would seem newer than it is.
  const config = { encoding: "base64", commitment: "processed", minContextSlot: slot };
  const reply = await rpc.call("getAccountInfo", [CLOCK, config], options);
  if (!reply.ok) return failureOf(reply);
  const parsed = schema.safeParse(reply.result);
  const data = parsed.success ? toAccount(parsed.data.value)?.data : undefined;
  const view = data?.length === CLOCK_SIZE && new DataView(data.buffer, data.byteOffset, data.byteLength);
  const seconds = view ? view.getBigInt64(SECONDS_AT, true) : -1n;
  if (seconds >= 0n && seconds <= LATEST) return { ok: true, ms: Number(seconds) * 1000 };
  return { ok: false, code: "receiver_bad_response", message: "the node's time cannot be read" };
}

/** The chain counts in whole seconds, and its newest block is some slots old when it is seen. */
const COARSE_MS = 2_000;

/**
 * When a block was made, in epoch milliseconds of this server and no later than it was: the earlier of what the block says
 * and of what the chain's own time leaves.
 */
export function minedBy({ block, chain, now }: Readonly<Record<"block" | "chain" | "now", number>>): number {
  const age = Math.max(0, chain - block) + COARSE_MS;
  return Math.min(block, now - age);
}

/** Was a block surely made before that moment? Blocks tell whole seconds. */
export const isBefore = (minedAt: number, since: number): boolean => minedAt + 1_000 <= since;
