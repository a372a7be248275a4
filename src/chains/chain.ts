// One chain as `local()` works on it: the verbs of a receiver behind which a chain's own library stands. Each family has an
// `open.ts` that makes one; `local()` loads it when a chain is first needed.
import type { Readiness, Receiver } from "../receive/receiver.js";
import type { Requirement } from "../requirement.js";

export interface OpenedChain extends Pick<Receiver, "verify" | "settle" | "lookup"> {
  finality: NonNullable<Receiver["finality"]>;
  /** Address of the first settler: who sends settlements, or signs them as fee payer. */
  readonly settler: string;
  ready(requirements: readonly Requirement[], signal: AbortSignal): Promise<Readiness>;
  identify: NonNullable<Receiver["identify"]>;
  /** Absent where wallets make their own transactions. */
  draft?: NonNullable<Receiver["draft"]>;
  close(): void;
}
