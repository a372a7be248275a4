// One change of a proof's record as one commit: read, decide, write, and again when somebody else was faster. Record, kept
// answer and what they reserve or set free change together or not at all.
import { PaywallError } from "./errors.js";
import type { KeptAnswer } from "./kept.js";
import { claimsLedger } from "./ledgers.js";
import type { ProofRecord } from "./store/record.js";
import { dueAt, keepUntil } from "./store/record.js";
import type { AtOnce, Reservation, Snapshot, Store, StoreValue, Transaction } from "./store/store.js";

/** What the store knows of a proof. */
export interface Found {
  readonly record: ProofRecord | undefined;
  readonly kept: KeptAnswer | undefined;
  readonly now: number;
  /** Store time at which the store's memory begins. */
  readonly since: number;
}

/** An answer to keep, and for how long after it was written. */
export interface Keep {
  readonly answer: KeptAnswer;
  readonly ms: number;
}

/** What is to be written. */
export interface Change {
  readonly record: ProofRecord;
  /** null takes the kept answer away. */
  readonly keep?: Keep | null | undefined;
  readonly reserve?: readonly Reservation[];
  readonly release?: boolean;
}

const PREFIX = "proof:";
const DAY = 86_400_000;
/** Conflicts in a row after which the store itself must be at fault. */
const MAX_TRIES = 50;

export interface Changed {
  readonly result: "ok" | "none" | "full" | "too_many" | "over_sum";
  readonly record: ProofRecord | undefined;
}

export interface Changes {
  peek(id: string): Promise<Found>;
  /**
   * Reads, decides, commits; again on a conflict. `decide` answers undefined when there is nothing to write.
   *
   * @param owned a key that this proof has to own from this change on, and no other proof
   */
  change(
    id: string,
    decide: (found: Found, members: readonly number[]) => Change | undefined,
    ledgers?: readonly string[],
    owned?: string,
  ): Promise<Changed>;
  /** Proofs whose outcome is worth looking up now. */
  due(limit: number): Promise<readonly string[]>;
}

/** @param atOnce the short way of a store in this process; without it the store is read, then written to */
export function createChanges(store: Store, atOnce?: AtOnce): Changes {
  return {
    async peek(id) {
      try {
        return toFound(await store.read(keysOf(id)));
      } catch (cause) {
        throw unavailable(cause);
      }
    },
    async change(id, decide, ledgers = [], owned) {
      const keys = keysOf(id, owned);
      let record: ProofRecord | undefined;
      let next: Change | undefined;
      const prepare = (snapshot: Snapshot): Transaction | undefined => {
        const found = toFound(snapshot);
        const owner = snapshot.entries[2];
        record = found.record;
        next = owner && owner.value !== id ? undefined : decide(found, snapshot.members);
        return next && toTransaction(keys, next, snapshot, id);
      };
      try {
        for (let tries = 0; tries < MAX_TRIES; tries += 1) {
          const result = atOnce ? atOnce(keys, ledgers, prepare) : await tryOnce(store, keys, ledgers, prepare);
          if (result === "conflict") continue;
          return { result, record: result === "ok" ? next?.record : record };
        }
      } catch (cause) {
        throw unavailable(cause);
      }
      throw new PaywallError("store_unavailable", { got: `${MAX_TRIES} conflicts in a row` });
    },
    async due(limit) {
      const keys = await store.due(limit).catch((cause: unknown) => Promise.reject(unavailable(cause)));
      return keys.filter((key) => key.startsWith(PREFIX)).map((key) => key.slice(PREFIX.length));
    },
  };
}

/** The record, the kept answer, and the key to own if any. */
const keysOf = (id: string, owned?: string): Keys =>
  owned === undefined ? [PREFIX + id, `answer:${id}`] : [PREFIX + id, `answer:${id}`, owned];

type Keys = readonly [record: string, answer: string, ...owned: string[]];

const toFound = ({ now, since, entries: [record, kept] }: Snapshot): Found => ({
  record: record?.value as ProofRecord | undefined,
  kept: kept?.value as KeptAnswer | undefined,
  now,
  since,
});

async function tryOnce(
  store: Store,
  keys: Keys,
  ledgers: readonly string[],
  prepare: (snapshot: Snapshot) => Transaction | undefined,
) {
  const transaction = prepare(await store.read(keys, ledgers));
  return transaction ? store.commit(transaction) : "none";
}

function toTransaction(keys: Keys, change: Change, { now, since, entries }: Snapshot, id: string): Transaction {
  const { record, keep, reserve = [], release } = change;
  const [recordKey, answerKey, owned] = keys;
  const due = dueAt(record);
  const write = {
    key: recordKey,
    version: entries[0]?.version ?? 0,
    value: record as StoreValue,
    expiresAt: keepUntil(record, now),
    ...(due !== undefined && { dueAt: due }),
  };
  const [, answer] = entries;
  const keepWrite = (keep || (keep === null && answer)) && {
    key: answerKey,
    version: answer?.version ?? 0,
    value: keep ? (keep.answer as StoreValue) : null,
    expiresAt: now + (keep?.ms ?? 0),
    evictable: true,
  };
  const ownedWrite = owned !== undefined && {
    key: owned,
    version: entries[2]?.version ?? 0,
    value: id,
    expiresAt: now + DAY,
    always: true,
  };
  return {
    since,
    writes: [write, ...(keepWrite ? [keepWrite] : []), ...(ownedWrite ? [ownedWrite] : [])],
    reserve,
    release: release ? [{ ledger: claimsLedger(record.trace), member: id }] : [],
  };
}

/** A store that fails has decided nothing: the guard refuses. */
const unavailable = (cause: unknown) => new PaywallError("store_unavailable", {}, { cause });
