// The claims of a paywall: every transition of a proof's record as a compare-and-set in the store, judged by the store's
// clock. What may follow what stands in `store/record.ts`; here it becomes atomic and bounded per payer.
import {
  type Beside,
  type Change,
  type Changed,
  type Changes,
  createChanges,
  type Found,
  type Keep,
} from "./changes.js";
import { systemClock } from "./clock.js";
import type { Context } from "./context.js";
import type { ErrorCode } from "./errors.js";
import { failure, failuresLedger, openClaim, revert, revertsLedger } from "./ledgers.js";
import { silentLogger } from "./logger.js";
import type { BoundProof } from "./proof.js";
import { judgeRepeat } from "./repeat.js";
import { type Asked, createResolutions, type Resolutions } from "./resolutions.js";
import type { Limits } from "./settings.js";
import { nextSettlementId } from "./settlement-id.js";
import type { ProofRecord, RequestPrint } from "./store/record.js";
import * as state from "./store/record.js";
import type { AtOnce, Store } from "./store/store.js";
import type { Unbegun } from "./unbegun.js";

/** The right to work on a proof: valid as long as the record still carries its fence. */
export interface Claim {
  readonly id: string;
  readonly fence: number;
  readonly record: ProofRecord;
}

export type ClaimResult =
  | { readonly ok: true; readonly claim: Claim }
  /** Another request was faster: look at the record again. */
  | { readonly ok: false; readonly code: "lost" }
  | { readonly ok: false; readonly code: ErrorCode };

export interface Claims extends Resolutions, Pick<Changes, "list"> {
  peek(id: string): Promise<Found>;
  /**
   * @param since the memory of the store that the proof was verified for; `lost` where another one has begun
   * @param replaces what the record waits for can never come, because this proof's own transaction is mined
   */
  claim(
    proof: BoundProof,
    print: RequestPrint,
    balance: bigint | undefined,
    since: number,
    replaces?: boolean,
  ): Promise<ClaimResult>;
  renew(claim: Claim): Promise<Claim | undefined>;
  /** `charge: false` counts the run against proof and payer; null = our own fault. False = too late for it. */
  release(claim: Claim, charge: false | null): Promise<boolean>;
  /** Invariant: resolves before the first byte of the settlement leaves; undefined = fence or lease is lost, send nothing. */
  settling(claim: Claim, begun: Begun): Promise<Claim | undefined>;
  sent(claim: Claim, transaction: string, expiry: state.ChainExpiry | undefined): Promise<Claim | undefined>;
  /**
   * Settled and delivering in one write. `exclusive`: the transaction may settle this proof only. Undefined = the fence is
   * lost or the transaction has settled another proof: deliver nothing.
   */
  settled(claim: Claim, paid: state.Paid, keep: Keep | undefined, exclusive: boolean): Promise<Claim | undefined>;
  refused(claim: Claim, code: ErrorCode, reason: string): Promise<boolean>;
  /** `reverted`: the chain took the settlement's gas and nothing else. */
  unknown(claim: Claim, transaction: string | undefined, reverted: boolean): Promise<boolean>;
  /** Keeps the answer of a paid run for a retry. */
  keep(claim: Claim, keep: Keep): Promise<boolean>;
  delivered(claim: Claim): Promise<boolean>;
  undelivered(claim: Claim): Promise<boolean>;
  /** The handler of a paid proof failed: its buyer may ask again, the delivery does not count. */
  withdraw(claim: Claim): Promise<boolean>;
  /**
   * Takes a settled, undelivered proof for one more delivery, by the kept answer or by one more run of the handler.
   * Undefined = the record has changed, look again. A payer whose runs fail too often waits, paid or not.
   */
  redeliver(id: string, print: RequestPrint, by: "kept" | "run"): Promise<Claim | "too_many_failures" | undefined>;
  /** Counts one more sending of a kept answer; undefined = the record has changed, look again. */
  replay(id: string, print: RequestPrint): Promise<Claim | undefined>;
  /** Takes a delivery off again of which no byte has left, now or when the store can be reached. Never rejects. */
  unbegun(claim: Claim): Promise<void>;
  /** Proofs whose outcome is worth looking up now, without the first `skip`. */
  due(limit: number, skip?: number): Promise<readonly string[]>;
}

/** A settlement that is about to be sent. */
export interface Begun {
  readonly settlementId: string;
  /** How long it may take. */
  readonly ms: number;
  /** The answer to give again should this process die. */
  readonly keep: Keep | undefined;
  /** What it takes to send it again should the chain take it back; absent = nobody could tell. */
  readonly signed: string | undefined;
}

/** Settlements that were mined in vain, for one payer in ten minutes: each has cost the settler gas (faults A35). */
const MAX_REVERTS = 3;

/**
 * @param atOnce the short way of a store in this process; without it the store is read, then written to
 * @param receiver who is asked what became of the money
 */
