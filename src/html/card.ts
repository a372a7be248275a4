// The payment card: what it costs, how to pay, and what has become of it. One static template; whatever changes stands in the
// data, which the script shows as text.
import type { PageBrand } from "../page-option.js";
import { buttonColors } from "./color.js";
import { escapeHtml, escapeJson } from "./escape.js";
import type { PageData } from "./page-data.js";
import { PAGE_SCRIPT } from "./script.artifact.js";
import { CARD_STYLE } from "./style.js";

/** The element in which the data stands. */
export const DATA_ID = "tollgate-data";

export function renderCard(data: PageData, brand: PageBrand, nonce: string): string {
  const [first] = data.offers;
  const price = first ? (first.dollars ?? first.price) : "";
  const detail = first ? `${first.price} on ${first.network}` : "";
  return `<style nonce="${nonce}">${CARD_STYLE}${buttonColors(brand.color)}</style>
<section class="tg" id="tollgate">
${header(data, brand)}
<div id="tg-price"><p class="tg-price"><b>${escapeHtml(price)}</b></p><p class="tg-detail">${escapeHtml(detail)}</p></div>
<fieldset id="tg-offers" class="tg-offers" hidden><legend>Pay with</legend></fieldset>
<ol id="tg-steps" class="tg-steps" hidden>
<li>Connect</li><li>Sign</li><li>Settle</li>
</ol>
<div id="tg-status" class="tg-status" role="status" aria-live="polite"></div>
<div id="tg-actions" class="tg-actions"></div>
<noscript><p class="tg-status">This page needs JavaScript to talk to your wallet.</p></noscript>
<details id="tg-phone" class="tg-phone" hidden><summary>Pay on a phone</summary>
<div id="tg-qr" class="tg-qr"></div><p>Scan this code, or open this page in the browser of a wallet:</p>
<ul id="tg-links" class="tg-links"></ul></details>
<p class="tg-foot">You pay the seller directly. <span>Nothing is taken twice.</span></p>
</section>
<script type="application/json" id="${DATA_ID}">${escapeJson(data)}</script>
<script nonce="${nonce}">${PAGE_SCRIPT}</script>`;
}

function header({ url, description }: PageData, { name, logo }: PageBrand): string {
  const { host, pathname, search } = new URL(url);
  const picture = logo === undefined ? "" : `<img src="${escapeHtml(logo)}" alt="" width="40" height="40">`;
  const place = (name === undefined ? "" : host) + shorten(pathname + search);
  return `<header class="tg-head">${picture}<p dir="auto">${escapeHtml(name ?? host)}</p></header>
<h1 dir="auto"${description.length > 100 ? ' class="tg-long"' : ""}>${escapeHtml(description || "This page has a price")}</h1>
<p class="tg-url" dir="ltr">${escapeHtml(place)}</p>`;
}

const shorten = (path: string): string => (path.length > 60 ? `${path.slice(0, 59)}…` : path);
