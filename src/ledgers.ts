// What a payer may have open or may have cost without paying: one ledger each in the store, summed and counted there.
import type { Limits } from "./settings.js";
import type { ProofRecord, ProofTrace } from "./store/record.js";
import type { Reservation } from "./store/store.js";

const TEN_MINUTES = 600_000;

export const claimsLedger = ({ network, asset, payer }: ProofTrace) => `claims:${network}:${asset}:${payer}`;
export const revertsLedger = ({ payer }: ProofTrace) => `reverts:${payer}`;
export const failuresLedger = ({ payer }: ProofTrace) => `failures:${payer}`;

/** Open claims of a payer: bounded in number, and in sum by what the payer holds. */
export function openClaim(trace: ProofTrace, limits: Limits, balance: bigint | undefined, now: number): Reservation {
  return {
    ledger: claimsLedger(trace),
    member: trace.proofId,
    amount: trace.amount,
    maxMembers: limits.openClaimsPerPayer,
    ...(balance !== undefined && { maxSum: balance.toString() }),
    expiresAt: Math.max(trace.validBefore * 1000, now) + TEN_MINUTES,
  };
}

/** A run of the handler that was not charged. */
export const failure = (record: ProofRecord, now: number) => strike(failuresLedger(record.trace), record, now);
/** A settlement that was mined in vain, at the settler's cost. */
export const revert = (record: ProofRecord, now: number) => strike(revertsLedger(record.trace), record, now);

function strike(ledger: string, record: ProofRecord, now: number): Reservation {
  return {
    ledger,
    member: `${record.trace.proofId}:${record.fence}`,
    amount: "0",
    maxMembers: Number.MAX_SAFE_INTEGER,
    expiresAt: now + TEN_MINUTES,
  };
}
