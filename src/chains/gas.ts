// Tells when a settler holds less than some settlements may cost, while it can still settle. Nothing is decided here: whoever
// cannot pay for one settlement is passed over where that settlement is planned.
import type { LowGas } from "../events.js";

/** A settler is to hold so many times what one settlement may cost. */
export const SETTLEMENTS = 20n;

/** The same settler is told of once in so long. */
const QUIET_MS = 60_000;

/** Whose balance it is. */
export type SettlerName = Pick<LowGas, "network" | "settler">;

export interface GasWatch {
  /** Takes note of a balance that had to be read anyway. `needed`: for some settlements. */
  seen(of: SettlerName, balance: bigint, needed: bigint): void;
  /** Is it worth reading a balance that nothing else needs? At most once a minute, and never where nobody listens. */
  asks(of: SettlerName): boolean;
  /** Gives the way to listen no more. */
  observe(tell: (notice: LowGas) => void): () => void;
}

export function createGasWatch(now: () => number): GasWatch {
  const observers = new Set<(notice: LowGas) => void>();
  const [toldAt, askedAt] = [new Map<string, number>(), new Map<string, number>()];

  /** True once a minute for each settler. */
  function isTime(last: Map<string, number>, { network, settler }: SettlerName): boolean {
    const key = `${network} ${settler}`;
    if (now() - (last.get(key) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return false;
    last.set(key, now());
    return true;
  }

  return {
    seen(of, balance, needed) {
      if (observers.size === 0 || balance >= needed || !isTime(toldAt, of)) return;
      for (const tell of observers) {
        try {
          tell({ network: of.network, settler: of.settler, balance, needed });
        } catch {
          // Safe because nothing depends on an observer: the settlement goes on.
        }
      }
    },
    asks: (of) => observers.size > 0 && isTime(askedAt, of),
    observe(tell) {
      observers.add(tell);
      return () => observers.delete(tell);
    },
  };
}
