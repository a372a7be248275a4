// Judges a proof that is the buyer's own signed transfer. Its fields first, which cost no call; then one batch for all that the
// chain says of it. What the chain knows already is public, so whoever shows it must know its secret; what it does not know
// must be minable as the very next transaction of its sender. It changes nothing anywhere. Source: design §6.
import type { TransactionProof } from "../../proof.js";
import type { Verification } from "../../receive/receiver.js";
import { NATIVE, type TransactionRequirement } from "../../requirement.js";
import { type EvmChain, lower } from "./chain.js";
import { isFor } from "./evidence.js";
import { readBase64 } from "./identity.js";
import { judgeMined, tooLow } from "./mined.js";
import { type Movement, movementOf, ownership } from "./movement.js";
import type { RpcOptions } from "./rpc.js";
import { sightingOf } from "./sighting.js";
import type { SignedTransaction } from "./transaction.js";
import { judgeUnsent } from "./unsent.js";
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
  if (owner === "foreign") return refuse(secretRequired(proof, movement));
  // What carries no reference buys nothing where it is public and nothing where it is new: the chain need not be asked.
  if (owner === "open" && movement.amount < requirement.amount) return refuse(wrongAmount(proof, movement.amount));
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

const secretRequired = (proof: TransactionProof, { reference }: Movement): Invalid =>
  invalid(proof, "payment_secret_required", {
    expected: `secret: 0x… whose SHA-256 is ${reference}`,
    got: proof.secret === undefined ? "none" : "another one",
  });

/** Judges a read proof against the chain: one batch, a second one for what was mined, or seems to have been replaced. */
export async function judgeTransaction(
  chain: EvmChain,
  read: ReadProof,
  options: RpcOptions,
): Promise<TransactionJudgement> {
  const { proof, movement, requirement } = read;
  const { amount } = requirement;
  const sighting = await sightingOf(chain, read, options);
  if (sighting.state === "unreadable") return { verdict: sighting.verdict, isPublic: false };
  if (sighting.state === "unknown") {
    // Invariant: exactly the price, as with every other proof; more is taken only where it has come already.
    const exact = movement.amount === amount;
    const verdict = exact ? judgeUnsent(read, sighting.market) : wrongAmount(proof, movement.amount);
    return { verdict, isPublic: false };
  }
  // Invariant: anyone can copy what is public, so only its secret tells who may be paid for with it.
  if (!read.owned) return { verdict: unowned(proof), isPublic: true };
  if (sighting.state === "mined") {
    return { verdict: await judgeMined(chain, read, sighting.height, options), isPublic: true };
  }
  // It waits: the settlement will tell.
  const verdict: Valid | Invalid =
    movement.amount < amount ? tooLow(proof, amount, movement.amount) : { outcome: "valid", payer: proof.payer };
  return { verdict, isPublic: true };
}

/** The verdict on what carries no reference and was public before it was shown. */
export const unowned = (proof: TransactionProof): Invalid =>
  invalid(proof, "payment_unreferenced", {
    expected: "calldata that ends with the SHA-256 of a secret, signed with the transfer",
    got: "none",
  });

/** Verifies for the guard. */
export async function verifyTransaction(
  chain: EvmChain,
  proof: TransactionProof,
  { signal }: { readonly signal: AbortSignal },
): Promise<Verification> {
  const read = await readProof(chain, proof);
  return read.ok ? (await judgeTransaction(chain, read, { signal })).verdict : read.verdict;
}
