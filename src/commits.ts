// Entries of the store changed as one commit: read, decide, write, and again when somebody else was faster. A store that fails
// has decided nothing: whoever asked is told `store_unavailable`.
import type { Clock } from "./clock.js";
import { PaywallError } from "./errors.js";
import type { AtOnce, CommitResult, Snapshot, Store, Transaction } from "./store/store.js";
import { inTime, STORE_MS } from "./time-limit.js";

/** Conflicts in a row after which the store itself must be at fault. */
const MAX_TRIES = 50;

export interface Commits {
  read(keys: readonly string[]): Promise<Snapshot>;
  /** Reads, asks `prepare` what to write, commits; again on a conflict. `none`: there was nothing to write. */
  attempt(
    keys: readonly string[],
    ledgers: readonly string[],
    prepare: (snapshot: Snapshot) => Transaction | undefined,
  ): Promise<Exclude<CommitResult, "conflict"> | "none">;
}

/** @param atOnce the short way of a store in this process; without it the store is read, then written to */
export function createCommits(store: Store, atOnce?: AtOnce): Commits {
  return {
    read: (keys) => store.read(keys).catch((cause: unknown) => Promise.reject(unavailable(cause))),
    async attempt(keys, ledgers, prepare) {
      try {
        if (atOnce) return atOnce(keys, ledgers, prepare);
        for (let tries = 0; tries < MAX_TRIES; tries += 1) {
          const transaction = prepare(await store.read(keys, ledgers));
          const result = transaction ? await store.commit(transaction) : "none";
          if (result !== "conflict") return result;
        }
      } catch (cause) {
        throw unavailable(cause);
      }
      throw new PaywallError("store_unavailable", { got: `${MAX_TRIES} conflicts in a row` });
    },
  };
}

/** A store that fails has decided nothing: the guard refuses. */
export const unavailable = (cause: unknown) => new PaywallError("store_unavailable", {}, { cause });

/** What others wait behind: a store that does not answer in time is one that fails, though what it writes late is written. */
export const inStoreTime = <Result>(clock: Clock, ask: () => Promise<Result>): Promise<Result> =>
  inTime<Result>({ clock, ms: STORE_MS, late: () => Promise.reject(unavailable("no answer in time")) }, ask);
