// Everything about a payment in SOL that can be judged without a call: the buyer's own, fully signed transfer to the payee.
// Left to the caller: what the chain knows of it, and what follows where it moves more or less than the price.
import { decodeAddress, encodeBase58 } from "./base58.js";
import { sameBytes } from "./bytes.js";
import { verifySignature } from "./ed25519.js";
import { readNativeLayout } from "./native-layout.js";
import { readReferences } from "./native-reference.js";
import { type Refused, refused } from "./reasons.js";
import { decodeTransaction, messageHash, type Transaction } from "./transaction.js";

/** What a transfer must be, from the seller's side. */
export interface NativeTerms {
  readonly payTo: string;
  /** Lamports. */
  readonly amount: bigint;
}

/** A transfer that keeps every rule but the price. */
export interface NativeTransfer {
  readonly ok: true;
  /** The only signer: sender of the money and payer of the network fee. */
  readonly payer: string;
  /** Lamports that it moves. */
  readonly lamports: bigint;
  /** At least the price. */
  readonly sufficient: boolean;
  /** Index of the transfer among the instructions. */
  readonly at: number;
  /** The transaction's id. */
  readonly signature: string;
  /** SHA-256 of the message, hex: what the payment is known by. */
  readonly messageHash: string;
  /** Hashes of secrets that it carries, lower-case hex. */
  readonly references: readonly string[];
}

/** Judges the bytes (base64). Never throws and calls nobody; an error on the way is a refusal that says so. */
export async function verifyNativeStatic(base64: string, terms: NativeTerms): Promise<NativeTransfer | Refused> {
  try {
    return await judge(base64, terms);
  } catch (error) {
    return refused("verification_failed", "a verdict", String(error));
  }
}

async function judge(base64: string, { payTo, amount }: NativeTerms): Promise<NativeTransfer | Refused> {
  const payee = decodeAddress(payTo);
  // Invariant: terms that are incomplete serve nobody (faults A24).
  if (!payee || typeof amount !== "bigint" || amount <= 0n) {
    return refused("verification_failed", "complete terms", "payTo must be a base58 key and amount above 0");
  }
  const decoded = decodeTransaction(base64);
  if (!decoded.ok) return refused("not_decoded", "a legacy or v0 transaction", decoded.problem);
  const { transaction } = decoded;
  const unsigned = await judgeSigner(transaction);
  if (unsigned) return unsigned;
  if (transaction.lookups.length > 0) {
    return refused("lookups_refused", "no lookup tables", String(transaction.lookups.length));
  }
  const layout = readNativeLayout(transaction);
  if (!layout.ok) return layout;
  // Safe because without lookups every index of an instruction is one of a key (the decoder's rule).
  const recipient = transaction.keys[layout.recipient]!;
  const payer = transaction.keys[0]!;
  if (!sameBytes(recipient, payee)) return refused("recipient_mismatch", payTo, encodeBase58(recipient));
  if (sameBytes(payer, payee)) return refused("recipient_mismatch", "another payer than the payee", payTo);
  return {
    ok: true,
    payer: encodeBase58(payer),
    lamports: layout.lamports,
    sufficient: layout.lamports >= amount,
    at: layout.at,
    signature: encodeBase58(transaction.signatures[0]!),
    messageHash: await messageHash(transaction.message),
    references: readReferences(layout.memos),
  };
}

/** The payer and nobody else: a second signer could be somebody whose money it is as well. */
async function judgeSigner({ header, keys, message, signatures }: Transaction): Promise<Refused | undefined> {
  if (header.requiredSignatures !== 1) return refused("excessive_signers", "1", String(header.requiredSignatures));
  const payer = keys[0]!;
  if (await verifySignature(payer, message, signatures[0]!)) return undefined;
  return refused("signature_invalid", `a signature by ${encodeBase58(payer)}`);
}
