// What a transfer may cost on Solana: the compute units that it asks for, and the price of each. A node's word on what
// others pay is taken within bounds, so no node can make a transfer dear.
import * as z from "zod/mini";
import { feeLamports } from "./instructions.js";
import type { RpcOptions, SolanaRpc } from "./rpc.js";

const MICRO = 1_000_000n;

/** A simulation's units and a fifth: a little may change between the simulation and the block. */
export const unitLimit = (simulated: number): number => Math.ceil(simulated * 1.2) + 300;

/** Micro-lamports a unit where the chain is not crowded, or does not tell: some hundred lamports for a transfer. */
const LEAST_PRICE = 10_000n;
/** At most some 0.00005 SOL for a transfer that nobody named a fee for. */
const HIGHEST_PRICE = 1_000_000n;
/** The price that was enough for three of four. */
const ENOUGH = 0.75;

const feesSchema = z.array(z.object({ prioritizationFee: z.number().check(z.nonnegative()) }));

/**
 * Micro-lamports a unit, from what was paid lately to write the accounts (base58), from 10,000 to 1,000,000. Never rejects:
 * where the node does not tell, the least is taken, because a transfer without a good price is only slower.
 */
export async function readUnitPrice(rpc: SolanaRpc, written: readonly string[], options: RpcOptions): Promise<bigint> {
  const reply = await rpc.call("getRecentPrioritizationFees", [written], options);
  const parsed = reply.ok ? feesSchema.safeParse(reply.result) : undefined;
  const paid = (parsed?.success ? parsed.data : []).map(({ prioritizationFee }) => prioritizationFee);
  paid.sort((a, b) => a - b);
  const price = paid[Math.floor((paid.length - 1) * ENOUGH)] ?? 0;
  // No float reaches the fee: what is above the bound, `Infinity` included, is the bound.
  const bounded = price >= Number(HIGHEST_PRICE) ? HIGHEST_PRICE : BigInt(Math.floor(price));
  return bounded < LEAST_PRICE ? LEAST_PRICE : bounded;
}

/**
 * The unit price by which a whole fee (lamports) is spent on so many units, never more than it. Source: design §7.
 *
 * @example unitPriceOf(10_000n, 20_000) // 500_000n micro-lamports
 */
export const unitPriceOf = (priorityFee: bigint, units: number): bigint => (priorityFee * MICRO) / BigInt(units);

/** Lamports that a transfer with one signature costs. */
export const transferFee = (units: number, unitPrice: bigint): bigint =>
  feeLamports({ signatures: 1, units, unitPrice });
