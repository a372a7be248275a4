// A payment by a Solana transaction: judged by the very rules by which our own paywall judges it before it asks the chain. What
// version 1 does not say (mint, amount, payee) is taken from the transaction itself.
import { decodeBase58, encodeBase58 } from "../../chains/solana/base58.js";
import { type Layout, readLayout } from "../../chains/solana/layout.js";
import { readNativeLayout } from "../../chains/solana/native-layout.js";
import { verifyNativeStatic } from "../../chains/solana/native-static.js";
import { programAddress } from "../../chains/solana/programs.js";
import { type Refused, wireReason } from "../../chains/solana/reasons.js";
import { DEFAULT_CAPS } from "../../chains/solana/terms.js";
import { associatedTokenAddress } from "../../chains/solana/token-account.js";
import { decodeTransaction, type Transaction } from "../../chains/solana/transaction.js";
import { verifyStatic } from "../../chains/solana/verify-static.js";
import { isAddressOf, tokenByAddress } from "../../networks.js";
import { NATIVE } from "../../requirement.js";
import { type Findings, textAt } from "./findings.js";
import type { Terms } from "./offer.js";
import type { Paid } from "./payment.js";
import { formatAmount } from "./words.js";

const AT = "payload.transaction";
const MINUTE =
  "Good for one to two minutes after it was signed, by its blockhash; when that was, only the chain can tell";

/** Examines the text of a payload of the right form. */
export async function examineSolanaTransaction(text: string, terms: Terms, out: Findings): Promise<Paid> {
  // A seller completes a token payment himself, so that one that is on the chain pays nothing. Version 1 does not say which it is.
  const mayBeId = terms.method === "transaction" || terms.version === 1;
  if (mayBeId && decodeBase58(text)?.length === 64) {
    out.fact("transaction", text);
    out.note("It shows a transaction that is on the chain: what it moves only the chain can tell");
    return { onChain: true };
  }
  const decoded = decodeTransaction(text);
  if (!decoded.ok) {
    out.flaw(AT, "a legacy or v0 transaction", decoded.problem);
    return {};
  }
  out.fact("validUntil", MINUTE);
  const { transaction } = decoded;
  const isNative = terms.method === "transaction" || (terms.version === 1 && readNativeLayout(transaction).ok);
  return isNative ? examineNative(text, transaction, terms, out) : examineToken(text, transaction, terms, out);
}

const keyAt = ({ keys }: Transaction, index: number | undefined): string | undefined => {
  const key = index === undefined ? undefined : keys[index];
  return key && encodeBase58(key);
};

async function examineToken(text: string, transaction: Transaction, terms: Terms, out: Findings): Promise<Paid> {
  const layout = readLayout(transaction, DEFAULT_CAPS);
  const own = layout.ok ? layout : undefined;
  const mint = terms.asset ?? keyAt(transaction, own?.mint);
  const named = textAt(terms.extra, "feePayer");
  // Whoever is named wrongly or not at all, the rest is compared all the same.
  const feePayer = named !== undefined && isAddressOf("solana", named) ? named : keyAt(transaction, 0);
  const amount = terms.amount ?? own?.transfer.amount;
  out.fact("feePayer", feePayer);
  out.fact("fee", own && `${own.feeLamports} lamports`);
  const memo = textAt(terms.extra, "memo");
  if (terms.network && mint !== undefined && feePayer !== undefined && amount !== undefined) {
    const verdict = await verifyStatic(text, {
      network: terms.network.id,
      mint,
      // Unknown in version 1: any address will do, because the payee is the last thing that is looked at.
      payTo: terms.payTo ?? feePayer,
      amount,
      feePayer,
      ourSigners: [feePayer],
      ...(memo !== undefined && { memo }),
      ...DEFAULT_CAPS,
    });
    if (!verdict.ok && !isOnlyPayee(verdict, terms, transaction, own)) refuse(verdict, out);
  } else if (!layout.ok) refuse(layout, out);
  const payer = keyAt(transaction, own?.authority ?? 1);
  const { network } = terms;
  const paidMint = keyAt(transaction, own?.mint);
  const token = network && paidMint !== undefined ? tokenByAddress(network, paidMint) : undefined;
  const payTo = own && (await payeeOf(transaction, own, terms.payTo));
  return {
    ...(payer !== undefined && { payer }),
    ...(network && own && { price: formatAmount(own.transfer.amount, { network, address: paidMint, token }) }),
    ...(payTo !== undefined && { payTo }),
  };
}

/** The accepted payee where the destination is his account; else only the chain knows whose it is. */
async function payeeOf(transaction: Transaction, own: Layout, accepted: string | undefined) {
  const [mint, destination] = [keyAt(transaction, own.mint), keyAt(transaction, own.destination)];
  if (mint === undefined || destination === undefined) return undefined;
  const account = accepted && (await associatedTokenAddress(accepted, mint, programAddress(own.tokenProgram)));
  return account === destination ? accepted : `the owner of ${destination}`;
}

/** In version 1 the payee is nowhere said, so that he is another one than was guessed means nothing. */
const isOnlyPayee = (refused: Refused, terms: Terms, transaction: Transaction, layout: Layout | undefined): boolean =>
  terms.payTo === undefined &&
  refused.reason === "recipient_mismatch" &&
  refused.got === keyAt(transaction, layout?.destination) &&
  layout?.source !== layout?.destination;

async function examineNative(text: string, transaction: Transaction, terms: Terms, out: Findings): Promise<Paid> {
  const layout = readNativeLayout(transaction);
  const payTo = layout.ok ? keyAt(transaction, layout.recipient) : undefined;
  const payer = keyAt(transaction, 0);
  const { network } = terms;
  if (!layout.ok) refuse(layout, out);
  else {
    if (terms.asset !== undefined && terms.asset !== NATIVE)
      out.flaw(AT, `a transfer of ${terms.asset}`, `a transfer of ${NATIVE}`);
    const amount = terms.amount ?? layout.lamports;
    const verdict = await verifyNativeStatic(text, { payTo: terms.payTo ?? payTo ?? "", amount });
    if (!verdict.ok) refuse(verdict, out);
    else {
      out.fact("transaction", verdict.signature);
      if (!verdict.sufficient) out.flaw(AT, `a transfer of at least ${amount} lamports`, `${layout.lamports} lamports`);
      if (verdict.references.length === 0)
        out.note("It carries no reference: it pays only as long as the chain does not know it");
    }
  }
  return {
    ...(payer !== undefined && { payer }),
    ...(payTo !== undefined && { payTo }),
    ...(network &&
      layout.ok && { price: formatAmount(layout.lamports, { network, address: "native", token: undefined }) }),
  };
}

/** Why our paywall would refuse it, with the protocol's word for it. */
function refuse({ reason, expected, got }: Refused, out: Findings): void {
  const word = reason.replaceAll("_", " ");
  out.flaw(AT, expected ?? `a payment without the fault "${word}"`, `${got ?? word} (${wireReason(reason, 2)})`);
}
