// Keeps a claim alive while its work goes on. When the store says the fence is lost, the holder knows at once.
import type { Claim, Claims } from "./claims.js";
import type { Clock } from "./clock.js";
import type { Context } from "./context.js";
import type { Logger } from "./settings.js";

export interface Lease {
  /** No further renewals. */
  stop(): void;
  /** Has another process taken the proof over? */
  readonly lost: boolean;
}

/** Renews at a third of the lease until stopped, lost, or `until` (epoch milliseconds) has passed. */
export function keepAlive(
  claim: Claim,
  { claims, clock, logger }: { readonly claims: Claims; readonly clock: Clock; readonly logger: Logger },
  leaseMs: number,
  until: number,
): Lease {
  let stopped = false;
  let lost = false;
  let cancel = () => {};

  const renew = async () => {
    try {
      const renewed = await claims.renew(claim);
      if (!renewed && !stopped) lost = true;
    } catch (error) {
      // The lease may still be renewed in time; if not, the fence decides.
      logger.warn("a lease could not be renewed", { proofId: claim.id, error: String(error) });
    }
    next();
  };
  const next = () => {
    if (!stopped && !lost && clock.now() < until) cancel = clock.after(leaseMs / 3, () => void renew());
  };
  next();
  return {
    stop() {
      stopped = true;
      cancel();
    },
    get lost() {
      return lost;
    },
  };
}

/**
 * May the holder still deliver what it got the right to deliver after `since`? A process that was stopped for longer than its lease
 * knows nothing of it, and another one may have delivered meanwhile: then the store is asked, and only then.
 */
export async function isStillHeld(
  claim: Claim,
  since: number,
  { claims, clock, logger, settings }: Pick<Context, "claims" | "clock" | "logger" | "settings">,
): Promise<boolean> {
  const passed = clock.now() - since;
  // A clock that has gone back tells nothing either.
  if (passed >= 0 && passed < settings.limits.leaseMs) return true;
  try {
    return (await claims.renew(claim)) !== undefined;
  } catch (error) {
    logger.warn("the right to deliver could not be looked up", { proofId: claim.id, error: String(error) });
    return false;
  }
}
