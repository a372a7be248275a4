// From signed bytes to an outcome: announced, sent, sent again and looked for until the transaction stands in a block. The
// one way in which anything leaves for the chain, so that the order holds for every kind of payment.
import * as z from "zod/mini";
import { reasonOf } from "../../errors.js";
import type { SettleContext, Settlement, Trace } from "../../receive/receiver.js";
import type { SolanaChain } from "./chain.js";
import { fetchTransaction } from "./fetch.js";
import { isBefore } from "./native-time.js";
import { printError } from "./print.js";
import { failureOf, type RpcFailure, type RpcOptions, type SolanaRpc } from "./rpc.js";
import { type SentTransaction, sendRaw } from "./statuses.js";

export type ChainExpiry = NonNullable<Trace["expiry"]>;

const latestSchema = z.object({ value: z.object({ lastValidBlockHeight: z.int() }) });

/**
 * What bounds the life of a transaction that is in no block up to `slot` and whose blockhash was good there: none that was
 * made by then lives longer than the newest one. Never rejects.
 */
export async function readExpiry(
  rpc: SolanaRpc,
  slot: number,
  options: RpcOptions,
): Promise<{ readonly ok: true; readonly expiry: ChainExpiry } | RpcFailure> {
  // Invariant: the node is not behind the one that knew the blockhash, or the bound would be too low.
  const config = { commitment: "confirmed", minContextSlot: slot };
  const reply = await rpc.call("getLatestBlockhash", [config], options);
  if (!reply.ok) return failureOf(reply);
  const parsed = latestSchema.safeParse(reply.result);
  if (!parsed.success) {
    return { ok: false, code: "receiver_bad_response", message: "the node's latest blockhash cannot be read" };
  }
  return { ok: true, expiry: { slot, lastValidBlockHeight: parsed.data.value.lastValidBlockHeight } };
}

export interface Broadcast extends Pick<SentTransaction, "id" | "wire" | "level"> {
  readonly expiry: ChainExpiry;
  readonly payer: string;
  /** Who of ours pays the network fee, and how much; absent = the payer. */
  readonly cost?: { readonly settler: string; readonly lamports: bigint };
}

/** Tells the store of a transaction; the outcome where it may not be sent. Never rejects. */
export async function announce(
  sending: SettleContext["sending"],
  id: string,
  expiry?: ChainExpiry,
): Promise<Settlement | undefined> {
  const refusal = await sending(id, expiry).then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : "refused"),
  );
  if (refusal !== undefined) {
    return { outcome: "unavailable", message: `the settlement could not be announced: ${refusal}` };
  }
  return undefined;
}

/** Announces and sends a complete transaction and waits for its block. Never rejects. */
export async function broadcast(
  chain: SolanaChain,
  { payer, expiry, cost, ...sent }: Broadcast,
  { sending, deadlineAt, since }: Pick<SettleContext, "sending" | "deadlineAt" | "since">,
): Promise<Settlement> {
  const { rpc, statuses, failures, now } = chain;
  // Invariant: the store knows the transaction before a byte of it leaves.
  const unannounced = await announce(sending, sent.id, expiry);
  if (unannounced) return unannounced;
  if (now() >= deadlineAt) return { outcome: "unavailable", message: "no time is left to settle" };

  // From here on nothing but a block decides. A node that refuses the bytes may still have passed them on.
  let trouble = "it is in no confirmed block so far";
  void sendRaw(rpc, sent.wire, { deadlineAt }).then((answer) => {
    if (!answer.ok) trouble = `its answer was lost: ${answer.message}`;
  });
  const waited = await statuses.wait({ ...sent, lastValidBlockHeight: expiry.lastValidBlockHeight, deadlineAt });
  const unknown = (message: string): Settlement => ({ outcome: "unknown", transaction: sent.id, message });
  switch (waited.outcome) {
    case "landed": {
      const age = await ageOf(chain, sent.id, since, deadlineAt);
      if (age === "unknown") return unknown("its age cannot be told");
      if (age === "new") return { outcome: "settled", transaction: sent.id, payer, height: waited.slot };
      return { outcome: "refused", code: "payment_too_old", reason: reasonOf("payment_too_old", 2) };
    }
    case "failed": {
      const error = printError(waited.error);
      if (cost) failures.add({ ...cost, transaction: sent.id, error });
      return { outcome: "unknown", transaction: sent.id, message: `it failed on the chain: ${error}`, reverted: true };
    }
    case "overdue":
      return unknown("its blockhash is over and no node has shown it in a block");
    case "timeout":
      return unknown(trouble);
  }
}

/** No blockhash is good for as long: a store that is older has not forgotten what lands now, and is not asked about it. */
const YOUNG_MS = 120_000;
const LOOK_MS = 250;

/**
 * Is what has landed younger than the store's memory? Invariant: what landed before it begins may have been used before it began,
 * and the same bytes are the same transaction: a node that was behind may have judged it as new.
 */
async function ageOf(
  { rpc, now }: SolanaChain,
  id: string,
  since: number | undefined,
  deadlineAt: number,
): Promise<"new" | "old" | "unknown"> {
  if (since === undefined || now() - since > YOUNG_MS) return "new";
  for (;;) {
    const fetched = await fetchTransaction(rpc, id, { deadlineAt });
    if (fetched.ok && fetched.minedAt !== undefined) return isBefore(fetched.minedAt, since) ? "old" : "new";
    if (now() + LOOK_MS >= deadlineAt) return "unknown";
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
