// What building, sending and following transfers share about one EVM chain.
import type { Rpc, RpcFault } from "../../chains/evm/rpc.js";
import type { Network } from "../../networks.js";
import type { Asset } from "../chain.js";
import { type Fault, fault } from "../errors.js";
import type { GatewayLogger } from "../parts.js";

export interface EvmTransferChain {
  readonly network: Network;
  /** What may be moved there beside the native currency. */
  readonly tokens: readonly Asset[];
  readonly chainId: number;
  /** Milliseconds between blocks, roughly. */
  readonly blockMs: number;
  /** Over all URLs. */
  readonly rpc: Rpc;
  /** Over each URL by itself. */
  readonly each: readonly Rpc[];
  /** Blocks that make a payment `confirmed`, its own included. */
  readonly confirmations: number;
  /** Wei: above it, gas is not bought. */
  readonly maxFeePerGas: bigint | undefined;
  readonly finality: Finality;
  readonly scans: Scans;
  readonly logger: Pick<GatewayLogger, "warn" | "error">;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** What has been seen of the chain's `finalized` tag. */
export interface Finality {
  hasTag: boolean;
}

/** How far blocks have been read for a nonce, by sender and nonce: bounded, and no more than a saving of time. */
export interface Scans {
  get(key: string): bigint | undefined;
  set(key: string, next: bigint): void;
  delete(key: string): void;
}

const MAX_SCANS = 1_000;

export function createScans(): Scans {
  const known = new Map<string, bigint>();
  return {
    get: (key) => known.get(key),
    set(key, next) {
      const [oldest] = known.keys();
      if (!known.has(key) && known.size >= MAX_SCANS && oldest !== undefined) known.delete(oldest);
      known.set(key, next);
    },
    delete: (key) => void known.delete(key),
  };
}

/** The chain could not be asked. Its hosts are the operator's affair: they go into the log only. */
export function unreachable({ network, logger }: EvmTransferChain, { code, message }: Omit<RpcFault, "ok">): Fault {
  logger.warn({ network: network.id, code, reason: message }, "the chain could not be asked");
  return fault("UNAVAILABLE", `${network.name} cannot be asked now; nothing was done`);
}
