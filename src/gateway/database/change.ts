// How a payment changes: by compare-and-set on its version, along the allowed ways only, with what a new status entails.
import { NEXT_STATUSES, type Payment, type PaymentStatus } from "../payment.js";
import type { GatewayConnection } from "./connection.js";
import type { PaymentChange, Payments } from "./database.js";
import { findHolder } from "./insert.js";
import type { AppendEvent } from "./outbox.js";
import { fromRow, toColumns } from "./payment-row.js";
import { countSpending } from "./spending.js";
import { countReverted } from "./sponsored.js";
import type { GatewayWork, PaymentRow } from "./tables.js";

/** `Payments.change`. @throws Error for a way that no payment goes, which is a fault of the program. */
export function createChange(connection: GatewayConnection, append: AppendEvent): Payments["change"] {
  return async (payment, status, change) => {
    if (status !== payment.status && !NEXT_STATUSES[payment.status].includes(status)) {
      throw new Error(`a payment that is ${payment.status} never becomes ${status}`);
    }
    return connection.write(async (db, now) => {
      await requireFree(db, payment, change.proofId);
      const row = await db
        .updateTable("gateway_payments")
        .set({
          ...toColumns(change),
          ...heldProof(payment, status, change),
          status,
          version: payment.version + 1,
          updated_at: now,
        })
        .where("id", "=", payment.id)
        .where("version", "=", payment.version)
        // The version says so too; a caller that made its own copy of a payment cannot get around the check above.
        .where("status", "=", payment.status)
        .returningAll()
        .executeTakeFirst();
      if (!row) return undefined;
      const changed = fromRow(row);
      await countReverted(db, now, payment, change.pursuit);
      if (status === payment.status) return changed;
      const counted = (one: PaymentStatus) => one !== "failed" && one !== "expired";
      if (counted(status) !== counted(payment.status)) await countSpending(db, payment.id, counted(status));
      await append(db, changed, now);
      return changed;
    });
  };
}

/** @throws Error where another record holds the proof: whoever asks for it has to look first. */
async function requireFree(db: GatewayWork, { id }: Payment, proofId: PaymentChange["proofId"]): Promise<void> {
  const holder = typeof proofId === "string" ? await findHolder(db, "proof_held", proofId) : undefined;
  if (holder && holder.id !== id) throw new Error(`another record holds the proof that ${id} was to have`);
}

/** Invariant: a payment that has failed has granted nothing, so it lets go of its proof; every other one holds it. */
function heldProof(payment: Payment, status: PaymentStatus, { proofId }: PaymentChange): Partial<PaymentRow> {
  if (status === "failed") return { proof_held: null };
  return proofId === undefined || proofId === payment.proofId ? {} : { proof_held: proofId };
}
