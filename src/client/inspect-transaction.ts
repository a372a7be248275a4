// A buyer's own EVM transaction, read from its signed bytes, against the offer. Source: design §6 (transaction proofs).
import { movementOf, ownership } from "../chains/evm/movement.js";
import { readTransaction, type SignedTransaction } from "../chains/evm/transaction.js";
import { fromBase64 } from "../chains/solana/bytes.js";
import { NATIVE } from "../requirement.js";
import { describeIssue } from "../wire/issue.js";
import { transactionPayload } from "../wire/payload.js";
import type { SignedFacts } from "./inspect.js";
import type { Offer } from "./offer.js";

/**
 * Wei that the gas may cost, by the currency: far above what the wallet's own bound lets through, and below what anybody would
 * lose gladly. It keeps a broken wallet from burning what it holds.
 */
const MAX_FEES: ReadonlyMap<string, bigint> = new Map([
  ["ETH", 5n * 10n ** 16n],
  ["BTC", 2n * 10n ** 15n],
]);
const MAX_FEE = 10n ** 19n;

export async function findTransactionMismatch(
  offer: Offer,
  payload: object,
  { payer }: Required<SignedFacts>,
): Promise<string | undefined> {
  const parsed = transactionPayload.safeParse(payload);
  if (!parsed.success) return describeIssue(parsed.error);
  const { transaction: text, secret } = parsed.data;
  // Invariant: bytes, never an id: what an id stands for cannot be seen here.
  const bytes = fromBase64(text);
  if (!bytes) return "expected the bytes of a transaction in base64, got something else, or an id";
  const read = await readTransaction(bytes);
  if (!read.ok) return `expected ${read.expected ?? "a signed transaction"}, got ${read.got ?? read.code}`;
  return (
    findWrongMember(offer, read.transaction, payer) ??
    (await findWrongMovement(offer, read.transaction, secret ?? undefined))
  );
}

function findWrongMember({ network }: Offer, transaction: SignedTransaction, payer: string): string | undefined {
  const { chainId, sender, gas, maxFeePerGas, maxPriorityFeePerGas } = transaction;
  if (chainId !== BigInt(network.chainId ?? -1)) return `expected chain id ${network.chainId}, got ${chainId}`;
  if (sender !== payer.toLowerCase()) return `expected it signed by ${payer}, got ${sender}`;
  if (maxPriorityFeePerGas > maxFeePerGas) return "the tip is above what the gas may cost in all";
  const [fee, most] = [gas * maxFeePerGas, MAX_FEES.get(network.native.symbol) ?? MAX_FEE];
  return fee <= most ? undefined : `the gas may cost ${fee} wei where at most ${most} are allowed`;
}

/** Native currency to the payee, or one plain transfer of the token, and exactly as much as is asked. */
async function findWrongMovement(
  { asset, payTo, amount }: Offer,
  transaction: SignedTransaction,
  secret: string | undefined,
): Promise<string | undefined> {
  const movement = movementOf(transaction);
  if (!movement) return "it does more, or something else, than one plain transfer";
  if (movement.asset.toLowerCase() !== asset.toLowerCase()) {
    return `expected a transfer of ${asset === NATIVE ? "native currency" : asset}, got one of ${movement.asset}`;
  }
  if (movement.payTo !== payTo.toLowerCase()) return `expected a transfer to ${payTo}, got one to ${movement.payTo}`;
  // Invariant: exactly the price, in the asset that the price is in.
  if (movement.amount !== amount) return `expected a transfer of ${amount}, got ${movement.amount}`;
  return (await ownership(movement, secret)) === "foreign"
    ? "it carries the hash of another secret than the one beside it"
    : undefined;
}
