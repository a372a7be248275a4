// Hands signed bytes to every node of a chain, and says what became of that. The same bytes again are the same transaction, so
// sending them twice is harmless; taking a node's refusal for "it was never sent" would not be.

import { readMember, readReceipt } from "../../chains/evm/answers.js";
import { type Broadcast, broadcast } from "../../chains/evm/broadcast.js";
import { lower } from "../../chains/evm/chain.js";
import { transactionCall } from "../../chains/evm/fetch.js";
import { type Hex, isHex } from "../../chains/evm/hex.js";
import { receiptCall } from "../../chains/evm/standing.js";
import type { TransferChain } from "../chain.js";
import type { EvmPursuit } from "../payment.js";
import type { EvmTransferChain } from "./evm-chain.js";

/** Nodes are waited for so long. */
const SEND_MS = 5_000;
/**
 * What nodes say of bytes that they have judged and thrown away. Invariant: any other error ("internal error", "request timed
 * out") is of the node itself or of what stands before it, and the bytes may be on their way.
 */
const VERDICT =
  /insufficient (?:funds|balance)|InsufficientFunds|OutOfFunds|lack of funds|underpriced|gas price|fee per gas|fee ?cap|FeeTooLow|intrinsic gas|gas limit|out of gas|gas required|invalid (?:sender|signature|chain ?id|transaction|params)|nonce (?:is )?too high|oversized|method not found|transaction type|sender not an eoa/i;

type Sent = Awaited<ReturnType<TransferChain["broadcast"]>>;

/** Sends the signed bytes of a pursuit. Never rejects. */
export async function broadcastTransfer(
  chain: EvmTransferChain,
  { raw, hash }: EvmPursuit,
  signal: AbortSignal,
): Promise<Sent> {
  if (!isHex(raw) || !isHex(hash, 32)) return { outcome: "lost", message: "it has no signed bytes here" };
  if (signal.aborted) return { outcome: "lost", message: "no time is left to send it" };
  const signed = { ok: true, raw, hash: lower(hash) } as const;
  const deadlineAt = chain.now() + SEND_MS;
  const answers = await Promise.all(chain.each.map((rpc) => broadcast.send(rpc, signed, deadlineAt)));
  if (answers.some(({ outcome }) => outcome === "accepted")) return { outcome: "sent", message: "a node has it" };
  // Invariant: refused only where every node refused it. A nonce that counts as used may be used by this very transaction, and
  // one that waits may wait with it: a node that has it says so, and what no node tells is not known.
  const isKnown = await isKnownTo(chain, signed.hash, deadlineAt);
  if (isKnown) return { outcome: "sent", message: "a node has it" };
  const message = messageOf(answers);
  const isRefused = answers.every(
    (answer) => answer.outcome === "refused" && answer.nonce !== "used" && VERDICT.test(answer.message),
  );
  return isRefused && isKnown === false ? { outcome: "refused", message } : { outcome: "lost", message };
}

/** Undefined where not every node could be asked. */
async function isKnownTo({ each }: EvmTransferChain, hash: Hex, deadlineAt: number): Promise<boolean | undefined> {
  const calls = [transactionCall(hash), receiptCall(hash)];
  const replies = await Promise.all(each.map((rpc) => rpc.batch(calls, { deadlineAt })));
  const seen = replies.map((reply) => {
    if (!reply.ok) return undefined;
    const [known, receipt] = [readMember(reply.answers[0]), readReceipt(reply.answers[1])];
    if (known || receipt) return true;
    return known === null && receipt === null ? false : undefined;
  });
  return seen.includes(true) ? true : seen.includes(undefined) ? undefined : false;
}

const messageOf = (answers: readonly Broadcast[]): string =>
  [...new Set(answers.flatMap((answer) => ("message" in answer ? [answer.message] : [])))].join("; ");
