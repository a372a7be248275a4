// Account nonces in the store that the processes of a seller share: one small entry for each network and key, changed by compare-
// and-set. What a process wants at the same time is one change, so that of several processes each tries once and not once for each
// of its settlements: two hundred at once are a handful of writes.
import type { Store, StoreValue } from "../../store/store.js";
import {
  gapsOf,
  giveNonceBack,
  keepNoncesUntil,
  type NonceRecord,
  nonceDone,
  nonceLeft,
  readNonceRecord,
  takeNonce,
} from "./nonce-record.js";
import type { NonceLedger } from "./shared-nonces.js";

/** Conflicts in a row after which the store itself must be at fault. */
const MAX_TRIES = 100;
/** Who was too late waits by chance up to so long for each time: the others come to their turn. */
const WAIT_MS = 4;
const MOST_WAIT_MS = 64;

type Step = (record: NonceRecord, now: number) => NonceRecord;

interface Wanted {
  readonly step: Step;
  resolve(): void;
  reject(error: unknown): void;
}

/** @example createSharedNonces(createStoreNonces(store), "eip155:84532", address); */
export function createStoreNonces(store: Store): NonceLedger {
  /** What waits for the change under way, by key. */
  const waiting = new Map<string, Wanted[]>();

  const change = (key: string, step: Step): Promise<void> =>
    new Promise((resolve, reject) => {
      const wanted = { step, resolve, reject };
      const line = waiting.get(key);
      if (line) line.push(wanted);
      else {
        waiting.set(key, [wanted]);
        void work(key);
      }
    });

  async function work(key: string): Promise<void> {
    for (;;) {
      const batch = waiting.get(key)?.splice(0) ?? [];
      if (batch.length === 0) break;
      try {
        const refused = await commit(store, key, batch);
        for (const one of batch) {
          if (refused.has(one)) one.reject(refused.get(one));
          else one.resolve();
        }
      } catch (error) {
        for (const one of batch) one.reject(error);
      }
    }
    waiting.delete(key);
  }

  return {
    async take(network, address, next, block) {
      let nonce = -1;
      await change(keyOf(network, address), (record, now) => {
        const taken = takeNonce(record, { next, block: Number(block ?? 0n) }, now);
        nonce = taken.nonce;
        return taken.record;
      });
      return nonce;
    },
    giveBack: (network, address, nonce) => change(keyOf(network, address), (record) => giveNonceBack(record, nonce)),
    done: (network, address, nonce, block) =>
      change(keyOf(network, address), (record, now) => nonceDone(record, nonce, block, now)),
    left: (network, address, nonce) => change(keyOf(network, address), (record) => nonceLeft(record, nonce)),
    async gaps(network, address) {
      const { entries } = await store.read([keyOf(network, address)]);
      return gapsOf(readNonceRecord(entries[0]?.value));
    },
  };
}

const keyOf = (network: string, address: string): string => `nonces:${network}:${address}`;

/** Writes all of them as one change; gives those that were refused, with the reason. */
async function commit(store: Store, key: string, batch: readonly Wanted[]): Promise<Map<Wanted, unknown>> {
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const { now, entries } = await store.read([key]);
    let record = readNonceRecord(entries[0]?.value);
    const refused = new Map<Wanted, unknown>();
    for (const one of batch) {
      try {
        record = one.step(record, now);
      } catch (error) {
        refused.set(one, error);
      }
    }
    const value: StoreValue = record;
    const write = { key, version: entries[0]?.version ?? 0, value, expiresAt: keepNoncesUntil(now), always: true };
    if ((await store.commit({ writes: [write] })) === "ok") return refused;
    const wait = Math.random() * Math.min(WAIT_MS * tries, MOST_WAIT_MS);
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
  throw new Error(`the ${store.name} store had ${MAX_TRIES} conflicts in a row`);
}
