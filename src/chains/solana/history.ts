// The payer's transactions as one node remembers them: a search for a message, and the proof that a message is in no block
// and can never be in one. That proof is made of the answers of one node, each no older than the one before.
import * as z from "zod/mini";
import { MAX_TRANSACTION_AGE_MS } from "../../proof.js";
import type { Trace } from "../../receive/receiver.js";
import { type FetchedTransaction, fetchTransaction } from "./fetch.js";
import { failureOf, type RpcOptions, type SolanaRpc } from "./rpc.js";
import { readStatuses } from "./statuses.js";

export type Unproven = { readonly ok: false; readonly message: string };
export const unproven = (message: string): Unproven => ({ ok: false, message });

const entrySchema = z.object({
  signature: z.string(),
  slot: z.int(),
  blockTime: z.optional(z.nullable(z.int())),
  /** Of each memo `[length] text`; null = none. */
  memo: z.optional(z.nullable(z.string())),
});
const pageSchema = z.array(entrySchema);
export type Entry = z.infer<typeof entrySchema>;

const PAGE = 1_000;
const PAGE_BYTES = 2 * 1024 * 1024;
/** Transactions whose bytes are looked at in one search. */
const MOST_FETCHED = 50;
const AT_ONCE = 10;
/** Between the clocks of a server and of the chain. */
const CLOCKS_MS = 2 * 60_000;

/** Where the search may stop: nothing older can be the settlement. */
function isBefore({ expiry, validBefore }: Trace, { slot, blockTime }: Entry): boolean {
  if (expiry) return slot < expiry.slot;
  const shownAt = validBefore * 1000 - MAX_TRANSACTION_AGE_MS;
  return typeof blockTime === "number" && blockTime * 1000 < shownAt - MAX_TRANSACTION_AGE_MS - CLOCKS_MS;
}

export interface Search extends RpcOptions {
  readonly commitment: "confirmed" | "finalized";
  readonly minContextSlot?: number;
}

/** The payer's transactions since the payment was shown, newest first; `last`: all of them. */
export async function readPage(
  rpc: SolanaRpc,
  trace: Trace,
  { commitment, minContextSlot, ...options }: Search,
): Promise<{ readonly ok: true; readonly entries: readonly Entry[]; readonly last: boolean } | Unproven> {
  const config = {
    commitment,
    limit: PAGE,
    ...(minContextSlot !== undefined && { minContextSlot }),
  };
  const params = [trace.payer, config];
  const reply = await rpc.call("getSignaturesForAddress", params, { ...options, maxBytes: PAGE_BYTES });
  if (!reply.ok) return unproven(failureOf(reply).message);
  const parsed = pageSchema.safeParse(reply.result);
  if (!parsed.success) return unproven("the payer's transactions cannot be read");
  const end = parsed.data.findIndex((entry) => isBefore(trace, entry));
  const entries = parsed.data.slice(0, end === -1 ? undefined : end);
  return { ok: true, entries, last: end !== -1 || parsed.data.length < PAGE };
}

/** A search of the payer's transactions. `searched`: it was complete, and there is none. */
export type Find = (
  rpc: SolanaRpc,
  trace: Trace,
  options: RpcOptions,
  search: Pick<Search, "commitment" | "minContextSlot">,
) => Promise<FetchedTransaction | (Unproven & { readonly searched: boolean })>;

/** Looks for a message among the payer's transactions. Finding none is no evidence. */
export async function findByMessage(
  rpc: SolanaRpc,
  trace: Trace,
  options: RpcOptions,
  search: Pick<Search, "commitment" | "minContextSlot"> = { commitment: "confirmed" },
): ReturnType<Find> {
  const broken = (message: string) => ({ ...unproven(message), searched: false });
  const page = await readPage(rpc, trace, { ...options, ...search });
  if (!page.ok) return broken(page.message);
  const { entries, last } = page;
  for (let at = 0; at < Math.min(entries.length, MOST_FETCHED); at += AT_ONCE) {
    const some = entries.slice(at, at + AT_ONCE);
    const fetched = await Promise.all(some.map(({ signature }) => fetchTransaction(rpc, signature, options)));
    const found = fetched.find((one) => one.ok && one.messageHash === trace.nonce);
    if (found?.ok) return found;
    if (fetched.some(({ ok }) => !ok)) return broken("a transaction of the payer cannot be read");
  }
  if (!last || entries.length > MOST_FETCHED) return broken("the payer has too many transactions to be searched");
  return { ...unproven("none of the payer's transactions is the settlement"), searched: true };
}

