// The store contract: a versioned key-value map with atomic compare-and-set over several keys, ledgers with exact sums,
// an index of due entries, and a clock of its own. The state machine of a proof lives in `record.ts`, once, not in stores.
//
// Every implementation promises:
// - `commit` is atomic: all of it happens or nothing does, for every process that shares the store;
// - an entry is never lost before its `expiresAt`, unless it is `evictable`; a store without room answers `full` instead;
// - `now` comes from the store, so that processes with different clocks judge leases alike;
// - values are JSON (plus `Uint8Array`), never mutated by either side.
// A call that rejects has an unknown effect: the guard refuses with 503 and serves nothing.

/** JSON, plus bytes at any depth. */
export type StoreValue =
  | null
  | boolean
  | number
  | string
  | Uint8Array
  | readonly StoreValue[]
  | { readonly [key: string]: StoreValue | undefined };

export interface Entry {
  /** Positive, grows with every write of this key. */
  readonly version: number;
  readonly value: StoreValue;
}

/** One write of a commit. It holds only while the key still has `version`. */
export interface Write {
  readonly key: string;
  /** The version that was read; 0 = the key must be absent. */
  readonly version: number;
  /** `null` deletes the key. */
  readonly value: StoreValue;
  /** Store time in epoch milliseconds from which the entry may be dropped. */
  readonly expiresAt: number;
  /** Listed by `due` from this store time on; absent = never. */
  readonly dueAt?: number;
  /** Listed by `list`; absent = no longer. A key keeps its place there until it is deleted or ends. Never for what is `evictable`. */
  readonly listed?: boolean;
  /** Never refused for want of room: money has moved, and what is to be written keeps it from counting twice. */
  readonly always?: boolean;
  /** May be dropped earlier when room is needed (kept answers). */
  readonly evictable?: boolean;
}

/** Adds one member to a ledger, or refuses when the ledger would pass a limit. Adding a member again replaces it. */
export interface Reservation {
  readonly ledger: string;
  readonly member: string;
  /** Atomic units, decimal text: summed exactly. */
  readonly amount: string;
  readonly maxMembers: number;
  /** Decimal text; absent = no limit on the sum. */
  readonly maxSum?: string;
  /** Store time at which the member stops counting. */
  readonly expiresAt: number;
}

export interface Transaction {
  /** The `since` of the snapshot on which it was decided; a memory that has begun anew meanwhile answers `conflict`. */
  readonly since?: number;
  readonly writes: readonly Write[];
  readonly reserve?: readonly Reservation[];
  readonly release?: readonly { readonly ledger: string; readonly member: string }[];
}

/**
 * `conflict`: a version differed, read again. `full`: no room. `too_many`, `over_sum`: a reservation was refused.
 * In every case but `ok` nothing was written.
 */
export type CommitResult = "ok" | "conflict" | "full" | "too_many" | "over_sum";

export interface Snapshot {
  /** Store time, epoch milliseconds. */
  readonly now: number;
  /** Store time at which its memory begins: whatever was used before it is not remembered. */
  readonly since: number;
  /** In the order of the keys asked for; expired entries are absent. */
  readonly entries: readonly (Entry | undefined)[];
  /** Live members of each ledger asked for, in order. */
  readonly members: readonly number[];
}

/** Some of the listed entries, and where the next page begins. */
export interface Page {
  /** Store time, epoch milliseconds. */
  readonly now: number;
  readonly entries: readonly { readonly key: string; readonly value: StoreValue }[];
  /** For the next call; undefined = there is none after these. A page may hold fewer entries than were asked for, even none. */
  readonly next: string | undefined;
}

/**
 * Reads, asks `decide` what to write, and commits it, before anything else of this process runs: what `read` and `commit`
 * come to where no conflict is possible. `none`: there was nothing to write. Only a store that lives in this process and is
 * shared with no other has it, beside the contract, so that whatever is put in front of a store is never passed by.
 */
export type AtOnce = (
  keys: readonly string[],
  ledgers: readonly string[],
  decide: (snapshot: Snapshot) => Transaction | undefined,
) => Exclude<CommitResult, "conflict"> | "none";

export interface Store {
  /** `memory`, `redis`, … for logs and errors. */
  readonly name: string;
  /** Do several processes see the same data? */
  readonly shared: boolean;
  read(keys: readonly string[], ledgers?: readonly string[]): Promise<Snapshot>;
  commit(transaction: Transaction): Promise<CommitResult>;
  /**
   * Keys whose `dueAt` has passed, oldest first, so many after the first `skip` (0): whoever can do nothing about those asks for
   * what stands behind them.
   */
  due(limit: number, skip?: number): Promise<readonly string[]>;
  /**
   * Listed entries, the last that was added first, from `cursor` on (undefined = from the beginning). Over all pages, whatever
   * is written meanwhile, no entry is given twice, and each that stands all the time is given.
   */
  list(cursor: string | undefined, limit: number): Promise<Page>;
  /** Can it be reached and used? Rejects with a PaywallConfigError where only another configuration would help. */
  ready?(): Promise<void>;
  close(): Promise<void>;
}
