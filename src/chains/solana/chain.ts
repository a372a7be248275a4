// What verification, settlement and lookup share about one Solana cluster: its RPC, its settlers, and the operator's choices.
import { systemClock } from "../../clock.js";
import type { Logger } from "../../settings.js";
import type { GasWatch } from "../gas.js";
import type { FailureLog } from "./failures.js";
import type { SolanaRpc } from "./rpc.js";
import type { SolanaAccount } from "./settlers.js";
import type { StatusWatch } from "./statuses.js";
import type { StaticTerms } from "./terms.js";

/** An extension of a Token-2022 mint that its seller may take the risk of. */
export type AllowedExtension = "transfer-fee" | "transfer-hook" | "permanent-delegate";

/** What a payment may cost the fee payer at most. */
export type Caps = Pick<StaticTerms, "maxComputeUnits" | "maxUnitPrice" | "maxTotalFeeLamports">;

export interface SolanaChain {
  /** CAIP-2. */
  readonly network: string;
  readonly rpc: SolanaRpc;
  readonly statuses: StatusWatch;
  readonly failures: FailureLog;
  /** By address; the first one stands in the offers. */
  readonly settlers: ReadonlyMap<string, SolanaAccount>;
  readonly caps: Caps;
  /** What the seller allows each mint, beside the mints of the built-in table. */
  readonly allowed: ReadonlyMap<string, readonly AllowedExtension[]>;
  /** Who is told what the settlers hold. */
  readonly gas?: GasWatch;
  readonly logger: Logger | undefined;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

export const systemNow = systemClock.now;

/** What every read needs; a lookup needs nothing more. */
export type ChainReader = Pick<SolanaChain, "rpc">;
