// Has an account sign a transaction, and believes nothing but its signature.
import { isHex, toBytes } from "../chains/evm/hex.js";
import { readList } from "../chains/evm/rlp.js";
import type { SignedTransaction, TransactionFields } from "../chains/evm/transaction.js";
import { joinSignature } from "../chains/evm/transfer-bytes.js";
import type { Network } from "../networks.js";
import type { EvmSigner, TransferTransaction } from "./evm-account.js";
import { askAccount, type Unsigned, unsigned } from "./unsigned.js";

export interface MadeTransfer {
  readonly ok: true;
  readonly transaction: SignedTransaction;
}

/** These very members, signed by the account, or why not. Rejects with the signal's reason only. */
export async function signFields(
  { address, signTransaction }: Pick<EvmSigner, "address" | "signTransaction">,
  network: Network,
  fields: TransactionFields,
  signal: AbortSignal | undefined,
): Promise<MadeTransfer | Unsigned> {
  if (!signTransaction) return unsigned("the account signs no transactions");
  const asked = await askAccount(() => signTransaction(toViem(fields)), signal);
  if (!asked.ok) return asked;
  // Invariant: of what the account gives, the signature alone is taken, and it must be one of the account over these very
  // members: an account on another chain, or one that set other fees, has signed something else.
  const signature = signatureOf(asked.value);
  try {
    const transaction = signature && (await joinSignature(fields, signature, address));
    if (transaction) return { ok: true, transaction };
    return unsigned(`the account signed something else than this transfer on ${network.name}: is it on that chain?`);
  } catch (error) {
    // No implementation of secp256k1 is installed: the sentence names the package.
    return unsigned(error instanceof Error ? error.message : "the signature cannot be checked");
  }
}

function toViem(fields: TransactionFields): TransferTransaction {
  return { type: "eip1559", ...fields, chainId: Number(fields.chainId), nonce: Number(fields.nonce) };
}

/** r, s and parity of a signed transaction of type 2; undefined for all other bytes. */
function signatureOf(raw: unknown): Uint8Array | undefined {
  if (!isHex(raw)) return undefined;
  const bytes = toBytes(raw);
  const items = bytes[0] === 2 ? readList(bytes.subarray(1)) : undefined;
  const [parity, r, s] = (items ?? []).slice(-3).map(({ content }) => content);
  if (items?.length !== 12 || !parity || !r || !s || parity.length > 1 || r.length > 32 || s.length > 32)
    return undefined;
  const signature = new Uint8Array(65);
  signature.set(r, 32 - r.length);
  signature.set(s, 64 - s.length);
  signature.set(parity, 65 - parity.length);
  return signature;
}
