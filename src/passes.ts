// The passes in the store: one record for each payment, beside the proof's own, and an entry for each token that leads to it. A
// use is taken before the handler runs, by compare-and-set, so that no more run than were sold.
//
//   pass:PROOF          the record: what was sold, what is left, and the digest of the one token that opens it
//   passtoken:DIGEST    the proof, and whether its uses are counted
import type { Clock } from "./clock.js";
import { type Commits, inStoreTime } from "./commits.js";
import { type ErrorCode, PaywallError } from "./errors.js";
import type { PaidFor } from "./record-answer.js";
import type { Snapshot, StoreValue, Transaction } from "./store/store.js";

export type PassRecord = PaidFor & {
  readonly payer: string;
  readonly transaction: string | null;
  /** Digest of the token that opens it; one that was issued before opens it no more. */
  readonly token: string;
  /** Digest of the thing that it is for. */
  readonly place: string;
  /** Uses that are left; null = they are not counted. */
  readonly left: number | null;
  /** Uses of failed runs that may still be given back. */
  readonly returns: number;
  /** Store time, epoch milliseconds. */
  readonly endsAt: number;
};

/** One that is sold; `uses`: how many it opens, undefined = not counted. */
export interface NewPass extends Omit<PassRecord, "left" | "returns" | "endsAt"> {
  readonly proofId: string;
  readonly uses: number | undefined;
  readonly ms: number;
}

/** A pass whose use was taken. */
export interface Use {
  readonly proofId: string;
  readonly record: PassRecord;
}

/** What uses are counted with: the store, and the time that one may take. */
export interface Counter {
  readonly commits: Commits;
  readonly clock: Clock;
}

export type Taken = { readonly ok: true; readonly use: Use } | { readonly ok: false; readonly code: ErrorCode };

/** A pass is remembered for this long after its end, so that its holder is told what is wrong. */
const AFTER_END_MS = 600_000;

const recordKey = (proofId: string): string => `pass:${proofId}`;
const tokenKey = (digest: string): string => `passtoken:${digest}`;

/**
 * Stores a new pass, or a new token for one that stands; undefined = none is due. The time of a pass runs from its first issue,
 * and its uses stay what they are, so that no second token makes it more than was sold.
 *
 * @param anew may the token that was issued before be replaced?
 * @param first may it be the first?
 */
export async function storePass(
  commits: Commits,
  { proofId, uses, ms, ...sold }: NewPass,
  { anew, first }: { readonly anew: boolean; readonly first: boolean },
): Promise<(PassRecord & { readonly now: number }) | undefined> {
  let stored: (PassRecord & { readonly now: number }) | undefined;
  await change(commits, recordKey(proofId), ({ now, since, entries: [entry] }) => {
    const earlier = entry?.value as PassRecord | undefined;
    stored = undefined;
    if (earlier ? !anew || earlier.endsAt <= now : !first) return undefined;
    const fresh = { ...sold, left: uses ?? null, returns: uses ?? 0, endsAt: now + ms };
    const record: PassRecord = earlier ? { ...earlier, token: sold.token } : fresh;
    if (record.left === 0) return undefined;
    stored = { ...record, now };
    const expiresAt = record.endsAt + AFTER_END_MS;
    const led: StoreValue = { proofId, counted: record.left !== null };
    return {
      since,
      writes: [
        // Paid for, so never refused for want of room.
        { key: recordKey(proofId), version: entry?.version ?? 0, value: record, expiresAt, always: true },
        { key: tokenKey(sold.token), version: 0, value: led, expiresAt, always: true },
      ],
    };
  });
  return stored;
}

/** Takes one use by the digest of a token. An unknown one costs one read; nothing is written but the use itself. */
export async function takeUse(
  counter: Counter,
  digest: string,
  place: string,
  covers: (paid: PaidFor) => boolean,
): Promise<Taken> {
  const { commits } = counter;
  const led = (await commits.read([tokenKey(digest)])).entries[0]?.value as
    | { readonly proofId: string; readonly counted: boolean }
    | undefined;
  if (!led) return { ok: false, code: "pass_unknown" };
  const { proofId, counted } = led;
  const key = recordKey(proofId);
  const take = async (): Promise<Taken> => {
    let taken: Taken = { ok: false, code: "pass_unknown" };
    await change(commits, key, ({ now, since, entries: [entry] }) => {
      const record = entry?.value as PassRecord | undefined;
      const code = record ? problemOf(record, digest, place, now, covers) : "pass_unknown";
      if (!entry || !record || code) {
        taken = { ok: false, code: code ?? "pass_unknown" };
        return undefined;
      }
      const next = record.left === null ? record : { ...record, left: record.left - 1 };
      taken = { ok: true, use: { proofId, record: next } };
      if (next === record) return undefined;
      return {
        since,
        writes: [{ key, version: entry.version, value: next, expiresAt: next.endsAt + AFTER_END_MS, always: true }],
      };
    });
    return taken;
  };
  return counted ? inTurn(counter, key, take, false) : take();
}

/** The run of a use failed: it may be used again. At most as many are given back as were sold. */
export async function giveUseBack(counter: Counter, { proofId, record: { left } }: Use): Promise<void> {
  if (left === null) return;
  const key = recordKey(proofId);
  const give = () =>
    change(counter.commits, key, ({ since, entries: [entry] }) => {
      const record = entry?.value as PassRecord | undefined;
      if (!entry || !record || record.left === null || record.returns <= 0) return undefined;
      const next = { ...record, left: record.left + 1, returns: record.returns - 1 };
      return {
        since,
        writes: [{ key, version: entry.version, value: next, expiresAt: next.endsAt + AFTER_END_MS, always: true }],
      };
    });
  await inTurn(counter, key, give, true);
}

/** Changes the record of a pass, or leaves it as it is. Invariant: what the store did not write is neither served nor given out. */
async function change(
  commits: Commits,
  key: string,
  prepare: (snapshot: Snapshot) => Transaction | undefined,
): Promise<void> {
  const result = await commits.attempt([key], [], prepare);
  if (result !== "ok" && result !== "none") throw new PaywallError("store_unavailable", { got: result });
}

function problemOf(
  record: PassRecord,
  digest: string,
  place: string,
  now: number,
  covers: (paid: PaidFor) => boolean,
): ErrorCode | undefined {
  if (record.token !== digest) return "pass_unknown";
  // Invariant: it opens what was sold, here, and nothing that costs more.
  if (record.place !== place || !covers(record)) return "pass_elsewhere";
  if (record.endsAt <= now) return "pass_expired";
  return record.left === 0 ? "pass_used_up" : undefined;
}

const allTurns = new WeakMap<Commits, Map<string, Promise<unknown>>>();

/**
 * Uses of one pass in this process, one after the other: they would only get in each other's way. Where the store has failed
 * for one, those that wait behind it are told the same at once, unless they go on `anyway`. Invariant: a store that never answers
 * ends a turn as one that fails: what it writes late is a use that is gone, and nothing ran for it.
 */
async function inTurn<Result>(
  { commits, clock }: Counter,
  key: string,
  work: () => Promise<Result>,
  anyway: boolean,
): Promise<Result> {
  const turn = () => inStoreTime(clock, work);
  const turns = allTurns.get(commits) ?? new Map<string, Promise<unknown>>();
  allTurns.set(commits, turns);
  const before = turns.get(key) ?? Promise.resolve();
  const mine = anyway ? before.then(turn, turn) : before.then(turn);
  turns.set(key, mine);
  try {
    return await mine;
  } finally {
    if (turns.get(key) === mine) turns.delete(key);
  }
}
