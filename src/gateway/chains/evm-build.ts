// Builds an unsigned transfer on EVM and says in the gateway's words why one cannot be built; numbers it anew; signs it with
// whatever holds its key.
import { fromBytes, isHex, toBytes } from "../../chains/evm/hex.js";
import { readTransaction, type TransactionFields, writeTransaction } from "../../chains/evm/transaction.js";
import { draftTransfer, type Undrafted } from "../../chains/evm/transfer.js";
import { digestOf, joinSignature, readUnsigned } from "../../chains/evm/transfer-bytes.js";
import type { BuiltTransfer, SignedTransfer, Transfer, TransferSigner } from "../chain.js";
import { type Fault, fault, type Outcome } from "../errors.js";
import type { EvmPursuit, Pursuit } from "../payment.js";
import { type EvmTransferChain, unreachable } from "./evm-chain.js";
import { noToken } from "./evm-token.js";
import { invalid, inWords } from "./words.js";

/** How long a built transfer should be used: its fees and its simulation are of the moment at which it was built. */
const VALID_MS = 60_000;

export async function buildTransfer(
  chain: EvmTransferChain,
  transfer: Transfer,
  { nonce, signal }: { readonly nonce?: number; readonly signal: AbortSignal },
): Promise<Outcome<BuiltTransfer>> {
  const { from, to, asset, amount, reference, priorityFee } = transfer;
  const wanted = {
    from,
    to,
    asset: asset.address,
    amount,
    ...(reference && { reference }),
    ...(priorityFee !== undefined && { priorityFee }),
  };
  const draft = await draftTransfer(chain.rpc, chain.chainId, wanted, {
    signal,
    ...(nonce !== undefined && { nonce }),
    ...(chain.maxFeePerGas !== undefined && { maxFeePerGas: chain.maxFeePerGas }),
  });
  if (!draft.ok && draft.problem === "no_token") return noToken(chain, asset, { signal });
  if (!draft.ok) return toFault(chain, transfer, draft);
  const block = Number(draft.head.number);
  const pursuit: EvmPursuit = {
    kind: "evm",
    sender: from,
    nonce: Number(draft.fields.nonce),
    reference: reference ?? null,
    raw: null,
    hash: null,
    block,
    // Advisory: an EVM transaction does not end by itself, its account nonce passes.
    lastValidBlockHeight: block + Math.ceil(VALID_MS / chain.blockMs),
  };
  return { ok: true, value: toBuilt(draft.fields, pursuit, draft.fee, chain.now() + VALID_MS) };
}

function toBuilt(fields: TransactionFields, pursuit: EvmPursuit, fee: bigint, expiresAt: number): BuiltTransfer {
  const unsigned = writeTransaction(fields);
  const { lastValidBlockHeight } = pursuit;
  const numbered = { ...pursuit, nonce: Number(fields.nonce), unsigned: fromBytes(unsigned) };
  return { unsigned, fee, lastValidBlockHeight, expiresAt, pursuit: numbered };
}

function toFault(chain: EvmTransferChain, { asset }: Transfer, refused: Undrafted): Fault {
  const { network } = chain;
  switch (refused.problem) {
    case "no_token":
    case "unreachable":
      return unreachable(chain, { code: "receiver_unreachable", message: refused.message });
    case "expensive":
      return fault("UNAVAILABLE", `${network.name}: ${refused.message}; nothing was done`);
    case "recipient":
      return invalid("INVALID_RECIPIENT", "recipientAddress", refused.message);
    case "refused":
      return invalid("INVALID_REQUEST", "asset", refused.message);
    case "fee_too_low":
      return invalid("INVALID_REQUEST", "priorityFee", `expected at least ${inWords(refused.limit, network.native)}`);
    case "fee_too_high":
      return invalid("INVALID_REQUEST", "priorityFee", `expected at most ${inWords(refused.limit, network.native)}`);
    case "balance":
    case "fees": {
      const unit = refused.problem === "balance" ? asset : network.native;
      const [needed, got] = [inWords(refused.needed, unit), inWords(refused.got, unit)];
      const what = refused.problem === "fees" ? `${needed} for the payment and the most that its gas can cost` : needed;
      const message = `expected ${what}, the wallet has ${got}`;
      return fault("INSUFFICIENT_BALANCE", message, { details: [{ path: "walletAddress", message }] });
    }
  }
}

/** The same transfer with another account nonce. */
export function numberAnew({ unsigned, pursuit, fee, expiresAt }: BuiltTransfer, nonce: number): BuiltTransfer {
  return toBuilt({ ...fieldsOf(unsigned), nonce: BigInt(nonce) }, requireEvm(pursuit), fee, expiresAt);
}

/** Signs. Rejects where the signer does, and where what it gives is no signature by the sender's key. */
export async function signTransfer(
  { unsigned, pursuit }: BuiltTransfer,
  signer: TransferSigner,
): Promise<SignedTransfer> {
  const own = requireEvm(pursuit);
  const signature = await signer.sign(digestOf(unsigned));
  const signed = await joinSignature(fieldsOf(unsigned), signature, own.sender);
  if (!signed) throw new Error(`The key of ${own.sender} gave no signature of its own`);
  const { raw, hash } = signed;
  return { signature: hash, bytes: toBytes(raw), pursuit: { ...own, raw, hash } };
}

function fieldsOf(unsigned: Uint8Array): TransactionFields {
  const fields = readUnsigned(unsigned);
  if (!fields) throw new TypeError("Expected the unsigned bytes of an EIP-1559 transaction");
  return fields;
}

export function requireEvm(pursuit: Pursuit): EvmPursuit {
  if (pursuit.kind !== "evm")
    throw new TypeError(`Expected a payment on an EVM chain, got one of kind ${pursuit.kind}`);
  return pursuit;
}

/** What a pursuit's transaction does, by its signed or unsigned bytes; undefined where neither is known. */
export async function effectOf({ raw, unsigned }: EvmPursuit): Promise<Effect | undefined> {
  if (isHex(unsigned)) return readUnsigned(toBytes(unsigned));
  const read = isHex(raw) ? await readTransaction(toBytes(raw)) : undefined;
  return read?.ok ? read.transaction : undefined;
}

export type Effect = Pick<TransactionFields, "to" | "value" | "data">;
