// The store for one process. Records are never evicted before their time: a store without room says `full`.
// Only kept answers are evicted (lru-cache, by bytes).
import { LRUCache } from "lru-cache";
import { type Clock, systemClock } from "../clock.js";
import { createDueIndex } from "./due-index.js";
import { createExpiry, type Expiry } from "./expiry.js";
import type { Listed } from "./memory-list.js";
import type {
  AtOnce,
  CommitResult,
  Entry,
  Reservation,
  Snapshot,
  Store,
  StoreValue,
  Transaction,
  Write,
} from "./store.js";

export interface MemoryStoreOptions {
  /** Entries beside kept answers; default 250,000 (about 3 KB for a payment). */
  readonly maxEntries?: number;
  /** Bytes of kept answers; default 64 MiB. */
  readonly maxKeptBytes?: number;
  /** Says that no other process guards the same routes, although this one can be seen to run in a cluster. */
  readonly singleProcess?: boolean;
}

interface Held extends Entry, Listed {
  readonly dueAt: number | undefined;
  /** The time under which the expiry knows the key: not after `expiresAt`. */
  readonly listedAt: number;
  /** Of a kept answer. */
  readonly size?: number;
}
interface Member {
  readonly amount: bigint;
  readonly expiresAt: number;
}

type Applied = Exclude<CommitResult, "conflict">;

/** Joins a ledger and its member to one key of the expiry; stands in no name of ours. */
const IN_LEDGER = "\u0000";

const NOBODY: ReadonlyMap<string, Member> = new Map();

const SINGLE_PROCESS = new WeakSet<Store>();

/** Was this memory store made with `singleProcess: true`? */
export const isSingleProcess = (store: Store): boolean => SINGLE_PROCESS.has(store);

const AT_ONCE = new WeakMap<Store, AtOnce>();

/** The short way of a memory store; undefined for any other store, one that stands in front of a memory store too. */
export const atOnceOf = (store: Store): AtOnce | undefined => AT_ONCE.get(store);

/**
 * Makes a store in this process's memory.
 * @example createPaywall({ payTo, network: "base-sepolia", store: memoryStore({ maxEntries: 50_000 }) });
 */
export function memoryStore(options: MemoryStoreOptions = {}, clock: Clock = systemClock): Store {
  const store = createMemoryStore(options.maxEntries ?? 250_000, options.maxKeptBytes ?? 64 * 1024 * 1024, clock);
  if (options.singleProcess) SINGLE_PROCESS.add(store);
  return store;
}

const DEFAULT_STORE = Symbol.for("tollgate.default-store");

/** The store that all guards of this process share when none is configured, also across copies of this package. */
export function defaultStore(): Store {
  const place = globalThis as { [DEFAULT_STORE]?: Store };
  place[DEFAULT_STORE] ??= memoryStore();
  return place[DEFAULT_STORE];
}

