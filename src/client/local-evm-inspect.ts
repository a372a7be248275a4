// Whether unsigned bytes are exactly what was ordered on EVM, and what the caller's own node makes of them. Nothing is signed before
// both have passed.

import { movementOf } from "../chains/evm/movement.js";
import type { TransactionFields } from "../chains/evm/transaction.js";
import { callOf, draftTransfer, type Undrafted } from "../chains/evm/transfer.js";
import { readUnsigned } from "../chains/evm/transfer-bytes.js";
import { formatDecimal } from "../money.js";
import type { Network } from "../networks.js";
import type { BuiltOrder } from "./local-built.js";
import { LocalTransactionError } from "./local-error.js";
import type { LocalJob } from "./local-job.js";
import type { EvmNode } from "./local-node.js";
import type { LocalOrder } from "./local-order.js";

/** @throws LocalTransactionError, `built_wrong` with the first thing that differs */
export function inspectOnEvm(built: BuiltOrder, order: LocalOrder, network: Network): TransactionFields {
  const fields = readUnsigned(built.bytes);
  const problem = fields
    ? findDifference(fields, built, order, network)
    : "expected the unsigned bytes of a type 2 transaction";
  if (fields && problem === undefined) return fields;
  throw new LocalTransactionError("built_wrong", problem ?? "it cannot be read", { paymentId: built.paymentId });
}

/**
 * Invariant: what is signed is the one transfer that was ordered, byte for byte as this process would write it, with the hash of
 * the secret at its end; of the rest of it only the account nonce and the price of gas are the gateway's, and both are judged
 * by the caller's own node.
 */
function findDifference(
  fields: TransactionFields,
  { reference }: BuiltOrder,
  { recipient, asset, amount }: LocalOrder,
  { chainId }: Network,
): string | undefined {
  const differs = (what: string, expected: unknown, got: unknown) => `expected ${what} ${expected}, got ${got}`;
  if (fields.chainId !== BigInt(chainId ?? -1)) return differs("the chain id", chainId, fields.chainId);
  const movement = movementOf(fields);
  if (!movement) return "it does more, or something else, than one plain transfer";
  if (movement.asset.toLowerCase() !== asset.address.toLowerCase()) {
    return differs("a transfer of", asset.address, `one of ${movement.asset}`);
  }
  if (movement.payTo !== recipient.toLowerCase()) return differs("the recipient", recipient, movement.payTo);
  if (movement.amount !== amount) {
    const [wanted, got] = [amount, movement.amount].map(
      (units) => `${formatDecimal(units, asset.decimals)} ${asset.symbol}`,
    );
    return differs("an amount of", wanted, got);
  }
  const own = callOf({ to: recipient, asset: asset.address, amount, reference: `0x${reference}` });
  if (fields.to !== own.to || fields.value !== own.value || fields.data !== own.data) {
    return "it does not carry the hash of the secret that came with it";
  }
  if (fields.maxPriorityFeePerGas > fields.maxFeePerGas) return "its tip is above what its gas may cost in all";
  return undefined;
}

export interface Rehearsal {
  /** Wei: the most that such a transfer should cost now. */
  readonly most: bigint;
}

/** The base fee may rise for some blocks, and another node suggests another tip. */
const LEEWAY = 3n;

/** Tries the transfer on the caller's own node, and lets that price it. */
export async function rehearseOnEvm(
  { node, order, signal }: LocalJob & { readonly node: EvmNode },
  { paymentId, reference }: BuiltOrder,
  fields: TransactionFields,
): Promise<Rehearsal> {
  const { sender: from, recipient: to, asset, amount, priorityFee } = order;
  const wanted = { from, to, asset: asset.address, amount, reference: `0x${reference}` as const };
  const draft = await draftTransfer(
    node.rpc,
    node.network.chainId,
    { ...wanted, ...(priorityFee !== undefined && { priorityFee }) },
    { nonce: Number(fields.nonce), ...(signal && { signal }) },
  );
  signal?.throwIfAborted();
  if (!draft.ok) throw toError(draft, order, paymentId);
  const { fields: own, fee, head } = draft;
  // Less gas than it needs would fail at the account's cost, less than the base fee would never land.
  if (fields.gas * 5n < own.gas * 4n) {
    const detail = `expected gas for at least ${(own.gas * 4n) / 5n} units, got ${fields.gas}`;
    throw new LocalTransactionError("built_wrong", detail, { paymentId });
  }
  if (fields.maxFeePerGas < (head.baseFeePerGas ?? 0n)) {
    throw new LocalTransactionError("would_fail", "its gas price is below the chain's base fee", { paymentId });
  }
  return { most: LEEWAY * fee };
}

function toError(refused: Undrafted, { asset, network }: LocalOrder, paymentId: string): LocalTransactionError {
  const facts = { paymentId };
  switch (refused.problem) {
    case "unreachable":
      return new LocalTransactionError("node_failed", refused.message, facts);
    case "balance":
    case "fees": {
      const { decimals, symbol } = refused.problem === "balance" ? asset : network.native;
      const [needed, got] = [refused.needed, refused.got].map((units) => `${formatDecimal(units, decimals)} ${symbol}`);
      return new LocalTransactionError("would_fail", `the account needs ${needed} and holds ${got}`, facts);
    }
    case "fee_too_low":
    case "fee_too_high":
      return new LocalTransactionError("would_fail", "the priorityFee cannot be paid by this transfer's gas", facts);
    default:
      return new LocalTransactionError("would_fail", refused.message, facts);
  }
}
