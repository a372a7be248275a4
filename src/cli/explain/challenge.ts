// A 402 of either version, offline: what the seller asks for, offer by offer, and what is wrong with it. The seller's own words
// are shown and never followed.
import { PAYMENT_IDENTIFIER } from "../../proof.js";
import { isRecord } from "../../wire/json.js";
import { came, createFindings, cut, type Explained, type Findings, textAt } from "./findings.js";
import { explainOffer } from "./offer.js";

/** More are not looked at: no honest seller has so many. */
const MOST_OFFERS = 50;

/** Explains a decoded challenge. `where`: the header's name, or `body`. */
export function explainChallenge(value: Record<string, unknown>, version: 1 | 2, where: string): Explained {
  const out = createFindings(where);
  const list = Array.isArray(value.accepts) ? value.accepts : [];
  if (!Array.isArray(value.accepts)) out.flaw("accepts", "a list of offers", came(value.accepts));
  else if (list.length === 0) out.flaw("accepts", "at least one offer", "an empty list");
  else if (list.length > MOST_OFFERS) out.note(`Only the first ${MOST_OFFERS} of ${list.length} offers are looked at`);
  const offers = list.slice(0, MOST_OFFERS).map((offer, index) => explainOffer(offer, version, index));
  const error = textAt(value, "error");
  out.fact("reason", error === undefined ? undefined : cut(error, 200));
  readResource(value, version, out);
  if (version === 2) readExtensions(value.extensions, out);
  const [only] = offers;
  const count = offers.length === 1 ? "" : ` in one of ${offers.length} ways`;
  const asks = offers.length === 1 && only ? only.says.replace(/^Asks/, "asks") : `asks for payment${count}`;
  return out.explained({ kind: "challenge", version, says: `A seller ${asks} (x402 version ${version})`, offers });
}

/** In version 1 each offer names the resource; they all name the same. */
function readResource(value: Record<string, unknown>, version: 1 | 2, out: Findings): void {
  const [first] = Array.isArray(value.accepts) ? value.accepts : [];
  const url = version === 2 ? textAt(value.resource, "url") : textAt(first, "resource");
  const description = textAt(version === 2 ? value.resource : first, "description");
  if (version === 2 && !isRecord(value.resource)) out.flaw("resource", "an object with a url", came(value.resource));
  else if (version === 2 && url === undefined) {
    const got = isRecord(value.resource) ? value.resource.url : undefined;
    out.flaw("resource.url", "the URL of what is sold", came(got));
  }
  out.fact("resource", url === undefined ? undefined : cut(url, 200));
  out.fact("description", description === undefined || description === "" ? undefined : cut(description, 200));
}

function readExtensions(extensions: unknown, out: Findings): void {
  if (extensions === undefined || extensions === null) return;
  if (!isRecord(extensions)) {
    out.flaw("extensions", "an object", came(extensions));
    return;
  }
  const names = Object.keys(extensions);
  if (names.length > 0) out.fact("extensions", cut(names.join(", "), 200));
  const identifier = extensions[PAYMENT_IDENTIFIER];
  if (!isRecord(identifier)) return;
  const required = isRecord(identifier.info) ? identifier.info.required : undefined;
  out.fact("retryKey", required === true ? "required" : "welcome: with one a lost answer can be collected again");
}
