// What sending a local transaction takes, on whichever chain, and what comes of it.
import type { BuiltOrder } from "./local-built.js";
import type { SignedBytes } from "./local-error.js";
import type { LocalOrder } from "./local-order.js";

export interface LocalJob {
  readonly order: LocalOrder;
  /** Asks the gateway for the transaction; another one each time only where `mayRebuild`. */
  readonly build: () => Promise<BuiltOrder>;
  /** Nobody else has the key under which it is built, so nobody can have sent what was built before. */
  readonly mayRebuild: boolean;
  /** Atomic units of the native currency; undefined = by the caller's own node. */
  readonly maxFee: bigint | undefined;
  /** Epoch milliseconds. */
  readonly deadlineAt: number;
  readonly signal: AbortSignal | undefined;
}

/** It stands in a block and has succeeded there, by the caller's own node. */
export interface Landed extends SignedBytes {
  readonly built: BuiltOrder;
}
