// Judges a proof that is the buyer's own signed transfer. Its fields first, which cost no call; then one batch for all that the
// chain says of it. What the chain knows already is public, so whoever shows it must know its secret; what it does not know
// must be minable as the very next transaction of its sender. It changes nothing anywhere. Source: design §6.
import { MAX_TRANSACTION_AGE_MS, type TransactionProof } from "../../proof.js";
import type { Verification } from "../../receive/receiver.js";
import { NATIVE, type TransactionRequirement } from "../../requirement.js";
import { balanceOf } from "./calldata.js";
import { type EvmChain, lower } from "./chain.js";
import { amountPaid, isFor } from "./evidence.js";
import { transactionCall } from "./fetch.js";
import { toQuantity } from "./hex.js";
import { readBase64 } from "./identity.js";
import { type Movement, movementOf, ownership } from "./movement.js";
import type { RpcCall, RpcOptions } from "./rpc.js";
import { blockCall, receiptCall, standingOf } from "./standing.js";
import type { SignedTransaction } from "./transaction.js";
import { judgeUnsent, type Market, readMarket } from "./unsent.js";
import { type Invalid, invalid, type Unavailable, unavailable, type Valid } from "./verdicts.js";

/** A proof whose bytes have been read and whose fields are those of its requirement. */
export interface ReadProof {
  readonly ok: true;
  readonly proof: TransactionProof;
  readonly requirement: TransactionRequirement;
  readonly transaction: SignedTransaction;
  readonly movement: Movement;
  /** It carries a reference, and its secret was shown. */
  readonly owned: boolean;
}

/** A verdict, and whether the chain knows the transaction. */
export interface TransactionJudgement {
  readonly verdict: Valid | Invalid | Unavailable;
  readonly isPublic: boolean;
}

/** Everything that needs no call. */
export async function readProof(
  chain: EvmChain,
  proof: TransactionProof,
): Promise<ReadProof | { readonly ok: false; readonly verdict: Invalid | Unavailable }> {
  const refuse = (verdict: Invalid | Unavailable) => ({ ok: false, verdict }) as const;
  const { requirement } = proof;
  if (requirement.method !== "transaction" || requirement.network !== chain.network) {
    const got = `${requirement.method} on ${requirement.network}`;
    return refuse(unavailable("misconfigured", `expected a transaction on ${chain.network}, got ${got}`));
  }
  const read = await readBase64(proof.transaction);
  if (!read.ok) {
    const { ok, code, ...facts } = read;
    return refuse(invalid(proof, code, facts));
  }
  const { transaction } = read;
  const movement = movementOf(transaction);
  if (movement?.asset.toLowerCase() !== lower(requirement.asset)) return refuse(wrongTransfer(proof, transaction));
  const refused = judgeFields(chain, proof, transaction, movement);
  if (refused) return refuse(refused);
  const owner = await ownership(movement, proof.secret);
  // Invariant: a reference says that its buyer meant to prove himself; without the secret it pays nothing, known to the chain or
  // not. So nobody can be faster with it than its buyer, in the moments before this node has seen it.
  if (owner === "foreign") return refuse(secretRequired(proof, `0x… whose SHA-256 is ${movement.reference}`));
  return { ok: true, proof, requirement, transaction, movement, owned: owner === "owned" };
}

function judgeFields(
  chain: EvmChain,
  proof: TransactionProof,
  { chainId, nonce, maxPriorityFeePerGas, maxFeePerGas }: SignedTransaction,
  movement: Movement,
): Invalid | undefined {
  const { requirement } = proof;
  if (chainId !== BigInt(chain.chainId)) {
    return invalid(proof, "offer_mismatch", { expected: `chain id ${chain.chainId}`, got: `chain id ${chainId}` });
  }
  if (!isFor(movement, requirement)) {
    return invalid(proof, "recipient_mismatch", { expected: requirement.payTo, got: movement.payTo });
  }
  if (movement.amount < requirement.amount) return wrongAmount(proof, movement.amount);
  if (maxPriorityFeePerGas > maxFeePerGas) {
    const facts = { expected: "maxPriorityFeePerGas up to maxFeePerGas", got: `${maxPriorityFeePerGas}` };
    return invalid(proof, "payment_rejected", facts);
  }
  return nonce > BigInt(Number.MAX_SAFE_INTEGER)
    ? invalid(proof, "payment_rejected", { expected: "the sender's next nonce", got: `nonce ${nonce}` })
    : undefined;
}

function wrongTransfer(proof: TransactionProof, { to, value, data }: SignedTransaction): Invalid {
  const { asset } = proof.requirement;
  const expected =
    asset === NATIVE
      ? "a transfer of native currency, its calldata empty or a reference of 32 bytes"
      : `transfer(payTo, amount) of ${asset}, with nothing after it or a reference of 32 bytes, and no native currency`;
  const got = `${value} wei to ${to} with ${data.length / 2 - 1} bytes of calldata`;
  return invalid(proof, "offer_mismatch", { expected, got });
}

