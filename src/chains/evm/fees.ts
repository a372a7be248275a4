// What a settlement may cost in gas: EIP-1559 where the chain has it, room for six full blocks of rising base fee, a cap.
// Amounts are wei.
import type { Block } from "./answers.js";
import { readQuantity } from "./answers.js";
import type { Rpc, RpcAnswer, RpcCall, RpcOptions } from "./rpc.js";

export type Fees =
  | { readonly type: "eip1559"; readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }
  | { readonly type: "legacy"; readonly gasPrice: bigint };

/** 1,000 gwei: above it, gas costs more than any small payment is worth. */
export const DEFAULT_MAX_FEE_PER_GAS = 1_000_000_000_000n;

/** Asked beside the settlement's simulation. */
export const TIP_CALL: RpcCall = { method: "eth_maxPriorityFeePerGas", params: [] };
const PRICE_CALL: RpcCall = { method: "eth_gasPrice", params: [] };

/**
 * The fees for the next block; undefined where the node names no price, `too_high` where the base fee alone passes the cap.
 * Only a chain without EIP-1559, or a node that names no tip, is asked a second time: batches stay at ten calls or fewer,
 * which is what public nodes take.
 */
export async function feesFor(
  rpc: Rpc,
  head: Block,
  tip: RpcAnswer | undefined,
  cap: bigint,
  deadlineAt: number,
): Promise<Fees | "too_high" | undefined> {
  const base = head.baseFeePerGas ?? undefined;
  if (base === undefined) {
    const gasPrice = await askPrice(rpc, { deadlineAt });
    if (gasPrice === undefined) return undefined;
    return gasPrice > cap ? "too_high" : { type: "legacy", gasPrice };
  }
  const suggested = await suggestedTip(rpc, base, tip, { deadlineAt });
  if (suggested === undefined) return undefined;
  if (base > cap) return "too_high";
  const maxFeePerGas = least(base * 2n + suggested, cap);
  return { type: "eip1559", maxFeePerGas, maxPriorityFeePerGas: least(suggested, maxFeePerGas) };
}

/** The tip that the node suggests: its answer to `TIP_CALL`, or where it gives none what its price has above the base fee. */
export async function suggestedTip(
  rpc: Rpc,
  base: bigint,
  tip: RpcAnswer | undefined,
  options: RpcOptions,
): Promise<bigint | undefined> {
  const suggested = readQuantity(tip);
  if (suggested !== undefined) return suggested;
  const gasPrice = await askPrice(rpc, options);
  if (gasPrice === undefined) return undefined;
  return gasPrice > base ? gasPrice - base : 0n;
}

async function askPrice(rpc: Rpc, options: RpcOptions): Promise<bigint | undefined> {
  const reply = await rpc.batch([PRICE_CALL], options);
  return reply.ok ? readQuantity(reply.answers[0]) : undefined;
}

/** The most that one unit of gas can cost. */
export const feeCeiling = (fees: Fees): bigint => (fees.type === "legacy" ? fees.gasPrice : fees.maxFeePerGas);

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
