// One value, decoded and handed to whoever explains its kind. What cannot be decoded is explained as that, with what is wrong.
import { decodeHeader } from "../../wire/header.js";
import { findFlaw, isRecord } from "../../wire/json.js";
import { explainChallenge } from "./challenge.js";
import { came, createFindings, type Explained, type Findings } from "./findings.js";
import type { Piece } from "./input.js";
import { explainPayment, type PaymentContext } from "./payment.js";
import { explainReceipt } from "./receipt.js";

/** A challenge or a receipt may be longer than a payment: nobody's proof is in it. */
const MAX_HEADER = 64 * 1024;

type Kind = "challenge" | "payment" | "receipt";

/** Explains one value; never rejects for anything in it. */
export async function explainPiece({ carrier, form, text }: Piece, context: PaymentContext): Promise<Explained> {
  const where = carrier?.name ?? (form === "json" ? "body" : "value");
  const out = createFindings(where);
  const value = form === "json" ? parseBody(text, out) : decode(text, carrier?.kind === "payment", out);
  if (value === undefined) return unread(out);
  const kind = kindOf(value);
  if (carrier && kind !== undefined && kind !== carrier.kind) {
    out.flaw(where, `a ${carrier.kind}`, `a ${kind}`);
    return unread(out);
  }
  const meant = carrier?.kind ?? kind;
  if (meant === undefined) {
    out.flaw(where, "accepts (a challenge), payload (a payment) or success (a receipt)", "JSON of something else");
    return unread(out);
  }
  if (meant === "receipt") return explainReceipt(value, carrier?.version, where);
  const version = readVersion(value, meant, carrier?.version, out);
  const explained =
    meant === "challenge"
      ? explainChallenge(value, version, where)
      : await explainPayment(value, version, where, context);
  const { flaws } = out.explained({ kind: meant, version, says: "" });
  return { ...explained, flaws: [...flaws, ...explained.flaws] };
}

const unread = (out: Findings): Explained =>
  out.explained({ kind: "unread", version: undefined, says: "This is no x402 value that can be read" });

function decode(text: string, isPayment: boolean, out: Findings): Record<string, unknown> | undefined {
  const decoded = isPayment ? decodeHeader(text) : decodeHeader(text, MAX_HEADER);
  if (decoded.ok && isRecord(decoded.value)) return decoded.value;
  const problem = decoded.ok ? "the header's JSON is not an object" : decoded.problem;
  out.flaw("value", "base64 of a JSON object", `${problem}${hintOf(text)}`);
  return undefined;
}

/** What pasted values suffer from. */
function hintOf(text: string): string {
  if (text.includes(",")) return ": it holds a comma, as two headers of one name do that were joined";
  if (/%[0-9a-f]{2}/i.test(text)) return ": it is URL-encoded";
  if (/^https?:|^[\w-]+(?:\.[\w-]+)+/.test(text)) return ": for a URL write it with http:// or https://";
  if (/[…]|\.\.\.$/.test(text)) return ": it was cut short";
  return "";
}

function parseBody(text: string, out: Findings): Record<string, unknown> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    out.flaw("body", "JSON", "a text that is none");
    return undefined;
  }
  const flaw = findFlaw(value);
  if (flaw === undefined && isRecord(value)) return value;
  out.flaw("body", "a JSON object that can be read", `JSON that ${flaw ?? "is not an object"}`);
  return undefined;
}

function kindOf(value: Record<string, unknown>): Kind | undefined {
  if (Object.hasOwn(value, "accepts")) return "challenge";
  if (Object.hasOwn(value, "payload")) return "payment";
  return Object.hasOwn(value, "success") ? "receipt" : undefined;
}

/** The one that the value names; where it names none, the one that it looks like. */
function readVersion(
  value: Record<string, unknown>,
  kind: "challenge" | "payment",
  carried: 1 | 2 | undefined,
  out: Findings,
): 1 | 2 {
  const { x402Version: version } = value;
  if (version === 1 || version === 2) {
    if (carried !== undefined && version !== carried)
      out.flaw("x402Version", `${carried} in this header`, came(version));
    return version;
  }
  out.flaw("x402Version", carried === undefined ? "1 or 2" : `${carried}`, came(version));
  if (carried !== undefined) return carried;
  const [first] = Array.isArray(value.accepts) ? value.accepts : [];
  const looksLikeV2 = kind === "payment" ? isRecord(value.accepted) : isRecord(first) && Object.hasOwn(first, "amount");
  return looksLikeV2 ? 2 : 1;
}
