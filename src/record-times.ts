// When things happened to a proof, by the store's clock: put into each record where it is written, so that no transition can
// leave it out and none costs another call.
import type { ProofRecord } from "./store/record.js";

/** The record as it is to be written now, over `before`. */
export function timed(record: ProofRecord, before: ProofRecord | undefined, now: number): ProofRecord {
  const { settlement, fence } = record;
  if (settlement === "claimed" && before?.fence !== fence) return { ...record, claimedAt: now };
  // Anew for a settlement that the chain had taken back: the money came now.
  if (settlement === "settled" && before?.settlement !== "settled") return { ...record, settledAt: now };
  return record;
}
