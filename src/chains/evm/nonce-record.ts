// Which account nonces of one key are taken, as pure functions from record to record: what a shared store keeps of a settler.
//
//   below floor        seen by the chain; nothing is kept of them
//   from floor on      listed = taken, by a holder at work or by one that waits no more; not listed = free
//
// Invariant: `take` gives the lowest free one, so no gap stays while somebody sends. The chain's count moves the floor up at once,
// and down only where nobody is at work and the node is not known to lag, or where it has taken used ones back. A nonce that was taken two minutes ago, and that the
// chain does not know of, counts as free: its holder has died, or finds its nonce used and numbers its transaction anew.
import * as z from "zod/mini";
import { isTakenBack, LAG_MS, type Seen, withUsed } from "./nonces.js";

const LOST_MS = 2 * 60_000;
/** No node queues so many of one account; and each change writes them all. */
const MOST_TAKEN = 2_000;

/** Times are the store's, in epoch milliseconds. */
const schema = z.object({
  floor: z.int(),
  floorAt: z.int(),
  /** The latest block in which a nonce is known to be used, and when that was heard of. */
  block: z.int(),
  blockAt: z.int(),
  /** All below were used in blocks up to that one; absent = none was seen. */
  used: z.optional(z.int()),
  /** Nonce, when it was taken, and whether its holder is at work. */
  taken: z.array(z.tuple([z.int(), z.int(), z.boolean()])),
});
export type NonceRecord = z.infer<typeof schema>;

const NOTHING: NonceRecord = { floor: 0, floorAt: 0, block: -1, blockAt: 0, taken: [] };

/** @throws where it is something else: a nonce must not be guessed. */
export const readNonceRecord = (value: unknown): NonceRecord => (value === undefined ? NOTHING : schema.parse(value));

/** Store time until which the record says anything that the chain does not. */
export const keepNoncesUntil = (now: number): number => now + 2 * LOST_MS;

/** @param next what a node counts, at its latest block @throws RangeError where too many are taken. */
export function takeNonce(
  record: NonceRecord,
  { next, block }: { readonly next: number; readonly block: number },
  now: number,
): { readonly record: NonceRecord; readonly nonce: number } {
  const { floor, floorAt } = record;
  const recent = record.taken.filter(([, at]) => now - at <= LOST_MS);
  const isQuiet = !recent.some(([, , isHeld]) => isHeld);
  const lags = block < record.block && now - record.blockAt < LAG_MS;
  const reorganised = isTakenBack({ count: next, block: BigInt(block) }, seenOf(record), now);
  // Alone, the chain decides: upwards it knows of more, and downwards it has dropped what waited, or was reorganised.
  const decides = isQuiet && !lags;
  const believed = decides || reorganised || next >= floor || now - floorAt > LOST_MS;
  const from = believed ? next : floor;
  const taken = decides ? [] : recent.filter(([nonce]) => nonce >= from);
  if (taken.length >= MOST_TAKEN) throw new RangeError(`${MOST_TAKEN} transactions of the settler are on their way`);
  const isTaken = new Set(taken.map(([nonce]) => nonce));
  let nonce = from;
  while (isTaken.has(nonce)) nonce += 1;
  const after = { ...record, floor: from, floorAt: believed ? now : floorAt, ...(reorganised && { used: next }) };
  return { record: { ...after, taken: [...taken, [nonce, now, true]] }, nonce };
}

const seenOf = ({ used = 0, block, blockAt }: NonceRecord): Seen => ({ used, block: BigInt(block), at: blockAt });

/** Not sent: the next one to ask gets it. */
export const giveNonceBack = (record: NonceRecord, nonce: number): NonceRecord => ({
  ...record,
  taken: record.taken.filter(([one]) => one !== nonce),
});

/** Used on the chain, and so are all before it. */
export function nonceDone(record: NonceRecord, nonce: number, block: bigint | undefined, now: number): NonceRecord {
  const floor = Math.max(record.floor, nonce + 1);
  const news = withUsed(seenOf(record), nonce, block, now);
  const seen = news ? { block: Number(news.block), blockAt: news.at, used: news.used } : {};
  const rises = floor > record.floor ? { floor, floorAt: now } : {};
  return { ...record, ...seen, ...rises, taken: record.taken.filter(([one]) => one >= floor) };
}

/** Sent, and nobody waits for it any more: it may still be mined. */
export const nonceLeft = (record: NonceRecord, nonce: number): NonceRecord => ({
  ...record,
  taken: record.taken.map(([one, at, isHeld]) => [one, at, isHeld && one !== nonce]),
});

/** Free, and a later one is taken. */
export function gapsOf({ floor, taken }: NonceRecord): readonly number[] {
  const isTaken = new Set(taken.map(([nonce]) => nonce));
  const last = Math.max(-1, ...isTaken);
  const gaps: number[] = [];
  for (let nonce = floor; nonce < last && gaps.length < MOST_TAKEN; nonce += 1)
    if (!isTaken.has(nonce)) gaps.push(nonce);
  return gaps;
}