function createMemoryStore(maxEntries: number, maxKeptBytes: number, clock: Clock): Store {
  const entries = new Map<string, Held>();
  const expiry: Expiry = createExpiry(clock.now());
  const kept = new LRUCache<string, Held>({
    maxSize: maxKeptBytes,
    // What is written over has its place in the expiry taken over.
    dispose: (held, key, reason) => {
      if (reason !== "set") expiry.remove(key, held.listedAt);
    },
  });
  const due = createDueIndex();
  const ledgers = new Map<string, Map<string, Member>>();
  // One counter for all keys: a key that was deleted and made anew never has a version that somebody still holds.
  let version = 0;
  let since = clock.now();

  const find = (key: string, now: number): Held | undefined => {
    const held = entries.get(key) ?? kept.get(key);
    return held && held.expiresAt > now ? held : undefined;
  };
  const free = (ledger: string, member: string) => {
    const members = ledgers.get(ledger);
    const held = members?.get(member);
    if (!members || !held) return;
    expiry.remove(ledger + IN_LEDGER + member, held.expiresAt);
    members.delete(member);
    if (members.size === 0) ledgers.delete(ledger);
  };
  const liveMembers = (ledger: string, now: number): ReadonlyMap<string, Member> => {
    const members = ledgers.get(ledger);
    if (!members) return NOBODY;
    members.forEach(({ expiresAt }, member) => {
      if (expiresAt <= now) free(ledger, member);
    });
    return members;
  };
  const drop = (key: string) => {
    const held = entries.get(key);
    if (held) expiry.remove(key, held.listedAt);
    entries.delete(key);
    kept.delete(key);
    due.delete(key);
  };
  /**
   * Lists a key anew when its listed time has passed and its end has not. A record whose end moves away with each of its
   * states is so listed once in its life, not once for each.
   */
  const relist = (key: string, now: number) => {
    const held = entries.get(key) ?? kept.peek(key);
    if (!held || held.expiresAt <= now) {
      drop(key);
      return;
    }
    const listed = { ...held, listedAt: held.expiresAt };
    expiry.add(key, held.expiresAt);
    if (entries.has(key)) entries.set(key, listed);
    else kept.set(key, listed, { size: held.size ?? sizeOf(held.value) });
  };
  /** The time under which a key is listed once it ends at `expiresAt`. */
  const list = (key: string, expiresAt: number, before: Held | undefined): number => {
    if (before && before.listedAt <= expiresAt) return before.listedAt;
    if (before) expiry.remove(key, before.listedAt);
    expiry.add(key, expiresAt);
    return expiresAt;
  };
  const sweep = (now: number) =>
    expiry.passed(now, (key) => {
      const [ledger = "", member] = key.split(IN_LEDGER);
      if (member !== undefined) free(ledger, member);
      else relist(key, now);
    });

  const refusalOf = (reservation: Reservation, now: number): Applied | undefined => {
    const members = liveMembers(reservation.ledger, now);
    const others = members.size - (members.has(reservation.member) ? 1 : 0);
    if (others + 1 > reservation.maxMembers) return "too_many";
    if (reservation.maxSum === undefined) return undefined;
    let sum = BigInt(reservation.amount);
    for (const [member, { amount }] of members) if (member !== reservation.member) sum += amount;
    return sum > BigInt(reservation.maxSum) ? "over_sum" : undefined;
  };
  /** A kept answer is written again as it is when its settlement has come: only its time is another one. */
  const keep = ({ key, value, expiresAt, dueAt }: Write) => {
    const before = kept.peek(key);
    const size = before?.value === value && before.size !== undefined ? before.size : sizeOf(value);
    version += 1;
    const listedAt = list(key, expiresAt, before);
    kept.set(key, { version, value, expiresAt, dueAt, listedAt, place: 0, size }, { size });
    if (dueAt !== undefined) due.set(key, dueAt);
    else due.delete(key);
  };
  const put = (write: Write) => {
    const before = entries.get(write.key);
    if (write.value === null) {
      drop(write.key);
      return;
    }
    if (write.evictable) {
      if (before) drop(write.key);
      keep(write);
      return;
    }
    // A record that goes from one state to the next keeps its place.
    if (!before) drop(write.key);
    version += 1;
    const { key, value, expiresAt, dueAt } = write;
    const placed = write.version > 0 ? before?.place : undefined;
    const place = write.listed ? placed || version : 0;
    // Invariant: entries stand in the order of their places, which is what a page of the list goes by.
    if (before && place > before.place) entries.delete(key);
    entries.set(key, { version, value, expiresAt, dueAt, listedAt: list(key, expiresAt, before), place });
    if (write.dueAt !== undefined) due.set(write.key, write.dueAt);
    else if (before?.dueAt !== undefined) due.delete(write.key);
  };
  const reserve = ({ ledger, member, amount, expiresAt }: Reservation) => {
    free(ledger, member);
    const members = ledgers.get(ledger) ?? new Map<string, Member>();
    ledgers.set(ledger, members.set(member, { amount: BigInt(amount), expiresAt }));
    expiry.add(ledger + IN_LEDGER + member, expiresAt);
  };
  const roomFor = (writes: readonly Write[]): boolean => {
    const needsRoom = ({ key, value, evictable, always }: Write) =>
      value !== null && !evictable && !always && !entries.has(key);
    const added = writes.filter(needsRoom).length;
    return added === 0 || entries.size + added <= maxEntries;
  };

  const snapshotAt = (now: number, keys: readonly string[], ledgerNames: readonly string[]): Snapshot => ({
    now,
    since,
    entries: keys.map((key) => find(key, now)),
    members: ledgerNames.map((ledger) => liveMembers(ledger, now).size),
  });
  const apply = (now: number, { writes, reserve: wanted = [], release = [] }: Transaction): Applied => {
    for (const reservation of wanted) {
      const refusal = refusalOf(reservation, now);
      if (refusal) return refusal;
    }
    if (!roomFor(writes)) return "full";
    for (const { ledger, member } of release) free(ledger, member);
    for (const reservation of wanted) reserve(reservation);
    for (const write of writes) put(write);
    return "ok";
  };
  const store: Store = {
    name: "memory",
    shared: false,
    async read(keys, ledgerNames = []): Promise<Snapshot> {
      const now = clock.now();
      sweep(now);
      return snapshotAt(now, keys, ledgerNames);
    },
    async commit(transaction: Transaction): Promise<CommitResult> {
      const now = clock.now();
      sweep(now);
      const { writes, since: decidedOn = since } = transaction;
      if (decidedOn !== since) return "conflict";
      if (writes.some((write) => (find(write.key, now)?.version ?? 0) !== write.version)) return "conflict";
      return apply(now, transaction);
    },
    async due(limit, skip = 0) {
      const now = clock.now();
      sweep(now);
      return due.passed(now, limit, skip);
    },
    async list(cursor, limit) {
      const { toPage } = await import("./memory-list.js");
      return toPage(entries, clock.now(), cursor, limit);
    },
    async close() {
      since = clock.now();
      entries.clear();
      kept.clear();
      due.clear();
      ledgers.clear();
    },
  };
  // Safe without a look at the versions because nothing can run between the snapshot and the writes.
  AT_ONCE.set(store, (keys, ledgerNames, decide) => {
    const now = clock.now();
    sweep(now);
    const transaction = decide(snapshotAt(now, keys, ledgerNames));
    return transaction ? apply(now, transaction) : "none";
  });
  return store;
}

function sizeOf(value: StoreValue): number {
  if (value instanceof Uint8Array) return value.byteLength + 64;
  if (typeof value === "string") return value.length * 2 + 16;
  if (value === null || typeof value !== "object") return 16;
  let size = 64;
  for (const [key, inner] of Object.entries(value)) size += key.length * 2 + sizeOf(inner ?? null);
  return size;
}
