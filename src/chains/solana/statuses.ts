// What became of sent transactions: `getSignatureStatuses` for all that are awaited at once, every 250 ms for two seconds
// and then every second, and the bytes sent again while nothing is seen (the same bytes are the same transaction).
// Nothing here is proven by silence.
import * as z from "zod/mini";
import { failureOf, type RpcFailure, type RpcOptions, type SolanaRpc } from "./rpc.js";

/** A transaction that a node knows. */
export interface Status {
  readonly slot: number;
  /** Why it failed on the chain; null where it succeeded. */
  readonly error: unknown;
  readonly level: "processed" | "confirmed" | "finalized";
  /** Blocks that stand on it; null = finalized, or the node does not tell. */
  readonly confirmations: number | null;
}

export type Statuses =
  /** `slot`: how far the node was when it looked. A null is a transaction that it does not know. */
  { readonly ok: true; readonly slot: number; readonly statuses: readonly (Status | null)[] } | RpcFailure;

const statusSchema = z.nullable(
  z.object({
    slot: z.int(),
    // A missing member is no success.
    err: z.custom<unknown>((value) => value !== undefined),
    confirmationStatus: z.optional(z.nullable(z.enum(["processed", "confirmed", "finalized"]))),
    confirmations: z.optional(z.nullable(z.int().check(z.nonnegative()))),
  }),
);
const answerSchema = z.object({ context: z.object({ slot: z.int() }), value: z.array(statusSchema) });

/** Statuses by transaction id. `history`: also those older than some minutes. Never rejects. */
export async function readStatuses(
  rpc: SolanaRpc,
  ids: readonly string[],
  { history = false, ...options }: RpcOptions & { readonly history?: boolean } = {},
): Promise<Statuses> {
  const reply = await rpc.call("getSignatureStatuses", [ids, { searchTransactionHistory: history }], options);
  if (!reply.ok) return failureOf(reply);
  const parsed = answerSchema.safeParse(reply.result);
  if (!parsed.success || parsed.data.value.length !== ids.length) {
    return { ok: false, code: "receiver_bad_response", message: "the node's statuses cannot be read" };
  }
  const statuses = parsed.data.value.map((one): Status | null => {
    if (!one) return null;
    const { slot, err, confirmationStatus, confirmations } = one;
    return { slot, error: err, level: confirmationStatus ?? "processed", confirmations: confirmations ?? null };
  });
  return { ok: true, slot: parsed.data.context.slot, statuses };
}

export interface SentTransaction {
  /** Base58 of its first signature. */
  readonly id: string;
  /** Its bytes, base64: sent again while it is not confirmed. */
  readonly wire: string;
  /** How sure it must be. */
  readonly level: "confirmed" | "finalized";
  /** The last block height in which it can land. */
  readonly lastValidBlockHeight?: number;
  /** Epoch milliseconds. */
  readonly deadlineAt: number;
}

export type Waited =
  | { readonly outcome: "landed"; readonly slot: number }
  /** It is in a block and failed there: until that is final, a fork may still decide otherwise. */
  | { readonly outcome: "failed"; readonly error: unknown; readonly finalized: boolean }
  /** The chain is past its last block and this node has not seen it: not worth waiting for, and no evidence. */
  | { readonly outcome: "overdue" }
  | { readonly outcome: "timeout" };

export interface StatusWatch {
  wait(sent: SentTransaction): Promise<Waited>;
  /** Everything that is awaited ends as `timeout`. */
  close(): void;
}

interface Waiting extends SentTransaction {
  finish(waited: Waited): void;
  timer: ReturnType<typeof setTimeout> | undefined;
  readonly since: number;
  sentAt: number;
  /** Seen in a block: nothing more to send. */
  seen: boolean;
}

const [FAST_MS, SLOW_MS, FAST_FOR_MS] = [250, 1_000, 2_000];
const RESEND_MS = 2_000;
/** The most ids that a node takes in one call. */
const LARGEST_CALL = 256;
/** Timers may fire a little before their time. */
const EARLY_MS = 5;
/** A poll that has not ended by then is not waited for. */
const LONGEST_POLL_MS = 3_500;

const RANK = { processed: 0, confirmed: 1, finalized: 2 } as const;

