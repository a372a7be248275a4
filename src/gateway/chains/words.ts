// How faults of a transfer are worded, on every chain.
import { formatDecimal } from "../../money.js";
import type { Network } from "../../networks.js";
import type { Asset } from "../chain.js";
import { type Fault, fault } from "../errors.js";
import type { GatewayLogger } from "../parts.js";

/** The chain of a network, its tokens, and who is told of what is wrong with them. */
interface TokenChain {
  readonly network: Network;
  readonly logger: Pick<GatewayLogger, "warn">;
}

/** A listed token that the chain does not have. It stays so, whoever asks: the log tells the operator, the answer what is there. */
export function notOnChain(
  { network, logger }: TokenChain,
  { symbol, address }: Pick<Asset, "symbol" | "address">,
  there: readonly Pick<Asset, "symbol">[],
): Fault {
  logger.warn({ network: network.id, asset: address }, "a token of this gateway is not on the chain of its node");
  const known = [network.native, ...there].map((one) => one.symbol).join(", ");
  return invalid(
    "INVALID_REQUEST",
    "asset",
    `expected one of ${known}: ${network.name} has no ${symbol} at ${address}`,
  );
}

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
