// The background: takes what is due in batches, works on a bounded number at once, and never ends because something failed.
// A lease keeps two instances from working on one payment; it runs out by itself where an instance has died.
import type { Clock } from "../../clock.js";
import type { GatewayLogger } from "../parts.js";
import type { Payment } from "../payment.js";

export interface RoundsOptions {
  readonly clock: Clock;
  /** From 0 to 1: spreads the rounds of several instances. */
  readonly random: () => number;
  readonly logger: GatewayLogger;
  /** Milliseconds between two rounds, 1,000. */
  readonly intervalMs: number;
  takeDue(limit: number, leaseMs: number): Promise<readonly Payment[]>;
  /** False: the payment's chain did not answer. */
  look(payment: Payment): Promise<boolean>;
}

export interface Rounds {
  start(): void;
  /** Resolves when nothing is under way any more. */
  close(): Promise<void>;
}

const BATCH = 32;
const AT_ONCE = 8;
/** Longer than a batch can take: BATCH / AT_ONCE looks of ten seconds one after the other. */
const LEASE_MS = 60_000;
/** After so many looks without an answer a chain is left alone until the next round. */
const MOST_UNANSWERED = 3;

export function createRounds({ clock, random, logger, intervalMs, takeDue, look }: RoundsOptions): Rounds {
  let cancel: (() => void) | undefined;
  let running: Promise<void> | undefined;
  let closed = false;

  function schedule(ms: number): void {
    if (closed) return;
    cancel = clock.after(Math.round(ms * (0.75 + random() / 2)), () => {
      running = round().then(schedule);
    });
  }

  /** Gives the time until the next round. Never rejects. */
  async function round(): Promise<number> {
    let taken: readonly Payment[];
    try {
      taken = await takeDue(BATCH, LEASE_MS);
    } catch (error) {
      logger.error({ error: String(error) }, "the watcher could not take what is due");
      return 5 * intervalMs;
    }
    await lookAtAll(taken);
    return taken.length === BATCH ? 0 : intervalMs;
  }

  /** What a silent chain leaves unseen keeps its lease, and is due again when that is over. */
  async function lookAtAll(taken: readonly Payment[]): Promise<void> {
    const unanswered = new Map<string, number>();
    const waiting = [...taken];
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next && !closed; next = waiting.shift()) {
        const { network } = next;
        const silences = () => unanswered.get(network) ?? 0;
        if (silences() >= MOST_UNANSWERED) continue;
        if (!(await tryLook(next))) unanswered.set(network, silences() + 1);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  }

  async function tryLook(payment: Payment): Promise<boolean> {
    try {
      return await look(payment);
    } catch (error) {
      logger.error({ paymentId: payment.id, error: String(error) }, "a payment could not be followed");
      return true;
    }
  }

  return {
    start() {
      if (!closed && !cancel) schedule(0);
    },
    async close() {
      closed = true;
      cancel?.();
      await running;
    },
  };
}
