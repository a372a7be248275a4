// Everything about an `exact` payment on Solana that can be judged without a call: the static path of protocol §4.3, step
// by step in its order. Left to the caller: that both token accounts exist (14) and the simulation (16), which save fees;
// the security is here.
import { encodeBase58 } from "./base58.js";
import { sameBytes } from "./bytes.js";
import { verifySignature } from "./ed25519.js";
import { type Layout, readLayout } from "./layout.js";
import { programAddress } from "./programs.js";
import { type Refused, refused } from "./reasons.js";
import { readTerms, type StaticTerms, type TermKeys } from "./terms.js";
import { associatedTokenAddress } from "./token-account.js";
import { decodeTransaction, messageHash, type Transaction } from "./transaction.js";

/** A payment that keeps every rule; addresses, signature and hash as text. */
export interface Verified {
  readonly ok: true;
  /** The transfer's authority, who signed; never the fee payer (protocol §9.18). */
  readonly payer: string;
  readonly amount: bigint;
  readonly decimals: number;
  readonly tokenProgram: string;
  readonly source: string;
  readonly destination: string;
  /** The payer's own. The transaction's id is the fee payer's signature, which does not exist yet. */
  readonly signature: string;
  /** SHA-256 of the message, hex: what a payment is known by. */
  readonly messageHash: string;
  /** What the fee payer will lose. */
  readonly feeLamports: bigint;
  readonly transaction: Transaction;
}

export type StaticVerdict = Verified | Refused;

/**
 * Judges the payload's `transaction` (base64) against the seller's terms. Never throws and calls nobody; an error on the
 * way, such as a runtime without ed25519, is a refusal that says so.
 */
export async function verifyStatic(transaction: string, terms: StaticTerms): Promise<StaticVerdict> {
  try {
    return await judge(transaction, terms);
  } catch (error) {
    return refused("verification_failed", "a verdict", String(error));
  }
}

async function judge(base64: string, terms: StaticTerms): Promise<StaticVerdict> {
  const ours = readTerms(terms);
  if (!ours.ok) return ours;
  const decoded = decodeTransaction(base64);
  if (!decoded.ok) return refused("not_decoded", "a legacy or v0 transaction", decoded.problem);
  const { transaction } = decoded;

  const unsigned = await judgeSigners(transaction, ours);
  if (unsigned) return unsigned;
  if (transaction.lookups.length > 0) {
    return refused("lookups_refused", "no lookup tables", String(transaction.lookups.length));
  }
  const layout = readLayout(transaction, terms);
  if (!layout.ok) return layout;
  const parties = readParties(transaction, layout);
  const wrong =
    judgeIsolation(transaction, layout, ours) ??
    (await judgeSource(parties, terms)) ??
    (await judgeTransfer(parties, terms)) ??
    judgeMemo(layout, terms);
  if (wrong) return wrong;
  return {
    ok: true,
    payer: parties.authority,
    amount: layout.transfer.amount,
    decimals: layout.transfer.decimals,
    tokenProgram: parties.tokenProgram,
    source: parties.source,
    destination: parties.destination,
    signature: encodeBase58(transaction.signatures[1]!),
    messageHash: await messageHash(transaction.message),
    feeLamports: layout.feeLamports,
    transaction,
  };
}

/** Steps 3 and 4: two signers, the fee payer of the offer first, the other one's signature real. */
async function judgeSigners(transaction: Transaction, { feePayer }: TermKeys): Promise<Refused | undefined> {
  const { header, keys, message, signatures } = transaction;
  const required = header.requiredSignatures;
  // Each further signature costs the fee payer 5,000 lamports.
  if (required > 2) return refused("excessive_signers", "2", String(required));
  const [first, second] = keys;
  if (!first || !sameBytes(first, feePayer)) {
    return refused("fee_payer_mismatch", encodeBase58(feePayer), first && encodeBase58(first));
  }
  if (required < 2 || !second) return refused("signature_invalid", "a signature of the payer", "the fee payer's only");
  if (await verifySignature(second, message, signatures[1]!)) return undefined;
  return refused("signature_invalid", `a signature by ${encodeBase58(second)}`);
}

/** The keys that the transfer names, in base58. */
interface Parties extends Record<"source" | "mint" | "destination" | "authority" | "tokenProgram", string> {
  readonly amount: bigint;
}

function readParties({ keys }: Transaction, layout: Layout): Parties {
  // Safe because without lookups every index of an instruction is one of a key (the decoder's rule).
  const text = (index: number) => encodeBase58(keys[index]!);
  const { source, mint, destination, authority, tokenProgram, transfer } = layout;
  return {
    source: text(source),
    mint: text(mint),
    destination: text(destination),
    authority: text(authority),
    tokenProgram: programAddress(tokenProgram),
    amount: transfer.amount,
  };
}

/** Step 11: none of our keys is touched by an instruction, and the one that moves money is the payer who signed. */
function judgeIsolation({ keys, instructions }: Transaction, layout: Layout, ours: TermKeys): Refused | undefined {
  const isOurs = (index: number) => ours.signers.some((signer) => sameBytes(signer, keys[index]!));
  if (isOurs(layout.authority)) return refused("fee_payer_transferring", "the payer as authority");
  // Programs need no look: the layout has allowed each by name, and none of them is a signer of ours.
  const touched = instructions.findIndex(({ accounts }) => accounts.some(isOurs));
  if (touched >= 0)
    return refused("fee_payer_not_isolated", "our keys in no instruction", `instruction ${touched + 1}`);
  if (layout.authority !== 1) return refused("signature_invalid", "the transfer's authority as the second signer");
  return undefined;
}

/**
 * Step 11, the other half: the money is not ours to begin with. An authority may be a mere delegate of the source, so the
 * seller's own account as source would move nothing and look paid.
 */
async function judgeSource({ source, destination, tokenProgram }: Parties, terms: StaticTerms) {
  for (const signer of terms.ourSigners) {
    if (source === (await associatedTokenAddress(signer, terms.mint, tokenProgram))) {
      return refused("fee_payer_transferring", "an account of the payer as source", source);
    }
  }
  return source === destination
    ? refused("recipient_mismatch", "another destination than the source", source)
    : undefined;
}

/** Steps 12 and 13: this token, to this owner's derived account, exactly this much. */
async function judgeTransfer(parties: Parties, terms: StaticTerms): Promise<Refused | undefined> {
  if (parties.mint !== terms.mint) return refused("mint_mismatch", terms.mint, parties.mint);
  const expected = await associatedTokenAddress(terms.payTo, terms.mint, parties.tokenProgram);
  if (parties.destination !== expected) return refused("recipient_mismatch", expected, parties.destination);
  if (parties.amount === terms.amount) return undefined;
  return refused("amount_mismatch", String(terms.amount), String(parties.amount));
}

/** Step 15. Without a memo in the offer any are welcome: v2 buyers add one of their own, v1 buyers none. */
function judgeMemo({ memos }: Layout, { memo }: StaticTerms): Refused | undefined {
  if (memo === undefined) return undefined;
  if (memos.length !== 1) return refused("memo_count", "1", String(memos.length));
  if (sameBytes(memos[0]!, new TextEncoder().encode(memo))) return undefined;
  return refused("memo_mismatch", memo);
}
