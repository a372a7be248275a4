// What a buyer's store remembers, as plain data, and the rules by which it changes: shared by all stores, which differ in where
// they keep it. Each change is done whole or, where it throws, not at all.
// Invariant: a spend leaves the count by `release`, or once it is a day old by the clock of a later spend; one that seems to come
// from the future counts, so that a clock that was put back frees nothing.
import type { Purchase } from "./purchase.js";
import { DAY_MS, type Limit, PENDING_MS, type PendingProof, type Reserved, type Spend } from "./store.js";

export interface Ledger {
  /** In the order in which they were counted. An id may stand there twice, where a caller's own retry key is used anew. */
  spends: readonly Spend[];
  /** By `pendingKey`, the oldest first: one request may have been bought several times. */
  readonly pending: Map<string, PendingProof>;
  /** By id, the oldest first. */
  readonly purchases: Map<string, Purchase>;
}

/** How much is remembered. What counts is never dropped for want of room: nothing new is counted then. */
export interface Room {
  readonly spends: number;
  readonly pending: number;
  readonly purchases: number;
}

export const emptyLedger = (): Ledger => ({ spends: [], pending: new Map(), purchases: new Map() });

export function reserve(ledger: Ledger, room: Room, spend: Spend, limits: readonly Limit[]): Reserved {
  check(spend);
  if (limits.some(({ windowMs }) => windowMs > DAY_MS))
    throw new RangeError("what is older than a day is not remembered");
  for (const limit of limits) {
    const spent = spentOf(ledger, limit, spend.at);
    if (spent + (binds(limit, spend) ? spend.amount : 0n) > limit.amount) return { ok: false, limit, spent };
  }
  const spends = ledger.spends.filter(({ at }) => at > spend.at - DAY_MS);
  dropDecided(ledger, spend.at);
  if (spends.length >= room.spends) throw full(`${room.spends} payments of the last day`);
  if (ledger.pending.size >= room.pending) throw full(`${room.pending} payments whose outcome is not known`);
  ledger.spends = [...spends, spend];
  return { ok: true };
}

/** A negative amount would give back what others spent. */
function check({ amount, at }: Spend | Purchase): void {
  if (amount < 0n || !Number.isFinite(at)) throw new RangeError("what is paid has an amount from 0, and a time");
}

const binds = ({ unit, host }: Limit, spend: Spend): boolean =>
  spend.unit === unit && (host === undefined || spend.host === host);

function spentOf({ spends }: Ledger, limit: Limit, now: number): bigint {
  let spent = 0n;
  for (const spend of spends) if (spend.at > now - limit.windowMs && binds(limit, spend)) spent += spend.amount;
  return spent;
}

const full = (what: string): Error =>
  new Error(`the store is full: it holds ${what}, and forgets none of them before its time. Pay again later`);

/** Of several with one id it is not known which one never left: the smallest goes, if they are counted alike. */
export function release(ledger: Ledger, id: string): void {
  const [first, ...others] = ledger.spends.filter((spend) => spend.id === id).sort(byAmount);
  if (!first || others.some(({ unit, host }) => unit !== first.unit || host !== first.host)) return;
  ledger.spends = ledger.spends.filter((spend) => spend !== first);
}

const byAmount = (a: Spend, b: Spend): number => (a.amount < b.amount ? -1 : a.amount > b.amount ? 1 : 0);

/** Equal requests are told apart by their purchases. */
export const pendingKey = (request: string, id: string): string => `${request} ${id}`;

export function pendingOf(
  { pending }: Ledger,
  request: string,
  now: number,
  except?: ReadonlySet<string>,
): PendingProof | undefined {
  for (const proof of pending.values()) {
    if (proof.request === request && !except?.has(proof.purchase.id) && !isOver(proof, now)) return proof;
  }
  return undefined;
}

export function keep({ pending }: Ledger, room: Room, proof: PendingProof): void {
  check(proof.purchase);
  if (!Number.isFinite(proof.expiresAt)) throw new RangeError("a proof has an end");
  const key = pendingKey(proof.request, proof.purchase.id);
  if (!pending.has(key) && pending.size >= room.pending) {
    throw full(`${room.pending} payments whose outcome is not known`);
  }
  pending.set(key, proof);
}

export function forget({ pending }: Ledger, request: string, id: string): void {
  pending.delete(pendingKey(request, id));
}

export function record({ purchases }: Ledger, room: Room, purchase: Purchase): void {
  check(purchase);
  purchases.set(purchase.id, purchase);
  for (const id of purchases.keys()) {
    if (purchases.size <= room.purchases) break;
    purchases.delete(id);
  }
}

export const newestFirst = ({ purchases }: Ledger): readonly Purchase[] =>
  [...purchases.values()].reverse().sort((a, b) => b.at - a.at);

/** As long as its answer can be collected, and no shorter than it can be settled. */
const isOver = ({ purchase, expiresAt }: PendingProof, now: number): boolean =>
  now >= Math.max(purchase.at + PENDING_MS, expiresAt);

function dropDecided({ pending }: Ledger, now: number): void {
  for (const [key, proof] of pending) if (isOver(proof, now)) pending.delete(key);
}
