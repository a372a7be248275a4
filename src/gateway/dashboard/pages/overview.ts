// What was earned in the last thirty days, by day and by route, and how much of the plan's minute is used.
import { html } from "hono/html";
import type { Earned } from "../../database/browsing.js";
import { DAY_MS } from "../../database/browsing.js";
import type { Limits } from "../../http/limits.js";
import type { GatewayParts } from "../../parts.js";
import { type Bar, barChart, namedBars } from "../chart.js";
import type { Html } from "../layout.js";
import type { Place } from "../place.js";
import { amountText, dayText, networkText } from "../show.js";

const DAYS = 30;
const MAX_ROUTES = 20;

type Parts = Pick<GatewayParts, "database" | "networks" | "settings">;

export async function renderOverview(
  parts: Parts,
  limits: Pick<Limits, "used">,
  place: Place,
  account: string,
): Promise<Html> {
  const { database, networks } = parts;
  const today = Math.floor((await database.now()) / DAY_MS);
  const first = today - DAYS + 1;
  const { earned, complete } = await database.browsing.earned(account, first * DAY_MS);
  const assets = [...groupBy(earned, ({ network, asset }) => `${network} ${asset}`).values()];
  return html`${await renderUsage(parts, limits, account)}
    <h2>Received in ${DAYS} days</h2>
    ${complete ? "" : html`<p class="bad">There were more payments than one page can add up: the sums are of a part of them.</p>`}
    ${assets.length === 0 ? teach(place) : assets.map((rows) => renderAsset(networks, rows, first))}`;
}

const teach = ({ base }: Place): Html => html`<div class="panel"><p>Nothing has been received yet. To begin:</p>
  <ol><li>Make a key under <a href="${base}/keys">API keys</a>.</li>
  <li>Put a price on a route: <code>paywall("$0.01", { receive: hosted({ apiKey }) })</code>.</li>
  <li>Whatever is paid then stands here and under <a href="${base}/payments">Payments</a>.</li></ol></div>`;

function renderAsset(networks: Parts["networks"], rows: readonly Earned[], first: number): Html {
  const [any] = rows;
  if (!any) return html``;
  const bar = (label: string, of: readonly Earned[]): Bar => {
    const amount = of.reduce((sum, one) => sum + one.amount, 0n);
    return { label, amount, text: amountText(networks, { ...any, amount }) };
  };
  const days = groupBy(rows, ({ day }) => day);
  const byDay = Array.from({ length: DAYS }, (_, at) => bar(dayText(first + at), days.get(first + at) ?? []));
  const routes = [...groupBy(rows, ({ resource }) => routeOf(resource))].map(([route, of]) => bar(route, of));
  routes.sort((a, b) => (a.amount === b.amount ? 0 : a.amount > b.amount ? -1 : 1));
  const total = bar("", rows);
  return html`<section class="panel" aria-label="${total.text} on ${networkText(any.network)}">
    <h3>${total.text} <span class="tag">${networkText(any.network)}</span></h3>
    ${barChart("Each day", byDay)}
    ${namedBars("Route", routes.slice(0, MAX_ROUTES))}
    ${routes.length > MAX_ROUTES ? html`<p class="soft">and ${routes.length - MAX_ROUTES} more routes</p>` : ""}
  </section>`;
}

/** Without the query: each buyer has another one. */
function routeOf(resource: string | null): string {
  if (resource === null) return "no resource was named";
  return URL.canParse(resource)
    ? new URL(resource).origin + new URL(resource).pathname
    : (resource.split("?")[0] ?? resource);
}

async function renderUsage(
  { database, settings }: Parts,
  limits: Pick<Limits, "used">,
  account: string,
): Promise<Html> {
  const [used, keys] = await Promise.all([limits.used(account), database.keys.list(account)]);
  const own = keys.filter(({ revokedAt }) => revokedAt === null);
  const rates = groupBy(own, ({ plan, rateLimit }) => `${plan} ${rateLimit ?? ""}`);
  const rows = [...rates.values()].flatMap(([key]) => {
    const plan = key && settings.plans[key.plan];
    const rate = plan?.perMinute === "key" ? key?.rateLimit : plan?.perMinute;
    return key && rate
      ? [
          html`<dt>${key.plan}</dt><dd>${used} of ${rate} requests in this minute
      <progress max="${rate}" value="${Math.min(used, rate)}" aria-label="Used of the plan ${key.plan}"></progress></dd>`,
        ]
      : [];
  });
  return rows.length === 0 ? html`` : html`<h2>Use of the plan</h2><dl>${rows}</dl>`;
}

/** In the order in which each group came first. */
function groupBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
