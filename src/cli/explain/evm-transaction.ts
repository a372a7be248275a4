// A payment by the buyer's own EVM transaction: its bytes, what it moves, and whether that is what was accepted. Whether the
// chain knows it, only the chain can tell.
import { checksumAddress } from "../../address.js";
import { isHex } from "../../chains/evm/hex.js";
import { readBase64 } from "../../chains/evm/identity.js";
import { movementOf, ownership } from "../../chains/evm/movement.js";
import { ERRORS } from "../../errors.js";
import { tokenByAddress } from "../../networks.js";
import type { Findings } from "./findings.js";
import type { Terms } from "./offer.js";
import type { Paid } from "./payment.js";
import { formatAmount } from "./words.js";

const AT = "payload.transaction";

interface Shown {
  readonly transaction: string;
  readonly secret: string | undefined;
}

/** Examines a payload of the right form. */
export async function examineEvmTransaction(
  { transaction, secret }: Shown,
  terms: Terms,
  out: Findings,
): Promise<Paid> {
  if (terms.method === "eip3009" && terms.version === 2)
    out.flaw("payload", "an authorization, as the accepted offer asks for", "a transaction");
  if (isHex(transaction, 32)) {
    out.fact("transaction", transaction);
    out.note("It shows a transaction that is on the chain: what it moves only the chain can tell");
    if (secret === undefined) out.flaw("payload.secret", "the secret of the transaction's reference", "nothing");
    return { onChain: true };
  }
  // Safe because it rejects only where the optional package is missing, which is said.
  const read = await readBase64(transaction).catch(() => undefined);
  if (!read) {
    out.note("The transaction is not read, because no implementation is installed: npm install viem");
    return {};
  }
  if (!read.ok) {
    out.flaw(AT, read.expected ?? "a signed transaction of type 2 (EIP-1559)", read.got ?? ERRORS[read.code].title);
    return {};
  }
  const { chainId, nonce, sender, hash } = read.transaction;
  out.fact("transaction", hash);
  out.fact("nonce", `${nonce}`);
  const { network } = terms;
  if (network?.chainId !== undefined && chainId !== BigInt(network.chainId))
    out.flaw(AT, `chain id ${network.chainId}`, `chain id ${chainId}`);
  const payer = checksumAddress(sender);
  const movement = movementOf(read.transaction);
  if (!movement) {
    out.flaw(AT, "one plain transfer of the asset, with nothing but a reference after it", "other calldata");
    return { payer };
  }
  if ((await ownership(movement, secret)) === "foreign")
    out.flaw("payload.secret", `the secret whose SHA-256 is ${movement.reference}`, secret ? "another one" : "nothing");
  if (movement.reference === undefined)
    out.note("It carries no reference: it pays only as long as the chain does not know it");
  const { asset, amount } = movement;
  const payTo = checksumAddress(movement.payTo);
  if (terms.asset !== undefined && terms.asset.toLowerCase() !== asset.toLowerCase())
    out.flaw(AT, `a transfer of ${terms.asset}`, `a transfer of ${asset}`);
  if (terms.payTo !== undefined && terms.payTo.toLowerCase() !== payTo.toLowerCase())
    out.flaw(AT, `a transfer to ${terms.payTo}`, `a transfer to ${payTo}`);
  if (terms.amount !== undefined && amount !== terms.amount)
    out.flaw(AT, `a transfer of ${terms.amount} atomic units`, `${amount} atomic units`);
  const token = network && tokenByAddress(network, asset);
  return { payer, payTo, ...(network && { price: formatAmount(amount, { network, address: asset, token }) }) };
}
