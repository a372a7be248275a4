// Where a transfer stands on an EVM chain: by its hash where one is known, else by who sends it with which account nonce.
// Invariant: only what stands in a block is evidence. "The node does not know it" never is, and another transaction with the
// same nonce proves that this one can never land only when its own block is final.
import { type Member, readMember, readQuantity, readReceipt } from "../../chains/evm/answers.js";
import { lower } from "../../chains/evm/chain.js";
import { transactionCall } from "../../chains/evm/fetch.js";
import { type Hex, isHex } from "../../chains/evm/hex.js";
import { movementOf } from "../../chains/evm/movement.js";
import { findNonceUse, type NonceUse, PENDING_BLOCK, readWaiting } from "../../chains/evm/nonce-use.js";
import type { RpcAnswer, RpcCall, RpcOptions } from "../../chains/evm/rpc.js";
import { receiptCall } from "../../chains/evm/standing.js";
import type { ChainStanding } from "../chain.js";
import type { EvmPursuit } from "../payment.js";
import { type Effect, effectOf } from "./evm-build.js";
import type { EvmTransferChain } from "./evm-chain.js";
import { finalityOf, type HeadAndFinality, standingOfMined } from "./evm-mined.js";

/** Blocks before the one at which it was made that are searched too: a reorganisation may have put it there. */
const REORGANISED = 64n;

const unreadable = (message: string): ChainStanding => ({ state: "unreadable", message });
const UNSEEN: ChainStanding = { state: "unseen" };

/** Where a pursued transaction stands. Never rejects. */
export async function standingOfPursuit(
  chain: EvmTransferChain,
  pursuit: EvmPursuit,
  options: RpcOptions,
): Promise<ChainStanding> {
  const own = toOwn(pursuit, await effectOf(pursuit));
  const { sender, nonce } = pursuit;
  const hashes = [...new Set([pursuit.hash, ...(pursuit.earlier ?? [])])].filter((hash) => isHex(hash, 32)).map(lower);
  const calls: RpcCall[] = [
    // The counts first: a transaction that is mined between the answers then cannot look like another one's.
    { method: "eth_getTransactionCount", params: [sender, "latest"] },
    { method: "eth_getTransactionCount", params: [sender, "pending"] },
    ...hashes.flatMap((hash) => [receiptCall(hash), transactionCall(hash)]),
  ];
  const reply = await chain.rpc.batch(calls, options);
  if (!reply.ok) return unreadable(reply.message);
  const [latest, pending] = reply.answers.slice(0, 2).map(readQuantity);
  if (latest === undefined) return unreadable("the chain gave no readable nonce of the sender");

  const byHash = await standingByHash(chain, own, hashes, reply.answers.slice(2), options);
  if (byHash && byHash.state !== "waiting") return byHash;
  if (latest > BigInt(nonce)) return standingByNonce(chain, pursuit, own, options);
  if (byHash || pending === undefined || pending <= BigInt(nonce)) return byHash ?? UNSEEN;
  return standingInPool(chain, pursuit, own, options);
}

/** How this payment's transaction is told from another one of its sender. */
interface Own {
  readonly sender: string;
  readonly effect: Effect | undefined;
  paysTheSame(transaction: Member): boolean;
}

/**
 * Invariant: a transaction is this payment's only if it pays the same: payee, value and calldata to the byte. Gas and fees are its
 * signer's to choose.
 */
const toOwn = ({ sender, reference }: EvmPursuit, effect: Effect | undefined): Own => ({
  sender,
  effect,
  paysTheSame: ({ from, to, value, input: data }) =>
    from === lower(sender) &&
    (effect
      ? to === effect.to && value === effect.value && data === effect.data
      : to !== null && reference !== null && movementOf({ to, value, data })?.reference === lower(reference)),
});

/** By receipts and transactions of known hashes, two answers each; undefined = the node knows none of them. */
async function standingByHash(
  chain: EvmTransferChain,
  own: Own,
  hashes: readonly Hex[],
  answers: readonly RpcAnswer[],
  options: RpcOptions,
): Promise<ChainStanding | undefined> {
  let waiting: ChainStanding | undefined;
  for (const [index, hash] of hashes.entries()) {
    const receipt = readReceipt(answers[2 * index]);
    const known = readMember(answers[2 * index + 1]);
    if (receipt === undefined) return unreadable("the chain gave no readable receipt");
    if (known && !own.paysTheSame(known)) continue;
    if (receipt) {
      const standing = await standingOfMined(chain, hash, receipt.blockNumber, own, options);
      if (standing) return standing;
    }
    if (known) waiting ??= { state: "waiting", signature: hash };
  }
  return waiting;
}

