// What building, sending and following transfers share about one Solana cluster, and how its faults are worded.
import type { AllowedExtension } from "../../chains/solana/chain.js";
import type { RpcFailure, SolanaRpc } from "../../chains/solana/rpc.js";
import type { Network } from "../../networks.js";
import type { Asset } from "../chain.js";
import { type Fault, fault } from "../errors.js";
import type { GatewayLogger } from "../parts.js";

export interface SolanaTransferChain {
  readonly network: Network;
  /** What may be moved there beside SOL. */
  readonly tokens: readonly Asset[];
  readonly rpc: SolanaRpc;
  /** What the operator allows each mint, beside the mints of the built-in table. */
  readonly allowed: ReadonlyMap<string, readonly AllowedExtension[]>;
  readonly logger: Pick<GatewayLogger, "warn" | "error">;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** The chain could not be asked. Its hosts are the operator's affair: they go into the log only. */
export function unreachable({ network, logger }: SolanaTransferChain, { code, message }: RpcFailure): Fault {
  logger.warn({ network: network.id, code, reason: message }, "the chain could not be asked");
  return fault("UNAVAILABLE", `${network.name} cannot be asked now; nothing was done`);
}
