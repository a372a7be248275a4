// A built transaction on EVM, from its bytes to its block: held against the order, tried on the caller's own node, signed, sent there
// and waited for. The gateway's word decides nothing.
import { readKnown, readQuantity, readReceipt } from "../chains/evm/answers.js";
import { broadcast } from "../chains/evm/broadcast.js";
import { lower } from "../chains/evm/chain.js";
import { amountPaid } from "../chains/evm/evidence.js";
import { toBytes } from "../chains/evm/hex.js";
import { createReceiptWatch } from "../chains/evm/receipts.js";
import type { SignedTransaction, TransactionFields } from "../chains/evm/transaction.js";
import { toBase64 } from "../chains/solana/bytes.js";
import type { EvmSigner } from "./evm-account.js";
import { signFields } from "./evm-signing.js";
import { accountTurns, turnKey } from "./evm-transfer.js";
import type { BuiltOrder } from "./local-built.js";
import { LocalTransactionError } from "./local-error.js";
import { inspectOnEvm, rehearseOnEvm } from "./local-evm-inspect.js";
import { demandFee } from "./local-fee.js";
import type { Landed, LocalJob } from "./local-job.js";
import type { EvmNode } from "./local-node.js";
import { wait } from "./wait.js";

export interface EvmJob extends LocalJob {
  readonly node: EvmNode;
  readonly signer: EvmSigner;
  /** Of the node: what tells two local chains of one id apart. */
  readonly url: string;
}

interface Prepared {
  readonly built: BuiltOrder;
  readonly fields: TransactionFields;
  /** It may have been sent before: under the caller's own key an earlier call got the same. */
  readonly again: boolean;
}

/** @throws LocalTransactionError, or the signal's reason as long as nothing was sent */
export async function sendOnEvm(job: EvmJob): Promise<Landed> {
  const { node, signer, signal, deadlineAt } = job;
  const turn = await accountTurns.take(turnKey(node.network.chainId, job.url, signer.address), {
    until: deadlineAt,
    signal,
  });
  if (!turn) throw new LocalTransactionError("would_fail", "earlier payments of the account did not end in time");
  try {
    const prepared = await prepare(job);
    const transaction = await sign(job, prepared);
    const lost = await send(job, prepared, transaction);
    turn.end();
    return await waitFor(job, prepared, transaction, lost);
  } finally {
    turn.end();
  }
}

/** Nodes may be a moment behind each other. */
const [PAUSE_MS, LOOKS, BUILDS] = [300, 10, 5];

/** Builds until the account nonce is the account's very next one. */
async function prepare(job: EvmJob): Promise<Prepared> {
  const { node, order, signal } = job;
  for (let builds = 1; ; builds++) {
    const built = await job.build();
    const fields = inspectOnEvm(built, order, node.network);
    let pending = await nextNonce(job);
    for (let looks = 1; fields.nonce > pending && looks < LOOKS; looks++) {
      await wait(PAUSE_MS, signal);
      pending = await nextNonce(job);
    }
    const { paymentId } = built;
    // Invariant: it takes the place of no other transaction of the account, and waits for none that nobody has made.
    if (fields.nonce > pending) {
      const detail = `expected the account nonce ${pending}, the next one by your own node, got ${fields.nonce}`;
      throw new LocalTransactionError("built_wrong", detail, { paymentId });
    }
    if (fields.nonce < pending) {
      if (!job.mayRebuild) {
        if (job.maxFee !== undefined) demandFee(fields.gas * fields.maxFeePerGas, job.maxFee, order.network, paymentId);
        return { built, fields, again: true };
      }
      if (builds >= BUILDS) throw passed(paymentId, fields, pending);
      await wait(PAUSE_MS * builds, signal);
      continue;
    }
    const rehearsal = await rehearseOnEvm(job, built, fields);
    demandFee(fields.gas * fields.maxFeePerGas, job.maxFee ?? rehearsal.most, order.network, paymentId);
    return { built, fields, again: false };
  }
}

const passed = (paymentId: string, { nonce }: TransactionFields, pending: bigint): LocalTransactionError =>
  new LocalTransactionError("built_expired", `its account nonce ${nonce} is used, the next one is ${pending}`, {
    paymentId,
  });

