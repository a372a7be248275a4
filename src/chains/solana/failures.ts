// What settlements that failed on the chain have cost each settler, told to the seller at once and then once a minute at
// most: whoever makes payments fail on purpose must not be able to flood the log as well.
import type { Clock } from "../../clock.js";
import type { Logger } from "../../settings.js";

/** A transaction that a settler has paid the fee of, in vain. */
export interface Failure {
  readonly settler: string;
  /** What the chain has taken for it. */
  readonly lamports: bigint;
  readonly transaction: string;
  /** In the node's words. */
  readonly error: string;
}

export interface FailureLog {
  add(failure: Failure): void;
  /** Tells what has not been told yet. */
  close(): void;
}

/** Failures of one settler since the last line about him. */
interface Untold {
  readonly until: number;
  readonly cancel: () => void;
  count: number;
  lamports: bigint;
  last: Failure;
}

const INTERVAL_MS = 60_000;

export function createFailureLog(network: string, logger: Logger | undefined, clock: Clock): FailureLog {
  const untold = new Map<string, Untold>();

  function tell({ last, count, lamports }: Pick<Untold, "last" | "count" | "lamports">): void {
    const { settler, transaction, error } = last;
    const facts = { network, settler, count, lamports: lamports.toString(), transaction, error };
    logger?.error("settlements have failed on the chain, and their settler has paid for them", facts);
    const until = clock.now() + INTERVAL_MS;
    const cancel = clock.after(INTERVAL_MS, () => end(settler));
    untold.set(settler, { until, cancel, count: 0, lamports: 0n, last });
  }

  /** The minute is over. */
  function end(settler: string): void {
    const open = untold.get(settler);
    untold.delete(settler);
    open?.cancel();
    if (open && open.count > 0) tell(open);
  }

  return {
    add(failure) {
      // On Workers a timer dies with the request that set it, so the time counts as well.
      const open = untold.get(failure.settler);
      const last = failure;
      if (!open) return tell({ last, count: 1, lamports: failure.lamports });
      open.count += 1;
      open.lamports += failure.lamports;
      open.last = last;
      if (clock.now() >= open.until) end(failure.settler);
    },
    close() {
      for (const settler of [...untold.keys()]) end(settler);
      for (const { cancel } of untold.values()) cancel();
      untold.clear();
    },
  };
}
