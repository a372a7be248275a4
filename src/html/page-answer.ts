// An answer of the guard as a page: the same status and headers, a body for people, and a policy under which nothing runs but the
// page's own script and nothing is asked of anybody but this server.
import type { OwnPage, PageBrand, PageOption } from "../page-option.js";
import { mergeList } from "../receipt.js";
import type { Answer, HeaderList } from "../request.js";
import { renderCard } from "./card.js";
import { renderDocument } from "./document.js";
import { escapeJson } from "./escape.js";
import type { PageData } from "./page-data.js";

/** What decides whether a page or JSON is sent. */
const VARY = "Accept, Sec-Fetch-Dest, Sec-Fetch-Mode, Payment-Page, Cookie";

export function toPageAnswer(answer: Answer, data: PageData, option: PageOption | undefined, bare: boolean): Answer {
  const nonce = newNonce();
  const own = typeof option === "function" ? option : undefined;
  const brand: PageBrand = typeof option === "object" ? option : {};
  const headers = withHeaders(answer.headers, [
    ["Content-Type", "text/html; charset=utf-8"],
    ["Content-Security-Policy", own ? OWN_POLICY : policyOf(nonce, brand)],
    ["Referrer-Policy", "same-origin"],
    ["X-Content-Type-Options", "nosniff"],
  ]);
  if (bare) return { ...answer, headers, body: "" };
  const card = renderCard(data, brand, nonce);
  const body = own ? ownPage(own, data, answer.status, nonce, card) : renderDocument(data, brand, card);
  return { ...answer, headers, body };
}

/** What the page's script reads anew before it signs. */
export function toJsonAnswer(answer: Answer, data: PageData): Answer {
  const headers = withHeaders(answer.headers, [["Content-Type", "application/json; charset=utf-8"]]);
  return { ...answer, headers, body: escapeJson(data) };
}

function ownPage(own: OwnPage, data: PageData, status: number, nonce: string, card: string): string {
  const html: unknown = own({ ...data, status, nonce, card });
  if (typeof html !== "string") throw new TypeError("the option page must return the HTML as text");
  return html;
}

/** A page of the seller's own may load what it likes; where the card stands, nobody frames it. */
const OWN_POLICY = "base-uri 'none'; frame-ancestors 'none'";

function policyOf(nonce: string, { logo }: PageBrand): string {
  const picture = logo?.startsWith("https:") ? ` ${new URL(logo).origin}` : "";
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    "connect-src 'self'",
    `img-src data:${picture}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** These in place of those of the same name, and what the answer depends on. */
function withHeaders(headers: HeaderList, own: HeaderList): HeaderList {
  const replaced = new Set(own.map(([name]) => name.toLowerCase()));
  const vary = headers.find(([name]) => name.toLowerCase() === "vary")?.[1];
  const others = headers.filter(([name]) => !replaced.has(name.toLowerCase()) && name.toLowerCase() !== "vary");
  return [...own, ...others, ["Vary", mergeList(vary, VARY)]];
}

const newNonce = (): string => btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(18))));
