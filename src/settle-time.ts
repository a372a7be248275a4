// How long one settlement may take: what its network is given, and the blocks that its price wants to see on top.
import { findNetwork } from "./networks.js";
import type { Receiver } from "./receive/receiver.js";
import type { Requirement } from "./requirement.js";

/** Nobody holds a request open for longer than this for the sake of confirmations; what is left is found by the retry. */
const MOST_EXTRA_MS = 60_000;

/** Milliseconds, the chain wait included. */
export function settleTime(receiver: Pick<Receiver, "settleMs">, requirement: Requirement): number {
  const own = receiver.settleMs(requirement.network);
  if (requirement.method !== "transaction") return own;
  const blockMs = findNetwork(requirement.network)?.blockMs ?? 0;
  return own + Math.min(MOST_EXTRA_MS, (requirement.confirmations - 1) * blockMs);
}