/** Why a payment is not excluded. `live`: by that node its last block is not final, so its bytes can still land. */
export type NotExcluded = Unproven & { readonly why: "live" | "untold" };
const untold = (message: string): NotExcluded => ({ ...unproven(message), why: "untold" });
const live = (message: string): NotExcluded => ({ ...unproven(message), why: "live" });

const epochSchema = z.object({ absoluteSlot: z.int(), blockHeight: z.int() });

/**
 * Shows that the payment is in no block and can never be in one: the last block for it is final, and this node, which is as
 * far as that and remembers back to before it was sent, has no such transaction. A buyer's own transfer that was never
 * announced was never sent either: there the last block alone decides.
 */
export async function exclude(
  node: SolanaRpc,
  trace: Trace,
  options: RpcOptions,
  /** How a transaction is looked for whose id is not known. */
  find: Find = findByMessage,
): Promise<{ readonly ok: true } | NotExcluded> {
  const info = await node.call("getEpochInfo", [{ commitment: "finalized" }], options);
  if (!info.ok) return untold(failureOf(info).message);
  const final = epochSchema.safeParse(info.result);
  if (!final.success) return untold("the node's finalized block cannot be read");
  const { absoluteSlot } = final.data;
  const over = await isOver(node, trace, final.data, options);
  if (!over.ok) return over;
  const { method, transaction, expiry } = trace;
  if (method === "transaction" && transaction === null) return { ok: true };

  const first = await node.call("getFirstAvailableBlock", [], options);
  if (!first.ok) return untold(failureOf(first).message);
  if (typeof first.result !== "number" || first.result > over.since) {
    return untold("the node's history does not reach back to the payment");
  }
  const search = { commitment: "finalized", minContextSlot: absoluteSlot } as const;
  if (transaction === null || (method !== "transaction" && expiry === null)) {
    const found = await find(node, trace, options, search);
    if (found.ok) return untold("the settlement has been found since");
    return found.searched ? { ok: true } : untold(found.message);
  }
  // A node without a history answers this with an error, where a status would be a silent null.
  const page = await readPage(node, trace, { ...options, ...search });
  if (!page.ok) return untold(page.message);
  const status = await readStatuses(node, [transaction], { ...options, history: true });
  if (!status.ok) return untold(status.message);
  if (status.slot < absoluteSlot) return untold("the node fell behind its own finalized block");
  const isKnown = page.entries.some(({ signature }) => signature === transaction) || status.statuses[0] !== null;
  return isKnown ? untold("the settlement has been seen since") : { ok: true };
}

/** A blockhash lives for 150 blocks. */
export const BLOCKHASH_LIFE = 150;
/** Slots between the finalized block and the one whose time is asked for: more than a blockhash's life, skipped ones too. */
const SLOTS_BACK = 250;
/** A slot may be without a block; then the one before it is asked for. */
export const MOST_SKIPPED = 5;
/** No cluster has ever had slots as short as this. */
const SHORTEST_SLOT_MS = 100;

const blockSchema = z.object({ blockHeight: z.int(), blockTime: z.int() });

/** Whether the last block for the payment is final, and a slot before it can have been sent. */
async function isOver(
  node: SolanaRpc,
  { expiry, validBefore }: Trace,
  { absoluteSlot, blockHeight }: z.infer<typeof epochSchema>,
  options: RpcOptions,
): Promise<{ readonly ok: true; readonly since: number } | NotExcluded> {
  if (expiry) {
    if (blockHeight > expiry.lastValidBlockHeight) return { ok: true, since: expiry.slot };
    return live("the transaction is not seen so far");
  }
  // Nothing is known of its blockhash but that it existed when the payment was shown. Invariant: time alone does not end
  // it, because a chain that stood still goes on with the blockhashes it had.
  for (let back = SLOTS_BACK; back < SLOTS_BACK + MOST_SKIPPED; back++) {
    const config = {
      commitment: "finalized",
      transactionDetails: "none",
      rewards: false,
      maxSupportedTransactionVersion: 0,
    };
    const reply = await node.call("getBlock", [absoluteSlot - back, config], options);
    const block = reply.ok ? blockSchema.safeParse(reply.result) : undefined;
    if (!block?.success) continue;
    const isPast = block.data.blockTime > validBefore && blockHeight - block.data.blockHeight > BLOCKHASH_LIFE;
    if (!isPast) return live("the payment could still be sent");
    const lived = (block.data.blockTime - validBefore) * 1000 + 2 * MAX_TRANSACTION_AGE_MS + CLOCKS_MS;
    const since = absoluteSlot - back - Math.ceil(lived / SHORTEST_SLOT_MS);
    return { ok: true, since: Math.max(0, since) };
  }
  return untold("the node does not tell the time of its blocks");
}