/** Something of this sender and nonce waits. Many nodes show no block that waits: then it is seen when it is mined. */
async function standingInPool(
  { rpc }: EvmTransferChain,
  pursuit: EvmPursuit,
  own: Own,
  options: RpcOptions,
): Promise<ChainStanding> {
  const reply = await rpc.batch([PENDING_BLOCK], options);
  if (!reply.ok) return unreadable(reply.message);
  const waiting = readWaiting(reply.answers[0], pursuit);
  return waiting && own.paysTheSame(waiting) ? { state: "waiting", signature: waiting.hash } : UNSEEN;
}

/** The account's count is beyond the nonce, so a transaction in some block has used it: this one, or another. */
async function standingByNonce(
  chain: EvmTransferChain,
  pursuit: EvmPursuit,
  own: Own,
  options: RpcOptions,
): Promise<ChainStanding> {
  const finality = await finalityOf(chain, options);
  if ("message" in finality) return unreadable(finality.message);
  const use = await findUse(chain, pursuit, finality, options);
  if (use.found === "failed") return unreadable(use.message);
  if (use.found === "nothing") return unreadable("the transaction that used the nonce was not found so far");
  const { transaction, height } = use;
  if (own.paysTheSame(transaction)) {
    return (await standingOfMined(chain, transaction.hash, height, own, options)) ?? UNSEEN;
  }
  // Invariant: while a reorganisation can still take the other transaction away, this one may land after all.
  if (!finality.isFinal(height)) return UNSEEN;
  const reason = `another transaction of ${pursuit.sender} has used nonce ${pursuit.nonce}`;
  return { state: "impossible", reason, replacedBy: transaction.hash };
}

/** Goes on where an earlier look had to stop, behind blocks that cannot change any more. */
async function findUse(
  { rpc, scans }: EvmTransferChain,
  pursuit: EvmPursuit,
  { head, isFinal }: HeadAndFinality,
  options: RpcOptions,
): Promise<NonceUse> {
  const key = `${lower(pursuit.sender)}/${pursuit.nonce}`;
  const made = BigInt(pursuit.block);
  const start = made > REORGANISED ? made - REORGANISED : 0n;
  const use = await findNonceUse(rpc, pursuit, scans.get(key) ?? start, head, options);
  if (use.found === "nothing" && !use.isWhole && isFinal(use.next - 1n)) scans.set(key, use.next);
  else scans.delete(key);
  // Used before this payment was made: the chain has moved under it, or somebody else sends with its key.
  const isOlder = use.found === "nothing" && use.isWhole && use.next === start + 1n && start > 0n;
  return isOlder ? findNonceUse(rpc, pursuit, 0n, start, options) : use;
}

/** Where a transaction stands by its hash alone. Never rejects. */
export async function standingOfHash(
  chain: EvmTransferChain,
  signature: string,
  options: RpcOptions,
): Promise<ChainStanding> {
  if (!isHex(signature, 32)) return unreadable("expected a transaction hash: 0x and 64 hex digits");
  const hash = lower(signature);
  const reply = await chain.rpc.batch([receiptCall(hash), transactionCall(hash)], options);
  if (!reply.ok) return unreadable(reply.message);
  const receipt = readReceipt(reply.answers[0]);
  const known = readMember(reply.answers[1]);
  if (receipt === undefined || known === undefined) return unreadable("the chain gave no readable transaction");
  if (known && known.hash !== hash) return unreadable("the chain named another transaction than the one asked for");
  if (receipt) {
    const effect = known?.to ? { to: known.to, value: known.value, data: known.input } : undefined;
    const seen = { sender: known?.from ?? "", effect };
    const standing = await standingOfMined(chain, hash, receipt.blockNumber, seen, options);
    if (standing) return standing;
  }
  return known ? { state: "waiting", signature: hash } : UNSEEN;
}
