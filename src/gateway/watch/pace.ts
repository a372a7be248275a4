// When the watcher looks at a payment again: at the chain's pace while it is fresh, ever more rarely as it grows old.
import type { GatewayNetwork } from "../chain.js";
import type { Payment } from "../payment.js";

/** No chain is asked for one payment more often than this. */
const QUICKEST_MS = 1_000;
/** Money that is on its way is looked for at least this often. */
const SLOWEST_MS = 5 * 60_000;
/** A payment is looked at again when it is an eighth older. */
const AGES = 8;

/** Whether a caller signs what was built for him is his to say, and he may build much: he who asks is told at once anyway. */
const UNSIGNED = { quickestMs: 3_000, ages: 4 } as const;

/**
 * Epoch milliseconds, by the database's clock, of the next look at a payment that is not final.
 *
 * @example nextLookAt({ status: "submitted", flow: "send", createdAt: 0 }, network, 80_000) // 90_000
 */
export function nextLookAt(
  { status, flow, createdAt }: Pick<Payment, "status" | "flow" | "createdAt">,
  { network }: Pick<GatewayNetwork, "network">,
  now: number,
): number {
  const age = Math.max(0, now - createdAt);
  const isUnsigned = flow === "build_send" || flow === "build_receive";
  // Without an upper bound: who never signs costs a handful of looks a year, and may still sign.
  if (isUnsigned && (status === "created" || status === "expired")) {
    return now + Math.max(Math.floor(age / UNSIGNED.ages), UNSIGNED.quickestMs, network.blockMs);
  }
  const quickest = Math.max(QUICKEST_MS, network.blockMs);
  return now + Math.min(Math.max(Math.floor(age / AGES), quickest), SLOWEST_MS);
}

/** Milliseconds between two looks of somebody who waits for a payment. */
export const waitPace = ({ network }: Pick<GatewayNetwork, "network">): number =>
  Math.min(Math.max(Math.floor(network.blockMs / 2), 250), 2_000);
