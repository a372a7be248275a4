// A payment of either version, offline: who pays what to whom, until when, under which retry key, and what is wrong with it.
// The signature itself is judged where its kind is known; no part of it is ever shown.
import * as z from "zod/mini";
import { ERRORS } from "../../errors.js";
import { decodeProof, PAYMENT_IDENTIFIER } from "../../proof.js";
import { encodeHeader } from "../../wire/header.js";
import { isRecord } from "../../wire/json.js";
import { exactEvmPayload, paymentPayloadV1, paymentPayloadV2, transactionPayload } from "../../wire/payload.js";
import { examineAuthorization } from "./authorization.js";
import { examineEvmTransaction } from "./evm-transaction.js";
import { came, createFindings, cut, type Explained, type Findings, textAt } from "./findings.js";
import { examineOffer, flowOf, priceOf, readNetwork, type Terms } from "./offer.js";
import { hasShape } from "./shape.js";
import { examineSolanaTransaction } from "./solana-transaction.js";
import { formatNetwork } from "./words.js";

/** What the signed part itself says. What merely stands around it is never told as paid. */
export interface Paid {
  readonly price?: string;
  readonly payer?: string;
  readonly payTo?: string;
  /** It shows a transaction by its id: what that moves only the chain can tell. */
  readonly onChain?: true;
}

/** Everything but the signed part, which is examined by its kind, and the version, which is told beside its header. */
const AROUND = {
  1: z.omit(paymentPayloadV1, { payload: true, x402Version: true }),
  2: z.omit(paymentPayloadV2, { payload: true, x402Version: true }),
} as const;

export interface PaymentContext {
  /** The header of that name, where it came with the payment. */
  readonly idempotencyKey: string | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Explains a decoded payment. */
export async function explainPayment(
  value: Record<string, unknown>,
  version: 1 | 2,
  where: string,
  context: PaymentContext,
): Promise<Explained> {
  const out = createFindings(where);
  const terms = version === 2 ? examineOffer(value.accepted, 2, "accepted", out) : termsOfV1(value, out);
  if (terms.scheme !== undefined && terms.scheme !== "exact")
    out.flaw(version === 1 ? "scheme" : "accepted.scheme", "exact", came(terms.scheme));
  const paid = await examineSigned(value.payload, terms, context, out);
  hasShape(AROUND[version], value, "", out);
  const { price, payTo } = paid;
  const accepted = priceOf(terms);
  out.fact("price", price);
  out.fact("accepted", accepted === price ? undefined : accepted);
  out.fact("network", terms.network && formatNetwork(terms.network));
  out.fact("payer", paid.payer);
  out.fact("payTo", payTo);
  out.fact("asset", terms.asset);
  out.fact("flow", flowOf(terms));
  const resource = textAt(value.resource, "url");
  out.fact("resource", resource && cut(resource, 200));
  askGuard(value, version, context, out);
  const on = terms.network ? ` on ${terms.network.name}` : "";
  const to = payTo === undefined ? "" : ` to ${payTo}`;
  const what = price ?? (paid.onChain ? "what only the chain can tell" : "what cannot be read");
  const says = `Pays ${what}${on}${to} (x402 version ${version})`;
  return out.explained({ kind: "payment", version, says });
}

/** Version 1 names scheme and network, and nothing of the price. */
function termsOfV1(value: Record<string, unknown>, out: Findings): Terms {
  const scheme = textAt(value, "scheme");
  if (scheme === undefined) out.flaw("scheme", "exact", came(value.scheme));
  if (typeof value.network !== "string") out.flaw("network", "the name of a network", came(value.network));
  const network = readNetwork(textAt(value, "network"), 1, "network", out);
  const isTransaction = isRecord(value.payload) && value.payload.authorization === undefined;
  const none = { asset: undefined, token: undefined, amount: undefined, payTo: undefined, extra: {} };
  const method = !isTransaction ? "eip3009" : network?.family === "solana" ? "spl" : "transaction";
  return { version: 1, scheme, network, ...none, method };
}

async function examineSigned(payload: unknown, terms: Terms, { now }: PaymentContext, out: Findings): Promise<Paid> {
  if (!isRecord(payload)) {
    out.flaw("payload", "an object with an authorization or a transaction", came(payload));
    return {};
  }
  if (payload.authorization !== undefined) {
    if (terms.method === "transaction" || terms.network?.family === "solana")
      out.flaw("payload", "a transaction, as the accepted offer asks for", "an authorization");
    return hasShape(exactEvmPayload, payload, "payload", out)
      ? examineAuthorization(exactEvmPayload.parse(payload), terms, now, out)
      : {};
  }
  const foreign = ["permit2Authorization", "delegationManager"].find((name) => payload[name] !== undefined);
  if (foreign !== undefined) {
    out.flaw("payload", "an authorization or a transaction, which can be checked", `${foreign}, which cannot`);
    return {};
  }
  if (payload.transaction === undefined) {
    out.flaw("payload", "an authorization with a signature, or a transaction", came(payload));
    return {};
  }
  if (!hasShape(transactionPayload, payload, "payload", out)) return {};
  const { transaction, secret } = transactionPayload.parse(payload);
  if (terms.network?.family === "solana") return examineSolanaTransaction(transaction, terms, out);
  return examineEvmTransaction({ transaction, secret: secret ?? undefined }, terms, out);
}

/** By the guard's own reader: the retry key, and a flaw for whatever it refuses. */
function askGuard(
  value: Record<string, unknown>,
  version: 1 | 2,
  { idempotencyKey }: PaymentContext,
  out: Findings,
): void {
  // A version that does not fit the header is told beside it, and hides nothing else.
  const text = encodeHeader({ ...value, x402Version: version });
  const [v1, v2] = version === 1 ? [text, undefined] : [undefined, text];
  const decoded = decodeProof({ v1, v2, idempotencyKey });
  if (decoded.ok) {
    const { retryKey } = decoded.proof;
    if (retryKey === undefined) out.note("Without a retry key an answer that gets lost cannot be collected again");
    out.fact("retryKey", retryKey);
    return;
  }
  const extension = isRecord(value.extensions) ? value.extensions[PAYMENT_IDENTIFIER] : undefined;
  const info = isRecord(extension) ? extension.info : undefined;
  const place = `extensions.${PAYMENT_IDENTIFIER}.info`;
  if (decoded.code === "retry_key_invalid") {
    const inBody = isRecord(info) && Object.hasOwn(info, "id");
    out.flaw(inBody ? `${place}.id` : "Idempotency-Key", "16 to 128 letters, digits, _ and -", "another text");
  }
  if (decoded.code === "extension_echo_mismatch")
    out.flaw(`${place}.required`, "false, as it was offered", came(isRecord(info) ? info.required : undefined));
  // Whatever has no place of its own above.
  if (out.count === 0) out.flaw("payment", "one that a paywall can read", decoded.got ?? ERRORS[decoded.code].title);
}
