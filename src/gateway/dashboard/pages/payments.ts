// Payments of the account: searched, newest first, page by page.
import { html } from "hono/html";
import type { Search } from "../../database/browsing.js";
import type { GatewayNetworks } from "../../parts.js";
import { PAYMENT_STATUSES, type Payment } from "../../payment.js";
import { readAddress } from "../../terms.js";
import type { Html } from "../layout.js";
import { type Place, socketsOf } from "../place.js";
import { amountText, instant, networkText } from "../show.js";

type Query = Readonly<Record<string, string>>;

const DAY = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;
const MAX_TEXT = 2_048;

/** What cannot be meant is left out. */
export function readSearch({ q = "", status, type, from = "", to = "" }: Query): Search {
  const text = q.trim().slice(0, MAX_TEXT);
  const known = PAYMENT_STATUSES.find((one) => one === status);
  const day = (written: string) => (DAY.test(written) ? Date.parse(`${written}T00:00:00Z`) : Number.NaN);
  return {
    ...(text !== "" && { text: readAddress("evm", text) ?? text }),
    ...(known && { status: known }),
    ...((type === "sent" || type === "received") && { type }),
    ...(!Number.isNaN(day(from)) && { since: day(from) }),
    ...(!Number.isNaN(day(to)) && { until: day(to) + 86_400_000 }),
  };
}

export interface PaymentsFacts {
  readonly place: Place;
  readonly networks: GatewayNetworks;
  readonly query: Query;
  readonly payments: readonly Payment[];
  readonly before: string | undefined;
}

export function renderPayments({ place, networks, query, payments, before }: PaymentsFacts): Html {
  const asked = Object.keys(readSearch(query)).length > 0;
  const next = before && `?${new URLSearchParams({ ...query, before })}`;
  return html`${searchForm(place, query)}
    <p class="soft" id="live" role="status"></p>
    <div id="payments" ${query.before === undefined ? html`data-live="${socketsOf(place).join(" ")}"` : ""}>
      ${payments.length === 0 ? nothing(asked) : table(place, networks, payments)}
      ${next ? html`<p><a href="${next}">Older payments</a></p>` : ""}
    </div>`;
}

const nothing = (asked: boolean): Html =>
  asked
    ? html`<p>No payment fits this search. An address or a transaction has to be whole; of a resource a part is enough.</p>`
    : html`<p>There is no payment yet. The first one stands here as soon as a buyer has paid, or a key has sent.</p>`;

const choice = (value: string, chosen: string | undefined, name = value): Html =>
  value === chosen
    ? html`<option value="${value}" selected>${name}</option>`
    : html`<option value="${value}">${name}</option>`;

const searchForm = ({ base }: Place, { q = "", status, type, from = "", to = "" }: Query): Html => html`
  <form method="get" action="${base}/payments" class="fields" role="search">
    <label>Id, address, transaction or resource<input type="search" name="q" value="${q}" /></label>
    <label>Status<select name="status"><option value="">any</option>${PAYMENT_STATUSES.map((one) => choice(one, status))}</select></label>
    <label>Kind<select name="type"><option value="">any</option>${choice("received", type)}${choice("sent", type)}</select></label>
    <label>From<input type="date" name="from" value="${from}" /></label>
    <label>To<input type="date" name="to" value="${to}" /></label>
    <button>Search</button>
  </form>`;

const table = (
  { base }: Place,
  networks: GatewayNetworks,
  payments: readonly Payment[],
): Html => html`<table class="cards">
  <thead><tr><th scope="col">When</th><th scope="col">Status</th><th scope="col">Amount</th><th scope="col">Network</th><th scope="col">Resource</th><th scope="col">Payment</th></tr></thead>
  <tbody>${payments.map(
    (one) => html`<tr>
      <td data-label="When">${instant(one.createdAt)}</td>
      <td data-label="Status">${one.type} <span class="tag">${one.status}</span></td>
      <td data-label="Amount" class="whole">${amountText(networks, one)}</td>
      <td data-label="Network">${networkText(one.network)}</td>
      <td data-label="Resource">${one.resource ?? "none"}</td>
      <td data-label="Payment" class="whole"><a href="${base}/payments/${one.id}">${one.id.slice(0, 12)}…</a></td></tr>`,
  )}</tbody></table>`;