export function createClaims(
  store: Store,
  limits: Limits,
  atOnce?: AtOnce,
  receiver?: Asked,
  { clock = systemClock, logger = silentLogger }: Partial<Pick<Context, "clock" | "logger">> = {},
): Claims {
  const changes = createChanges(store, atOnce);
  const watched = receiver?.finality !== undefined;
  const { change } = changes;
  const takeOff = async (id: string, delivery: string) => {
    const { result } = await change(id, ({ record }) =>
      record?.deliveries.includes(delivery) ? { record: state.unbegun(record, delivery) } : undefined,
    );
    return result === "ok";
  };
  let unbegun: Unbegun | undefined;
  /** Rare, so it is loaded when it is needed. Never rejects. `mayCome`: the store may still write it. */
  const forget = async (id: string, delivery: string, mayCome: boolean): Promise<void> => {
    try {
      const { createUnbegun } = await import("./unbegun.js");
      unbegun ??= createUnbegun(takeOff, clock, logger);
      await unbegun.add(id, delivery, mayCome);
    } catch (error) {
      logger.warn("a delivery that never began stays counted", { proofId: id, error: String(error) });
    }
  };

  /**
   * Begins a delivery under an id of its own. Invariant: where the store did not say that it was written, it may have been, and no
   * byte leaves for it: then it does not count.
   */
  async function beginning(id: string, begin: (delivery: string) => Promise<Claim | undefined>) {
    const delivery = nextSettlementId();
    let begun: Claim | undefined;
    let answered = false;
    try {
      begun = await begin(delivery);
      answered = true;
      return begun;
    } finally {
      if (!begun) void forget(id, delivery, !answered);
    }
  }

  /** A change by the holder of a claim: nothing happens once the fence is lost. */
  async function byHolder(
    claim: Claim,
    next: (record: ProofRecord, now: number) => Change | undefined,
    beside: Beside = {},
  ): Promise<Claim | undefined> {
    const { result, record } = await change(
      claim.id,
      ({ record: current, now }) => (current && current.fence === claim.fence ? next(current, now) : undefined),
      beside,
    );
    return toClaim(claim.id, { result, record });
  }
  const held = async (...args: Parameters<typeof byHolder>) => (await byHolder(...args)) !== undefined;

  return {
    ...createResolutions(changes, receiver),
    peek: changes.peek,
    async claim(proof, print, balance, verifiedFor, replaces = false) {
      const trace: state.ProofTrace = { ...traceOf(proof), since: verifiedFor };
      const ledgers = [failuresLedger(trace), revertsLedger(trace)];
      let refusal: "lost" | ErrorCode = "lost";
      const { result, record } = await change(
        proof.id,
        ({ record: current, now, since }, [failures = 0, reverts = 0]) => {
          const earlier = current && state.settleLeases(current, now);
          refusal = "lost";
          if (since !== verifiedFor) return undefined;
          // A proof that can no longer be taken says nothing against another one of the same nonce.
          const isOver = earlier?.settlement === "expired" || (replaces && earlier?.settlement === "unknown");
          // Invariant: what has been delivered for a payment that the chain took back is not sold a second time for it.
          const over = isOver && earlier.digest !== proof.digest && earlier.delivery !== "delivered";
          if (earlier && earlier.settlement !== "released" && !over) return undefined;
          refusal = "too_many_failures";
          if ((earlier?.uncharged ?? 0) >= limits.unchargedRunsPerProof) return undefined;
          if (failures >= limits.unchargedRunsPerPayer || reverts >= MAX_REVERTS) return undefined;
          const next = state.claimed(earlier, { digest: proof.digest, print, trace, leaseUntil: now + limits.leaseMs });
          return { record: next, reserve: [openClaim(trace, limits, balance, now)] };
        },
        { ledgers },
      );
      if (result === "none") return { ok: false, code: refusal };
      if (result === "full") return { ok: false, code: "store_full" };
      if (result !== "ok" || !record) return { ok: false, code: "too_many_payments" };
      return { ok: true, claim: { id: proof.id, fence: record.fence, record } };
    },
    async renew(claim) {
      const changed = await change(claim.id, ({ record: current, now }) =>
        current?.fence === claim.fence && state.isLive(current, now)
          ? { record: state.renewed(current, Math.max(current.leaseUntil, now + limits.leaseMs)) }
          : undefined,
      );
      return toClaim(claim.id, changed);
    },
    // Invariant: what was found of a settlement once its lease was over is not undone by its late holder.
    release: (claim, charge) =>
      held(claim, (record, now) =>
        record.settlement !== "claimed" && !state.isLive(record, now)
          ? undefined
          : {
              record: state.released(record, { charge }),
              release: true,
              ...(charge === false && { reserve: [failure(record, now)] }),
            },
      ),
    settling(claim, { settlementId, ms, keep, signed }) {
      // Invariant: a claim whose lease is over counts as released, and its buyer may have been asked for another payment.
      const next = (record: ProofRecord, now: number): Change | undefined => {
        if (!state.isLive(record, now)) return undefined;
        const settlement = { settlementId, sentBy: receiver?.identity ?? receiver?.name ?? null, leaseUntil: now + ms };
        return { record: state.settling(record, settlement), keep, signed };
      };
      return byHolder(claim, next, { signed: signed !== undefined });
    },
    // Invariant: what was released since is judged anew, and what was decided since stays: its late holder may not send it any more.
    sent: (claim, transaction, expiry) =>
      byHolder(claim, (record) =>
        isUndecided(record) ? { record: state.sent(record, transaction, expiry ?? null) } : undefined,
      ),
    settled(claim, paid, keep, exclusive) {
      const owned = exclusive ? transactionKey(claim.record.trace.network, paid.transaction) : undefined;
      return beginning(claim.id, (delivery) => {
        const next = (record: ProofRecord, now: number): Change => ({
          record: state.delivering(state.settled(record, paid, watched), now + limits.leaseMs, delivery),
          keep,
          release: true,
        });
        return byHolder(claim, next, { owned });
      });
    },
    // A payer whose money is gone when it is to be taken has had a run for nothing, like one whose run failed.
    // Invariant: what comes after the lease makes no bill of what others were told is unknown. The chain decides then.
    refused: (claim, code, reason) =>
      held(claim, (record, now) =>
        record.leaseUntil <= now
          ? undefined
          : { record: state.refused(record, code, reason), release: true, reserve: [failure(record, now)] },
      ),
    unknown: (claim, transaction, reverted) =>
      held(claim, (record, now) =>
        isUndecided(record)
          ? {
              record: state.unknown(record, transaction ?? null),
              reserve: [failure(record, now), ...(reverted ? [revert(record, now)] : [])],
            }
          : undefined,
      ),
    keep: (claim, keep) => held(claim, (record) => ({ record, keep })),
    delivered: (claim) => held(claim, (record) => ({ record: state.delivered(record) })),
    undelivered: (claim) => held(claim, (record) => ({ record: state.undelivered(record) })),
    withdraw: (claim) =>
      held(claim, (record, now) => ({ record: state.withdrawn(record), reserve: [failure(record, now)] })),
    async redeliver(id, print, by) {
      const payer = by === "run" ? (await changes.peek(id)).record?.trace : undefined;
      let tooMany = false;
      const begun = await beginning(id, async (delivery) => {
        const changed = await change(
          id,
          ({ record: current, now }, [failures = 0]) => {
            if (!current || judgeRepeat(current, print, now).kind !== "goods") return undefined;
            tooMany = failures >= limits.unchargedRunsPerPayer;
            if (tooMany) return undefined;
            const next = state.delivering(state.settleLeases(current, now), now + limits.leaseMs, delivery);
            // A new run answers this request's headers, so its answer may only be kept for them.
            return by === "run" ? { record: state.rerun(next, print.headers), keep: null } : { record: next };
          },
          { ledgers: payer ? [failuresLedger(payer)] : [] },
        );
        return toClaim(id, changed);
      });
      return tooMany ? "too_many_failures" : begun;
    },
    replay: (id, print) =>
      beginning(id, async (delivery) => {
        const changed = await change(id, ({ record: current, now }) => {
          const repeat = current && judgeRepeat(current, print, now);
          return current && repeat?.kind === "replay" ? { record: state.replayed(current, delivery) } : undefined;
        });
        return toClaim(id, changed);
      }),
    async unbegun({ id, record }) {
      const delivery = record.deliveries.at(-1);
      if (delivery !== undefined) await forget(id, delivery, false);
    },
    due: changes.due,
    list: changes.list,
  };
}

const isUndecided = ({ settlement }: ProofRecord): boolean =>
  settlement === "claimed" || settlement === "settling" || settlement === "unknown";

const toClaim = (id: string, { result, record }: Changed): Claim | undefined =>
  result === "ok" && record ? { id, fence: record.fence, record } : undefined;

/** The key that a proof owns when a transaction settled it on a receiver's word alone. A hash on EVM chains has no case of its own. */
export const transactionKey = (network: string, transaction: string): string =>
  `transaction:${network}:${network.startsWith("eip155:") ? transaction.toLowerCase() : transaction}`;

/** What a lookup needs of a proof, before anything of it was sent. */
export const traceOf = (proof: BoundProof): state.ProofTrace => ({
  proofId: proof.id,
  network: proof.requirement.network,
  asset: proof.requirement.asset,
  payer: proof.payer,
  payTo: proof.requirement.payTo,
  amount: proof.requirement.amount.toString(),
  method: proof.requirement.method,
  nonce: proof.nonce,
  validBefore: proof.validBefore,
  transaction: null,
  expiry: null,
  received: null,
  // Invariant: a lookup may not be content with fewer blocks than the sale.
  ...(proof.requirement.method === "transaction" && { confirmations: proof.requirement.confirmations }),
});
