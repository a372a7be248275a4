// What one node shows of a transaction, and what of several sightings counts. A confirmed one is told from bytes that bear
// the id; one that is only processed may still vanish with its fork.
import * as z from "zod/mini";
import { encodeBase58 } from "../../chains/solana/base58.js";
import { fetchTransaction } from "../../chains/solana/fetch.js";
import { feeLamports, readComputeLimit, readComputePrice } from "../../chains/solana/instructions.js";
import { printError } from "../../chains/solana/print.js";
import { programOf } from "../../chains/solana/programs.js";
import type { RpcOptions, SolanaRpc } from "../../chains/solana/rpc.js";
import { readStatuses, type Status } from "../../chains/solana/statuses.js";
import { decodeTransaction, type Transaction } from "../../chains/solana/transaction.js";
import type { ChainStanding } from "../chain.js";

export type Sighting = Extract<ChainStanding, { state: "unseen" | "waiting" | "mined" | "unreadable" }>;

/** From so many blocks on a transaction is final: no node counts further. */
const FINAL = 32;
const LEVELS = { processed: "included", confirmed: "confirmed", finalized: "finalized" } as const;

/** What a node knows of transactions by their ids; `wire`: our own bytes of one of them, base64. Never rejects. */
export async function sight(
  node: SolanaRpc,
  ids: readonly string[],
  wire: string | null,
  options: RpcOptions,
): Promise<Sighting> {
  const read = await readStatuses(node, ids, { ...options, history: true });
  if (!read.ok) return { state: "unreadable", message: read.message };
  const seen = ids.flatMap((id, i) => {
    const status = read.statuses[i];
    return status ? [{ id, status }] : [];
  });
  return best(await Promise.all(seen.map(({ id, status }) => judge(node, id, status, { wire, options }))));
}

async function judge(
  node: SolanaRpc,
  id: string,
  status: Status,
  { wire, options }: { readonly wire: string | null; readonly options: RpcOptions },
): Promise<Sighting> {
  if (status.level === "processed") {
    const own = wire === null ? undefined : bytesOf(wire, id);
    const height = await readHeight(node, status.slot, "processed", options);
    // Without the bytes nothing is known but that a node has it.
    if (!own || height === undefined) return { state: "waiting", signature: id };
    return toMined(id, status, { fee: feeOf(own), blockHeight: height, error: status.error });
  }
  const fetched = await fetchTransaction(node, id, options);
  if (!fetched.ok) {
    const message = fetched.seen === false ? "a node shows a status and no transaction" : fetched.message;
    return { state: "unreadable", message };
  }
  const blockHeight = await readHeight(node, fetched.slot, "confirmed", options);
  if (blockHeight === undefined) return { state: "unreadable", message: "a block's height cannot be read" };
  return toMined(id, status, { fee: fetched.fee ?? feeOf(fetched.decoded), blockHeight, error: fetched.error });
}

interface Facts {
  readonly fee: bigint;
  readonly blockHeight: number;
  readonly error: unknown;
}

function toMined(signature: string, { level, confirmations }: Status, { fee, blockHeight, error }: Facts): Sighting {
  return {
    state: "mined",
    signature,
    succeeded: error === null,
    blockHeight,
    fee,
    confirmations: level === "finalized" ? FINAL : Math.min(confirmations ?? 0, FINAL - 1),
    level: LEVELS[level],
    ...(error !== null && { reason: printError(error) }),
  };
}

/** The transaction in our own bytes, where they bear the id. */
function bytesOf(wire: string, id: string): Transaction | undefined {
  const decoded = decodeTransaction(wire);
  const [first] = decoded.ok ? decoded.transaction.signatures : [];
  return decoded.ok && first && encodeBase58(first) === id ? decoded.transaction : undefined;
}

const RANK = { included: 0, confirmed: 1, finalized: 2 } as const;

/**
 * What counts of several sightings: a success that is more than processed (another version that failed is then no matter),
 * else whatever stands deepest, else that a node has it, else that it could be asked and knows nothing.
 */
export function best(sightings: readonly Sighting[]): Sighting {
  const weigh = (one: Sighting): number => {
    if (one.state === "unreadable") return 0;
    if (one.state === "unseen") return 1;
    if (one.state === "waiting") return 2;
    return 3 + RANK[one.level] + (one.succeeded && one.level !== "included" ? FINAL : 0);
  };
  return sightings.reduce<Sighting>((first, next) => (weigh(next) > weigh(first) ? next : first), NOTHING(sightings));
}

/** An empty list is a node that knows none of the ids; of others the first stands until a better one is found. */
const NOTHING = ([first]: readonly Sighting[]): Sighting => first ?? { state: "unseen" };

/** What a transaction costs by its own words, lamports. */
export function feeOf({ header, keys, instructions }: Transaction): bigint {
  const budget = instructions.filter(({ program }) => programOf(keys[program]) === "computeBudget");
  const [units] = budget.flatMap(({ data }) => readComputeLimit(data) ?? []);
  const [unitPrice] = budget.flatMap(({ data }) => readComputePrice(data) ?? []);
  return feeLamports({ signatures: header.requiredSignatures, units: units ?? 0, unitPrice: unitPrice ?? 0n });
}

const blockSchema = z.object({ blockHeight: z.int() });
const epochSchema = z.object({ absoluteSlot: z.int(), blockHeight: z.int() });

/** A block's height: exact from `confirmed` on where the node shows the block, else by its distance from the newest. */
async function readHeight(
  node: SolanaRpc,
  slot: number,
  commitment: "processed" | "confirmed",
  options: RpcOptions,
): Promise<number | undefined> {
  if (commitment === "confirmed") {
    const config = { commitment, transactionDetails: "none", rewards: false, maxSupportedTransactionVersion: 0 };
    const block = await node.call("getBlock", [slot, config], options);
    const parsed = block.ok ? blockSchema.safeParse(block.result) : undefined;
    if (parsed?.success) return parsed.data.blockHeight;
  }
  const info = await node.call("getEpochInfo", [{ commitment }], options);
  const parsed = info.ok ? epochSchema.safeParse(info.result) : undefined;
  if (!parsed?.success) return undefined;
  // Slots without a block make this a little too low, never too high.
  return Math.max(0, parsed.data.blockHeight - Math.max(0, parsed.data.absoluteSlot - slot));
}
