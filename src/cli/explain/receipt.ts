// The receipt in an answer's header (x402 SettleResponse): was the money taken, by which transaction, and does it make sense.
import { isHex } from "../../chains/evm/hex.js";
import { decodeBase58 } from "../../chains/solana/base58.js";
import { isAddressOf, type Network } from "../../networks.js";
import { settleResponse } from "../../wire/facilitator.js";
import { came, createFindings, cut, type Explained, type Findings, textAt } from "./findings.js";
import { readNetwork } from "./offer.js";
import { hasShape } from "./shape.js";
import { formatNetwork } from "./words.js";

/** Explains a decoded receipt. */
export function explainReceipt(value: Record<string, unknown>, version: 1 | 2 | undefined, where: string): Explained {
  const out = createFindings(where);
  // Null means absent, as in every answer of version 2.
  const given = Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
  hasShape(settleResponse, given, "", out);
  // Without the header's name both spellings of a network are fine.
  const network = readNetwork(textAt(given, "network"), version ?? 1, "network", out);
  const transaction = textAt(given, "transaction") ?? "";
  const success = given.success === true;
  out.fact("transaction", transaction === "" ? undefined : cut(transaction));
  out.fact("network", network && formatNetwork(network));
  const payer = textAt(given, "payer");
  out.fact("payer", payer && cut(payer));
  out.fact("amount", textAt(given, "amount") && `${textAt(given, "amount")} atomic units`);
  const reason = textAt(given, "errorReason");
  out.fact("reason", reason && cut(reason, 200));
  const message = textAt(given, "errorMessage");
  out.fact("message", message && cut(message, 200));
  if (network) judge(network, { success, transaction, payer }, out);
  if (success && reason !== undefined && reason !== "") out.flaw("errorReason", "none beside success", came(reason));
  return out.explained({ kind: "receipt", version, says: sentence(given.success, transaction, reason, network) });
}

function sentence(success: unknown, transaction: string, reason: string | undefined, network: Network | undefined) {
  const on = network ? ` on ${network.name}` : "";
  if (success === true) return `The payment was settled${on}`;
  const why = reason ? `: ${cut(reason, 200)}` : "";
  if (success !== false) return "A receipt that does not say whether the payment was settled";
  return transaction === ""
    ? `The payment was not settled${why}`
    : `The payment was not settled${why}; the transaction may tell more`;
}

interface Said {
  readonly success: boolean;
  readonly transaction: string;
  readonly payer: string | undefined;
}

function judge({ family, name }: Network, { success, transaction, payer }: Said, out: Findings): void {
  if (success && transaction === "") out.flaw("transaction", "the id of the transaction that paid", "nothing");
  if (transaction !== "" && !isIdOf(family, transaction)) {
    const form = family === "evm" ? "0x and 64 hex digits" : "base58 of 64 bytes";
    out.flaw("transaction", `an id on ${name}: ${form}`, came(transaction));
  }
  if (payer !== undefined && payer !== "" && !isAddressOf(family, payer))
    out.flaw("payer", `an address on ${name}`, came(payer));
}

const isIdOf = (family: Network["family"], id: string): boolean =>
  family === "evm" ? isHex(id, 32) : decodeBase58(id)?.length === 64;
