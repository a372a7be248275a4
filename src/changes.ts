// One change of a proof's record as one commit: read, decide, write, and again when somebody else was faster. Record, kept
// answer and what they reserve or set free change together or not at all.
import { createCommits, unavailable } from "./commits.js";
import type { KeptAnswer } from "./kept.js";
import { claimsLedger } from "./ledgers.js";
import { timed } from "./record-times.js";
import type { ProofRecord } from "./store/record.js";
import { dueAt, keepUntil } from "./store/record.js";
import type { AtOnce, Page, Reservation, Snapshot, Store, StoreValue, Transaction, Write } from "./store/store.js";

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
  /** What it takes to send the settlement again (`signed.ts`); null takes it away. */
  readonly signed?: string | null | undefined;
  readonly reserve?: readonly Reservation[];
  readonly release?: boolean;
}

const PREFIX = "proof:";
const DAY = 86_400_000;
/** The chain's clock may be behind, and then takes a proof a little longer. */
const AFTER_END_MS = 60_000;

export interface Changed {
  readonly result: "ok" | "none" | "full" | "too_many" | "over_sum";
  readonly record: ProofRecord | undefined;
}

/** What a change reads beside the record and the kept answer. */
export interface Beside {
  readonly ledgers?: readonly string[];
  /** A key that this proof has to own from this change on, and no other proof. */
  readonly owned?: string | undefined;
  /** The change may write or take away what it takes to send the settlement again. */
  readonly signed?: boolean;
}

export interface Changes {
  peek(id: string): Promise<Found>;
  /**
   * Reads, decides, commits; again on a conflict. `decide` answers undefined when there is nothing to write.
   */
  change(
    id: string,
    decide: (found: Found, members: readonly number[]) => Change | undefined,
    beside?: Beside,
  ): Promise<Changed>;
  /** What it takes to send a settlement again. */
  signed(id: string): Promise<string | undefined>;
  /** Proofs whose outcome is worth looking up now, without the first `skip`. */
  due(limit: number, skip?: number): Promise<readonly string[]>;
  /** Records, the last that was claimed first, from `cursor` on; as they stand, their leases undecided. */
  list(cursor: string | undefined, limit: number): Promise<RecordPage>;
}

export interface RecordPage extends Pick<Page, "now" | "next"> {
  readonly records: readonly ProofRecord[];
}

/** @param atOnce the short way of a store in this process; without it the store is read, then written to */
export function createChanges(store: Store, atOnce?: AtOnce): Changes {
  const commits = createCommits(store, atOnce);
  return {
    peek: async (id) => toFound(await commits.read(keysOf(id))),
    async change(id, decide, { ledgers = [], owned, signed = false } = {}) {
      const keys = keysOf(id, owned, signed);
      let record: ProofRecord | undefined;
      let next: Change | undefined;
      const prepare = (snapshot: Snapshot): Transaction | undefined => {
        const found = toFound(snapshot);
        const owner = owned === undefined ? undefined : snapshot.entries[keys.indexOf(owned)];
        record = found.record;
        next = owner && owner.value !== id ? undefined : decide(found, snapshot.members);
        return next && toTransaction(keys, next, snapshot, { id, owned });
      };
      const result = await commits.attempt(keys, ledgers, prepare);
      return { result, record: result === "ok" ? next?.record : record };
    },
    async signed(id) {
      const { entries } = await commits.read([signedKey(id)]);
      return typeof entries[0]?.value === "string" ? entries[0].value : undefined;
    },
    async due(limit, skip) {
      const keys = await store.due(limit, skip).catch((cause: unknown) => Promise.reject(unavailable(cause)));
      return keys.filter((key) => key.startsWith(PREFIX)).map((key) => key.slice(PREFIX.length));
    },
    async list(cursor, limit) {
      const { now, next, entries } = await store.list(cursor, limit).catch((cause: unknown) => {
        throw unavailable(cause);
      });
      const proofs = entries.filter(({ key }) => key.startsWith(PREFIX));
      return { now, next, records: proofs.map(({ value }) => value as ProofRecord) };
    },
  };
}

const signedKey = (id: string): string => `signed:${id}`;

/** The record and the kept answer first, then what else is asked for. */
const keysOf = (id: string, owned?: string, signed = false): Keys => [
  PREFIX + id,
  `answer:${id}`,
  ...(owned === undefined ? [] : [owned]),
  ...(signed ? [signedKey(id)] : []),
];

type Keys = readonly [record: string, answer: string, ...beside: string[]];

const toFound = ({ now, since, entries: [record, kept] }: Snapshot): Found => ({
  record: record?.value as ProofRecord | undefined,
  kept: kept?.value as KeptAnswer | undefined,
  now,
  since,
});

function toTransaction(
  keys: Keys,
  change: Change,
  { now, since, entries }: Snapshot,
  { id, owned }: { readonly id: string; readonly owned: string | undefined },
): Transaction {
  const { record, keep, signed, reserve = [], release } = change;
  const [recordKey, answerKey] = keys;
  const versionOf = (key: string) => entries[keys.indexOf(key)]?.version ?? 0;
  const due = dueAt(record, now);
  const writes: Write[] = [
    {
      key: recordKey,
      version: versionOf(recordKey),
      value: timed(record, entries[0]?.value as ProofRecord | undefined, now) as StoreValue,
      expiresAt: keepUntil(record, now),
      listed: true,
      ...(due !== undefined && { dueAt: due }),
    },
  ];
  if (keep || (keep === null && versionOf(answerKey) > 0)) {
    const value = keep ? (keep.answer as StoreValue) : null;
    const expiresAt = now + (keep?.ms ?? 0);
    writes.push({ key: answerKey, version: versionOf(answerKey), value, expiresAt, evictable: true });
  }
  if (owned !== undefined) {
    writes.push({ key: owned, version: versionOf(owned), value: id, expiresAt: now + DAY, always: true });
  }
  const resend = signedKey(id);
  if (signed !== undefined && (signed !== null || versionOf(resend) > 0)) {
    // Evictable: what is lost with it is a chance to mend a reorganisation, and memory stays bounded.
    const expiresAt = record.trace.validBefore * 1000 + AFTER_END_MS;
    writes.push({ key: resend, version: versionOf(resend), value: signed, expiresAt, evictable: true });
  }
  return {
    since,
    writes,
    reserve,
    release: release ? [{ ledger: claimsLedger(record.trace), member: id }] : [],
  };
}
