// How faults of a transfer are worded, on every chain.
import { formatDecimal } from "../../money.js";
import type { Asset } from "../chain.js";
import { type Fault, fault } from "../errors.js";

/** The field of a request that is to blame. */
export function invalid(
  code: "INVALID_REQUEST" | "INVALID_RECIPIENT",
  path: "recipientAddress" | "walletAddress" | "amount" | "asset" | "priorityFee",
  message: string,
): Fault {
  return fault(code, `${path}: ${message}`, { details: [{ path, message }] });
}

/** An amount as people read it: `0.00089088 SOL`. */
export const inWords = (amount: bigint, { decimals, symbol }: Pick<Asset, "decimals" | "symbol">): string =>
  `${formatDecimal(amount, decimals)} ${symbol}`;
