// Tells the rest of this process of every payment that it writes: who waits for one is woken, metrics count, events are sent.
// Only a hint: other instances write too, so nobody may rely on hearing of a change.
import type { GatewayDatabase } from "../database/database.js";
import type { GatewayLogger } from "../parts.js";
import type { Payment, PaymentStatus } from "../payment.js";

/** A payment after it was written. */
export interface PaymentWritten {
  readonly payment: Payment;
  /** Undefined where the record is new. */
  readonly before: PaymentStatus | undefined;
}

export type WrittenListener = (written: PaymentWritten) => void;

export interface AnnouncedDatabase {
  /** The same database; what is written through it is announced. */
  readonly database: GatewayDatabase;
  /** Returns what ends it. */
  onChange(listener: WrittenListener): () => void;
}

/**
 * The database with its writes to payments announced, each after it was committed.
 *
 * @example
 * const { database, onChange } = announceChanges(await openDatabase(settings.database), logger);
 * onChange(({ payment, before }) => payment.status !== before && counted.inc({ status: payment.status }));
 */
export function announceChanges(database: GatewayDatabase, logger: Pick<GatewayLogger, "error">): AnnouncedDatabase {
  const listeners = new Set<WrittenListener>();
  const announce = (written: PaymentWritten): void => {
    for (const listener of [...listeners]) {
      try {
        listener(written);
      } catch (error) {
        // Invariant: what is committed is not undone by somebody who only wanted to hear of it.
        logger.error({ paymentId: written.payment.id, error: String(error) }, "a listener of payments failed");
      }
    }
  };
  const { payments } = database;
  const announced: GatewayDatabase["payments"] = {
    ...payments,
    async insert(payment, together) {
      const inserted = await payments.insert(payment, together);
      if (inserted.outcome === "ok") announce({ payment: inserted.payment, before: undefined });
      return inserted;
    },
    async change(payment, status, change) {
      const changed = await payments.change(payment, status, change);
      if (changed) announce({ payment: changed, before: payment.status });
      return changed;
    },
  };
  return {
    database: { ...database, payments: announced },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