const wrongAmount = (proof: TransactionProof, got: bigint): Invalid =>
  invalid(proof, "amount_mismatch", { expected: proof.requirement.amount.toString(), got: got.toString() });

const secretRequired = (proof: TransactionProof, expected: string): Invalid =>
  invalid(proof, "payment_secret_required", { expected: `secret: ${expected}` });

/** Judges a read proof against the chain: one batch, a second one for what was mined, or seems to have been replaced. */
export async function judgeTransaction(
  chain: EvmChain,
  read: ReadProof,
  options: RpcOptions,
): Promise<TransactionJudgement> {
  let found = await ask(chain, read, options);
  // A node that is catching up may count a nonce before it finds its receipt: what would be a loss for the buyer is asked twice.
  if (found.ok && !found.isPublic && found.used) found = await ask(chain, read, options);
  if (!found.ok) return { verdict: found.verdict, isPublic: false };
  const { proof, movement } = read;
  if (!found.isPublic) {
    const { amount } = read.requirement;
    // Invariant: exactly the price, as with every other proof; more is taken only where it has come already.
    const verdict = movement.amount === amount ? judgeUnsent(read, found) : wrongAmount(proof, movement.amount);
    return { verdict, isPublic: false };
  }
  // Invariant: anyone can copy what is public, so only its secret tells who may be paid for with it.
  if (!read.owned) {
    const expected =
      "32 bytes whose SHA-256 its calldata ends with; it carries no reference, and is on the chain already";
    return { verdict: secretRequired(proof, expected), isPublic: true };
  }
  const verdict = found.height === undefined ? valid(proof) : await judgeMined(chain, read, found.height, options);
  return { verdict, isPublic: true };
}

const valid = ({ payer }: TransactionProof): Valid => ({ outcome: "valid", payer });

type Found =
  | { readonly ok: false; readonly verdict: Unavailable }
  | { readonly ok: true; readonly isPublic: true; readonly height: bigint | undefined }
  | ({ readonly ok: true; readonly isPublic: false } & Market);

async function ask(chain: EvmChain, read: ReadProof, options: RpcOptions): Promise<Found> {
  const reply = await chain.rpc.batch(callsFor(read), options);
  if (!reply.ok) return { ok: false, verdict: unavailable(reply.code, reply.message) };
  const found = readMarket(reply.answers, read);
  if (typeof found !== "string") return found;
  return { ok: false, verdict: unavailable("receiver_bad_response", `the chain gave no readable ${found}`) };
}

function callsFor({ transaction, movement }: ReadProof): RpcCall[] {
  const { hash, sender, to, value, data, gas } = transaction;
  const call = { from: sender, to, value: toQuantity(value), data };
  return [
    transactionCall(hash),
    // The counts before the receipt: one that comes between them then cannot look like another transaction's.
    { method: "eth_getTransactionCount", params: [sender, "latest"] },
    { method: "eth_getTransactionCount", params: [sender, "pending"] },
    receiptCall(hash),
    blockCall("latest"),
    { method: "eth_getBalance", params: [sender, "latest"] },
    { method: "eth_call", params: [{ ...call, gas: toQuantity(gas) }, "latest"] },
    { method: "eth_estimateGas", params: [call] },
    ...(movement.asset === NATIVE ? [] : [{ method: "eth_call", params: [{ to, data: balanceOf(sender) }, "latest"] }]),
  ];
}

/** Invariant: what is on the chain already must have succeeded, have moved at least the price, and not be old. */
async function judgeMined(
  chain: EvmChain,
  { proof, requirement, transaction }: ReadProof,
  height: bigint,
  options: RpcOptions,
): Promise<TransactionJudgement["verdict"]> {
  const standing = await standingOf(chain.rpc, transaction.hash, height, options);
  if (standing.state === "unreadable") return unavailable("receiver_unreachable", standing.message);
  // It waits again, as it did before it was mined: the settlement will tell.
  if (standing.state === "absent") return valid(proof);
  const { receipt, block } = standing;
  if (receipt.status !== "0x1") return invalid(proof, "payment_rejected", { got: "a transaction that was reverted" });
  if (amountPaid(transaction, receipt, requirement) === undefined) {
    const expected = `a Transfer of ${requirement.amount} to ${requirement.payTo}`;
    return invalid(proof, "payment_rejected", { expected, got: "a receipt that does not show it" });
  }
  const minedAt = Number(block.timestamp) * 1000;
  const oldest = chain.now() - MAX_TRANSACTION_AGE_MS;
  if (minedAt >= oldest) return { outcome: "valid", payer: proof.payer, minedAt };
  const facts = { expected: `mined after ${isoOf(oldest)}`, got: `mined at ${isoOf(minedAt)}` };
  return invalid(proof, "payment_too_old", facts);
}

const isoOf = (ms: number): string => new Date(ms).toISOString();

/** Verifies for the guard. */
export async function verifyTransaction(
  chain: EvmChain,
  proof: TransactionProof,
  { signal }: { readonly signal: AbortSignal },
): Promise<Verification> {
  const read = await readProof(chain, proof);
  return read.ok ? (await judgeTransaction(chain, read, { signal })).verdict : read.verdict;
}
