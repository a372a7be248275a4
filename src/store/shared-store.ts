// What every shared store has around its own work: it is opened at first use and again after a failure, a call that takes too
// long is given up, and nothing is answered after it was closed. A call that rejects has an unknown effect.
import { checkKey } from "./codec.js";
import type { CommitResult, Page, Snapshot, Store, Transaction } from "./store.js";

/** For one call, where nothing else is said. */
export const TIMEOUT_MS = 5000;

/** An open connection to where the data is. */
export interface Backend {
  read(keys: readonly string[], ledgers: readonly string[]): Promise<Snapshot>;
  commit(transaction: Transaction): Promise<CommitResult>;
  due(limit: number, skip: number): Promise<readonly string[]>;
  list(cursor: string | undefined, limit: number): Promise<Page>;
  /** What can be wrong although it answers. Rejects with a PaywallConfigError; absent = nothing. */
  ready?(): Promise<void>;
  /** Has the connection, or the data itself, to be made anew after this error? */
  isGone(error: unknown): boolean;
  close(): Promise<void>;
}

export interface SharedStoreOptions {
  readonly name: string;
  /** Connects and makes ready what the data needs; called again where it failed, or where the data went away. */
  open(): Promise<Backend>;
  /** For one call, from its beginning. */
  readonly timeoutMs: number;
}

/** Makes a store of a connection that is opened when it is first needed. */
export function createSharedStore({ name, open, timeoutMs }: SharedStoreOptions): Store {
  let backend: Promise<Backend> | undefined;
  let closed = false;

  const opened = (): Promise<Backend> => {
    if (closed) return Promise.reject(new Error(`the ${name} store is closed`));
    const opening = backend ?? open();
    backend = opening;
    // Whoever waits for it is told; here it is only made ready to be tried again.
    opening.catch(() => forget(opening));
    return opening;
  };
  const forget = (gone: Promise<Backend>): boolean => {
    if (backend !== gone) return false;
    backend = undefined;
    return true;
  };
  const call = async <Result>(work: (to: Backend) => Promise<Result>): Promise<Result> =>
    within(timeoutMs, name, async () => {
      const opening = opened();
      const to = await opening;
      try {
        return await work(to);
      } catch (error) {
        // The first to notice closes it: those who still work on it fail and notice nothing new.
        if (to.isGone(error) && forget(opening)) await to.close();
        throw error;
      }
    });

  return {
    name,
    shared: true,
    read: (keys, ledgers = []) => call((to) => to.read(keys.map(checkKey), ledgers.map(checkKey))),
    commit: (transaction) => call((to) => to.commit(checked(transaction))),
    due: (limit, skip = 0) => call((to) => to.due(limit, skip)),
    list: (cursor, limit) => call((to) => to.list(cursor, limit)),
    async ready() {
      await call(async (to) => {
        await to.read([], []);
        await to.ready?.();
      });
    },
    async close() {
      closed = true;
      const opening = backend;
      backend = undefined;
      // One that could not be opened has told whoever waited for it.
      const to = await opening?.catch(() => undefined);
      await to?.close();
    },
  };
}

function checked(transaction: Transaction): Transaction {
  for (const { key } of transaction.writes) checkKey(key);
  for (const { ledger, member } of [...(transaction.reserve ?? []), ...(transaction.release ?? [])]) {
    checkKey(ledger);
    checkKey(member);
  }
  return transaction;
}

/** Rejects after `ms`, whatever becomes of the work then. */
async function within<Result>(ms: number, name: string, work: () => Promise<Result>): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the ${name} store did not answer within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}
