// A buyer's store in one file, so that a budget holds across restarts and for several processes at once. Every change is made
// under a lock on what the file holds at that moment, and is on the disk before it is answered.
import { resolve } from "node:path";
import { PaywallConfigError } from "../errors.js";
import { createDisk, type Disk } from "./file-disk.js";
import { checkEntries, type Entries } from "./file-format.js";
import { forget, keep, type Ledger, newestFirst, pendingOf, type Room, record, release, reserve } from "./ledger.js";
import type { BuyerStore } from "./store.js";

export type { BuyerStore } from "./store.js";

export interface FileBuyerStoreOptions {
  /** How many purchases `receipts()` tells of; 1,000. */
  readonly maxPurchases?: number;
  /** How long a change waits for other processes before it is refused; 10,000. */
  readonly lockWaitMs?: number;
}

/** Each change writes the whole file: room for a busy day, not for more. */
const ROOM: Room = { spends: 20_000, pending: 2_000, purchases: 1_000 };

/**
 * Remembers in a file what was spent, what is not decided yet and what was bought. The file is made with mode 0600, in a folder
 * of mode 0700 where that is not there either: signed payments stand in it. One that cannot be read is never begun anew, because
 * that would forget the budget: every call is refused (`store_failed`) until it is mended or moved away.
 *
 * Several processes may share it, on one machine: which of them still live is asked there.
 *
 * @example payingFetch({ wallets, budget, store: fileBuyerStore("./spending.json") })
 */
export function fileBuyerStore(path: string, options: FileBuyerStoreOptions = {}): BuyerStore {
  if (typeof path !== "string" || path.trim() === "") {
    const message = 'expected the path of a file, such as "./spending.json"';
    throw new PaywallConfigError([{ path: "fileBuyerStore", code: "invalid", message }], "buyer");
  }
  const { maxPurchases = ROOM.purchases, lockWaitMs = 10_000 } = options;
  const room = { ...ROOM, purchases: maxPurchases };
  const disk = createDisk(resolve(path), lockWaitMs);
  const change = createChanges(disk);
  // What is asked only needs no lock: a file is replaced whole.
  const ask = async <Answer>(question: (ledger: Ledger) => Answer) => question(await disk.read());
  return Object.freeze<BuyerStore>({
    reserve: (spend, limits) => change((ledger) => reserve(ledger, room, spend, limits), { spends: [spend] }),
    release: (id) => change((ledger) => release(ledger, id)),
    pending: (request, now, except) => ask((ledger) => pendingOf(ledger, request, now, except)),
    keep: (proof) => change((ledger) => keep(ledger, room, proof), { pending: [proof] }),
    forget: (request, id) => change((ledger) => forget(ledger, request, id)),
    record: (purchase) => change((ledger) => record(ledger, room, purchase), { purchases: [purchase] }),
    purchases: () => ask(newestFirst),
  });
}

interface Waiting {
  /** Makes its change; what is called afterwards tells its caller, once all is on the disk. */
  apply(ledger: Ledger): () => void;
  refuse(reason: unknown): void;
}

/** Changes that come while another one is written wait, and are written together: a lock and a write for all of them. */
function createChanges(disk: Disk) {
  let waiting: Waiting[] = [];
  let isWriting = false;

  async function writeAll(): Promise<void> {
    isWriting = true;
    // Those that come in the same turn as the first are taken along.
    await undefined;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      await writeBatch(disk, batch);
    }
    isWriting = false;
  }

  return <Answer>(make: (ledger: Ledger) => Answer, entries: Entries = {}): Promise<Answer> =>
    new Promise((answer, refuse) => {
      checkEntries(entries);
      waiting.push({ apply: (ledger) => attempt(() => make(ledger), answer, refuse), refuse });
      if (!isWriting) void writeAll();
    });
}

/** A change that throws has changed nothing, and keeps none of the others from being written. */
function attempt<Answer>(
  make: () => Answer,
  answer: (value: Answer) => void,
  refuse: (reason: unknown) => void,
): () => void {
  try {
    const made = make();
    return () => answer(made);
  } catch (error) {
    return () => refuse(error);
  }
}

async function writeBatch(disk: Disk, batch: readonly Waiting[]): Promise<void> {
  try {
    let tell: readonly (() => void)[] = [];
    await disk.update((ledger) => {
      tell = batch.map((one) => one.apply(ledger));
    });
    for (const one of tell) one();
  } catch (error) {
    for (const one of batch) one.refuse(error);
  }
}