async function nextNonce({ node, order, signal }: EvmJob): Promise<bigint> {
  const call = { method: "eth_getTransactionCount", params: [lower(order.sender), "pending"] };
  const reply = await node.rpc.batch([call], signal ? { signal } : {});
  signal?.throwIfAborted();
  const count = reply.ok ? readQuantity(reply.answers[0]) : undefined;
  if (count !== undefined) return count;
  throw new LocalTransactionError("node_failed", reply.ok ? "it gave no readable account nonce" : reply.message);
}

async function sign({ signer, order, signal }: EvmJob, { built, fields }: Prepared): Promise<SignedTransaction> {
  const signed = await signFields(signer, order.network, fields, signal);
  if (signed.ok) return signed.transaction;
  throw new LocalTransactionError("signing_failed", signed.message, { paymentId: built.paymentId });
}

/** True = the node's answer never came: the bytes may be on their way. */
async function send(job: EvmJob, { built, fields, again }: Prepared, transaction: SignedTransaction): Promise<boolean> {
  const { node, deadlineAt, signal } = job;
  const { hash, raw } = transaction;
  if (again) {
    if (await isKnown(job, transaction)) return false;
    throw passed(built.paymentId, fields, await nextNonce(job));
  }
  signal?.throwIfAborted();
  const sent = await broadcast.send(node.rpc, { ok: true, raw, hash }, deadlineAt);
  if (sent.outcome === "refused")
    throw new LocalTransactionError("not_taken", sent.message, factsOf(built, transaction));
  return sent.outcome === "lost";
}

/** Whether the node has it, in a block or waiting for one. */
async function isKnown({ node, signal }: EvmJob, { hash }: SignedTransaction): Promise<boolean> {
  const calls = ["eth_getTransactionReceipt", "eth_getTransactionByHash"].map((method) => ({ method, params: [hash] }));
  const reply = await node.rpc.batch(calls, signal ? { signal } : {});
  if (!reply.ok) throw new LocalTransactionError("node_failed", reply.message);
  const [receipt, known] = reply.answers;
  return Boolean(readReceipt(receipt) ?? readKnown(known));
}

const factsOf = ({ paymentId, idempotencyKey }: BuiltOrder, { hash, raw }: SignedTransaction) => ({
  ...{ paymentId, idempotencyKey },
  signed: { transaction: hash, bytes: toBase64(toBytes(raw)) },
});

async function waitFor(
  job: EvmJob,
  { built, again }: Prepared,
  transaction: SignedTransaction,
  lost: boolean,
): Promise<Landed> {
  const { node, order, deadlineAt, signal } = job;
  const { hash, nonce } = transaction;
  // Invariant: bytes leave only when their fee was judged. Those of an earlier call are judged by the caller's limit alone: the
  // money may have moved, and the node then makes nothing of the same transfer any more.
  const raw = again && job.maxFee === undefined ? undefined : transaction.raw;
  const facts = factsOf(built, transaction);
  const watch = createReceiptWatch(node.rpc, node.network.blockMs, () => Date.now());
  // An abort ends the waiting and nothing else: what was sent stays sent.
  const leave = () => watch.close();
  signal?.addEventListener("abort", leave);
  if (signal?.aborted) leave();
  try {
    const waited = await watch.wait({
      hash,
      ...(raw !== undefined && { raw }),
      settler: lower(order.sender),
      nonce: Number(nonce),
      lost,
      deadlineAt,
    });
    if (waited.outcome === "replaced") throw new LocalTransactionError("replaced", `${hash} was not mined`, facts);
    if (waited.outcome === "timeout") {
      const detail = `your own node has shown ${hash} in no block so far`;
      throw new LocalTransactionError("outcome_unknown", detail, facts, { cause: signal?.reason });
    }
    const { address: asset } = order.asset;
    const came = amountPaid(transaction, waited.receipt, { asset, payTo: order.recipient, amount: 0n });
    if (came === undefined) {
      const what = waited.receipt.status === "0x1" ? "did not move the token" : "was reverted";
      throw new LocalTransactionError("failed_on_chain", `${hash} ${what}`, facts);
    }
    return { built, ...facts.signed };
  } finally {
    signal?.removeEventListener("abort", leave);
    watch.close();
  }
}
