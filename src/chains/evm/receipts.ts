// Waits for receipts of sent transactions: one batch for all that are awaited, the bytes sent again while nothing is seen
// (the same bytes are the same transaction). A transaction whose nonce another one has used is reported as replaced.
import { type Receipt, readQuantity, readReceipt } from "./answers.js";
import type { Hex } from "./hex.js";
import type { Rpc, RpcAnswer, RpcCall, RpcFault } from "./rpc.js";

export interface SentTransaction {
  readonly hash: Hex;
  /** Where it is left out nothing is sent again. */
  readonly raw?: Hex;
  readonly settler: Hex;
  readonly nonce: number;
  /** The node's answer to the bytes never came: they go out again at the second poll. */
  readonly lost?: boolean;
  /** Epoch milliseconds. */
  readonly deadlineAt: number;
}

export type Waited =
  | { readonly outcome: "receipt"; readonly receipt: Receipt }
  /** Another transaction has used its nonce, seen at two polls in a row: this one can never be mined. */
  | { readonly outcome: "replaced" }
  | { readonly outcome: "timeout" };

export interface ReceiptWatch {
  wait(sent: SentTransaction): Promise<Waited>;
  /** Everything that is awaited ends as `timeout`. */
  close(): void;
}

interface Waiting extends SentTransaction {
  finish(waited: Waited): void;
  timer: ReturnType<typeof setTimeout> | undefined;
  /** Not asked for yet. */
  fresh: boolean;
  polls: number;
  overtaken: number;
}

/** Transactions asked for in one HTTP request: two or three calls each. Halved for a node that takes no such batch. */
const LARGEST_BATCH = 25;
/** The bytes go out again with every so many polls. */
const REBROADCAST_EVERY = 10;
/** Timers may fire a little before their time. */
const EARLY_MS = 5;
/** A poll that has not ended by then is not waited for. */
const LONGEST_POLL_MS = 3_500;

export function createReceiptWatch(rpc: Rpc, blockMs: number, now: () => number): ReceiptWatch {
  const pollMs = Math.min(500, Math.max(50, Math.floor(blockMs / 10)));
  const waiting = new Set<Waiting>();
  let polledAt = 0;
  let polling = 0;
  let pollingUntil = 0;
  let closed = false;
  let size = LARGEST_BATCH;

  async function poll(): Promise<void> {
    polling += 1;
    const own = polling;
    const open = [...waiting];
    for (const entry of open) entry.fresh = false;
    for (let at = 0; at < open.length; at += size) {
      pollingUntil = now() + LONGEST_POLL_MS;
      const code = await pollSome(rpc, open.slice(at, at + size));
      if (code === "receiver_bad_response") size = Math.max(1, size >> 1);
    }
    polledAt = now();
    if (own === polling) pollingUntil = 0;
  }

  // Everyone who waits has a timer of his own, and whoever is due asks for all. One timer for all would cost less, but on
  // Workers it dies with the request that set it, and the others would wait for nothing.
  async function tick(entry: Waiting): Promise<void> {
    const time = now();
    const due = entry.fresh || Math.abs(time - polledAt) >= pollMs - EARLY_MS;
    if (due && time >= pollingUntil) await poll();
    if (waiting.has(entry)) entry.timer = setTimeout(() => void tick(entry), pollMs);
  }

  return {
    wait: (sent) =>
      new Promise((resolve) => {
        if (closed) {
          resolve({ outcome: "timeout" });
          return;
        }
        const entry: Waiting = {
          ...sent,
          timer: undefined,
          fresh: true,
          polls: sent.lost ? REBROADCAST_EVERY - 2 : 0,
          overtaken: 0,
          finish(waited) {
            clearTimeout(end);
            clearTimeout(entry.timer);
            if (waiting.delete(entry)) resolve(waited);
          },
        };
        const end = setTimeout(() => entry.finish({ outcome: "timeout" }), Math.max(0, sent.deadlineAt - now()));
        waiting.add(entry);
        // A new entry is asked for at once: a chain that mines on demand has the receipt already.
        void tick(entry);
      }),
    close() {
      closed = true;
      for (const entry of waiting) entry.finish({ outcome: "timeout" });
    },
  };
}

/** One request; the code of its failure, if it failed: the node is asked again at the next poll. */
async function pollSome(rpc: Rpc, entries: readonly Waiting[]): Promise<RpcFault["code"] | undefined> {
  const calls = entries.map((entry) => callsFor(entry));
  const deadlineAt = Math.max(...entries.map((entry) => entry.deadlineAt));
  const reply = await rpc.batch(calls.flat(), { checkChain: false, deadlineAt });
  if (!reply.ok) return reply.code;
  let at = 0;
  for (const [i, entry] of entries.entries()) {
    judge(entry, reply.answers.slice(at, at + calls[i]!.length));
    at += calls[i]!.length;
  }
  return undefined;
}

function callsFor(entry: Waiting): RpcCall[] {
  const calls: RpcCall[] = [
    // The count first: a receipt that comes between the two then cannot look like a replacement.
    { method: "eth_getTransactionCount", params: [entry.settler, "latest"] },
    { method: "eth_getTransactionReceipt", params: [entry.hash] },
  ];
  entry.polls++;
  if (entry.raw !== undefined && entry.polls % REBROADCAST_EVERY === 0)
    calls.push({ method: "eth_sendRawTransaction", params: [entry.raw] });
  return calls;
}

function judge(entry: Waiting, [count, receipt]: readonly RpcAnswer[]): void {
  const found = readReceipt(receipt);
  if (found?.transactionHash === entry.hash) {
    entry.finish({ outcome: "receipt", receipt: found });
    return;
  }
  const used = readQuantity(count);
  entry.overtaken = found === null && used !== undefined && used > BigInt(entry.nonce) ? entry.overtaken + 1 : 0;
  if (entry.overtaken >= 2) entry.finish({ outcome: "replaced" });
}