export function createStatusWatch(rpc: SolanaRpc, now: () => number): StatusWatch {
  const waiting = new Set<Waiting>();
  let polledAt = 0;
  let polling = 0;
  let pollingUntil = 0;
  let closed = false;

  async function poll(): Promise<void> {
    polling += 1;
    const own = polling;
    const open = [...waiting];
    for (let at = 0; at < open.length; at += LARGEST_CALL) {
      pollingUntil = now() + LONGEST_POLL_MS;
      await pollSome(rpc, open.slice(at, at + LARGEST_CALL), now());
    }
    polledAt = now();
    if (own === polling) pollingUntil = 0;
  }

  const paceOf = ({ since }: Waiting): number => (now() - since < FAST_FOR_MS ? FAST_MS : SLOW_MS);

  // Everyone who waits has a timer of his own, and whoever is due asks for all. One timer for all would cost less, but on
  // Workers it dies with the request that set it, and the others would wait for nothing.
  async function tick(entry: Waiting): Promise<void> {
    const time = now();
    const isDue = Math.abs(time - polledAt) >= paceOf(entry) - EARLY_MS;
    if (!entry.seen && time - entry.sentAt >= RESEND_MS - EARLY_MS) {
      entry.sentAt = time;
      // Nobody waits for the answer: it says nothing, only a block does.
      for (const node of rpc.each) void sendRaw(node, entry.wire, { deadlineAt: entry.deadlineAt });
    }
    if (isDue && time >= pollingUntil) await poll();
    if (waiting.has(entry)) entry.timer = setTimeout(() => void tick(entry), paceOf(entry));
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
          timer: setTimeout(() => void tick(entry), FAST_MS),
          since: now(),
          sentAt: now(),
          seen: false,
          finish(waited) {
            clearTimeout(end);
            clearTimeout(entry.timer);
            if (waiting.delete(entry)) resolve(waited);
          },
        };
        const end = setTimeout(() => entry.finish({ outcome: "timeout" }), Math.max(0, sent.deadlineAt - now()));
        waiting.add(entry);
      }),
    close() {
      closed = true;
      for (const entry of waiting) entry.finish({ outcome: "timeout" });
    },
  };
}

/** Hands signed bytes (base64) to the chain as they are: simulated already, and sent again by us alone. */
export const sendRaw = (rpc: SolanaRpc, wire: string, options: RpcOptions) =>
  rpc.call("sendTransaction", [wire, { encoding: "base64", skipPreflight: true, maxRetries: 0 }], options);

async function pollSome(rpc: SolanaRpc, entries: readonly Waiting[], now: number): Promise<void> {
  const deadlineAt = Math.max(...entries.map((entry) => entry.deadlineAt));
  const isOld = entries.some(({ since, seen }) => !seen && now - since >= FAST_FOR_MS);
  // What one node has not shown for so long another one may have.
  await Promise.all((isOld ? rpc.each : [rpc]).map((node) => pollNode(node, entries, { deadlineAt, isOld })));
}

async function pollNode(
  rpc: SolanaRpc,
  entries: readonly Waiting[],
  { deadlineAt, isOld }: { readonly deadlineAt: number; readonly isOld: boolean },
): Promise<void> {
  // The height first: what lands between the two calls is then not taken for overdue.
  const height = isOld ? await rpc.call("getBlockHeight", [{ commitment: "confirmed" }], { deadlineAt }) : undefined;
  const ids = entries.map(({ id }) => id);
  const reply = await readStatuses(rpc, ids, { deadlineAt });
  // The node is asked again at the next poll.
  if (!reply.ok) return;
  for (const [i, entry] of entries.entries()) {
    const status = reply.statuses[i];
    if (status) judge(entry, status);
    else if (!entry.seen && height?.ok && isOver(entry, height.result)) entry.finish({ outcome: "overdue" });
  }
}

function judge(entry: Waiting, { slot, error, level }: Status): void {
  // A processed transaction may still vanish with its fork.
  if (level === "processed") return;
  entry.seen = true;
  if (error !== null) entry.finish({ outcome: "failed", error, finalized: level === "finalized" });
  else if (RANK[level] >= RANK[entry.level]) entry.finish({ outcome: "landed", slot });
}

const isOver = ({ lastValidBlockHeight }: Waiting, height: unknown): boolean =>
  lastValidBlockHeight !== undefined && typeof height === "number" && height > lastValidBlockHeight;
