// A built transaction on Solana, from its bytes to its block: held against the order, simulated on the caller's own node, signed, sent
// there and waited for. The gateway's word decides nothing.
import { decodeAddress, encodeBase58 } from "../chains/solana/base58.js";
import { toBase64 } from "../chains/solana/bytes.js";
import { readExpiry } from "../chains/solana/confirm.js";
import { verifySignature } from "../chains/solana/ed25519.js";
import { printError } from "../chains/solana/print.js";
import type { RpcOptions } from "../chains/solana/rpc.js";
import { readTrouble, simulate } from "../chains/solana/simulate.js";
import { createStatusWatch, readStatuses, sendRaw } from "../chains/solana/statuses.js";
import { toWire } from "../chains/solana/transfer-message.js";
import type { SolanaSigner } from "../chains/solana/transfer-signer.js";
import type { BuiltOrder } from "./local-built.js";
import { LocalTransactionError, type SignedBytes } from "./local-error.js";
import { demandFee } from "./local-fee.js";
import type { Landed, LocalJob } from "./local-job.js";
import type { SolanaNode } from "./local-node.js";
import { type InspectedTransfer, inspectOnSolana } from "./local-solana-inspect.js";
import { askAccount } from "./unsigned.js";

export interface SolanaJob extends LocalJob {
  readonly node: SolanaNode;
  readonly signer: SolanaSigner;
}

interface Prepared extends InspectedTransfer {
  readonly built: BuiltOrder;
  /** It may have been sent before: under the caller's own key an earlier call got the same. */
  readonly again: boolean;
  /** Where the node was. */
  readonly slot: number;
}

/** What a transfer costs at most where nothing is said: 0.0001 SOL. A gateway's own price stays far below. */
const USUAL_FEE = 100_000n;
const SIGNATURE_FEE = 5_000n;

const optionsOf = ({ signal, deadlineAt }: LocalJob): RpcOptions => ({ deadlineAt, ...(signal && { signal }) });

/** @throws LocalTransactionError, or the signal's reason as long as nothing was sent */
export async function sendOnSolana(job: SolanaJob): Promise<Landed> {
  const { node, signal, deadlineAt } = job;
  const prepared = await prepare(job);
  const signed = await sign(job, prepared);
  const { built, again } = prepared;
  const facts = factsOf(built, signed);
  if (again) await demandKnown(job, signed, built);
  const bound = await readExpiry(node.rpc, prepared.slot, optionsOf(job));
  signal?.throwIfAborted();
  if (!bound.ok) throw new LocalTransactionError("node_failed", bound.message, facts);
  if (!again) void sendRaw(node.rpc, signed.bytes, { deadlineAt });
  return waitFor(job, built, signed, bound.expiry.lastValidBlockHeight);
}

/** Its blockhash may be newer than what the own node knows, or over: then it is built once more. */
async function prepare(job: SolanaJob): Promise<Prepared> {
  const { node, order, signal, mayRebuild } = job;
  for (let builds = 1; ; builds++) {
    const built = await job.build();
    const { paymentId } = built;
    const inspected = await inspectOnSolana(built, order);
    demandFee(inspected.fee, mostOf(job), order.network, paymentId);
    const simulation = await simulate(node.rpc, built.base64, { sigVerify: false, ...optionsOf(job) });
    signal?.throwIfAborted();
    if (!simulation.ok) throw new LocalTransactionError("node_failed", simulation.message, { paymentId });
    const { error, slot } = simulation;
    if (error === null) return { ...inspected, built, again: false, slot };
    const { kind } = readTrouble(error);
    const isPast = kind === "used" || kind === "blockhash";
    if (isPast && !mayRebuild) return { ...inspected, built, again: true, slot };
    if (!isPast || builds > 1) {
      throw new LocalTransactionError("would_fail", `your own node says ${printError(error)}`, { paymentId });
    }
  }
}

const mostOf = ({ maxFee, order: { priorityFee } }: SolanaJob): bigint =>
  maxFee ?? (priorityFee === undefined ? USUAL_FEE : priorityFee + SIGNATURE_FEE);

async function sign({ signer, signal }: SolanaJob, { built, message }: Prepared): Promise<SignedBytes> {
  const refused = (detail: string) =>
    new LocalTransactionError("signing_failed", detail, { paymentId: built.paymentId });
  const asked = await askAccount(() => signer.sign(new Uint8Array(message)), signal);
  if (!asked.ok) throw refused(asked.message);
  const signature: unknown = asked.value;
  const key = decodeAddress(signer.address);
  const isOwn = key && signature instanceof Uint8Array && (await verifySignature(key, message, signature));
  if (!isOwn) throw refused(`the signature is not one of ${signer.address}`);
  return { transaction: encodeBase58(signature), bytes: toBase64(toWire(message, [signature])) };
}

const factsOf = ({ paymentId, idempotencyKey }: BuiltOrder, signed: SignedBytes) => ({
  ...{ paymentId, idempotencyKey, signed },
});

async function demandKnown(job: SolanaJob, signed: SignedBytes, built: BuiltOrder): Promise<void> {
  const known = await readStatuses(job.node.rpc, [signed.transaction], { history: true, ...optionsOf(job) });
  job.signal?.throwIfAborted();
  if (!known.ok) throw new LocalTransactionError("node_failed", known.message, factsOf(built, signed));
  if (known.statuses[0]) return;
  const detail = "its blockhash is over, and your own node has not seen it";
  throw new LocalTransactionError("built_expired", detail, factsOf(built, signed));
}

async function waitFor(
  { node, deadlineAt, signal }: SolanaJob,
  built: BuiltOrder,
  signed: SignedBytes,
  lastValidBlockHeight: number,
): Promise<Landed> {
  const facts = factsOf(built, signed);
  const { transaction: id, bytes: wire } = signed;
  const watch = createStatusWatch(node.rpc, () => Date.now());
  // An abort ends the waiting and nothing else: what was sent stays sent.
  const leave = () => watch.close();
  signal?.addEventListener("abort", leave);
  if (signal?.aborted) leave();
  try {
    const waited = await watch.wait({ id, wire, level: "confirmed", lastValidBlockHeight, deadlineAt });
    if (waited.outcome === "landed") return { built, ...signed };
    if (waited.outcome === "failed") {
      throw new LocalTransactionError("failed_on_chain", `${id}: ${printError(waited.error)}`, facts);
    }
    const seen =
      waited.outcome === "overdue" ? "its blockhash is over, and no node has shown it" : "it is in no block so far";
    throw new LocalTransactionError("outcome_unknown", `${id}: ${seen}`, facts, { cause: signal?.reason });
  } finally {
    signal?.removeEventListener("abort", leave);
    watch.close();
  }
}
