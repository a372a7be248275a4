// API keys: a list of them, the form for a new one, and the page that shows a secret, once. A key that may send is not made here.
import { html } from "hono/html";
import type { ApiKey } from "../../caller.js";
import { SCOPES } from "../../caller.js";
import type { Plan } from "../../settings.js";
import { actionForm, type Html } from "../layout.js";
import type { Place } from "../place.js";
import type { Session } from "../session.js";
import { instant } from "../show.js";

export interface KeysFacts {
  readonly place: Place;
  readonly session: Session;
  readonly keys: readonly ApiKey[];
  readonly plans: Readonly<Record<string, Plan>>;
  /** Why the last form was refused. */
  readonly problem?: string;
}

export function renderKeys({ place, session, keys, plans, problem }: KeysFacts): Html {
  const own = keys.filter(({ revokedAt }) => revokedAt === null);
  return html`${problem === undefined ? "" : html`<p class="bad" role="alert">${problem}</p>`}
    ${own.length === 0 ? html`<p>There is no key yet. Make one here; its secret is shown once.</p>` : own.map((key) => renderKey(place, key))}
    <h2>New key</h2>
    ${actionForm(place, session, "/keys", newKey(plans))}
    <h2>A key that may send</h2>
    <p class="soft">It widens what money can do, and is made on the command line.</p>
    <pre>tollgate keys create --account ${session.account.id} --name NAME --scopes send,read --wallets ID</pre>`;
}

const renderKey = (place: Place, key: ApiKey): Html => html`<section class="panel" aria-label="${key.name}">
  <h2>${key.name} <span class="tag">${key.mode}</span></h2>
  <dl>
    <dt>Key</dt><dd><code>${key.prefix}…</code></dd>
    <dt>Plan</dt><dd>${key.plan}</dd>
    <dt>May</dt><dd>${key.scopes.join(", ")}</dd>
    ${key.wallets.length > 0 ? html`<dt>Wallets</dt><dd>${key.wallets.join(", ")}</dd>` : ""}
    <dt>Made</dt><dd>${instant(key.createdAt)}</dd>
    <dt>Last used</dt><dd>${key.lastUsedAt === null ? "never" : instant(key.lastUsedAt)}</dd>
    <dt>Ends</dt><dd>${key.expiresAt === null ? "never" : instant(key.expiresAt)}</dd>
  </dl>
  <p><a href="${place.base}/keys/${key.id}/delete">Delete ${key.name}</a>
  ${key.scopes.includes("send") ? "" : html` · <a href="${place.base}/keys/${key.id}/rotate">Rotate ${key.name}</a>`}</p>
</section>`;

const newKey = (plans: KeysFacts["plans"]): Html => html`<div class="stack">
  <label>Name<input name="name" required maxlength="100" /></label>
  <label>Networks<select name="mode"><option value="test">test networks</option><option value="live">main networks</option></select></label>
  <label>Plan<select name="plan">${planNames(plans).map((name) => html`<option>${name}</option>`)}</select></label>
  <fieldset><legend>May</legend>${SCOPES.filter((scope) => scope !== "send").map(
    (scope) => html`<label><input type="checkbox" name="scopes" value="${scope}" checked />${scope}</label>`,
  )}</fieldset>
  <label>Ends after this day, if ever<input type="date" name="expires" /></label>
  <button class="main">Make the key</button>
</div>`;

/** What leaves the rate to the key is for who sells the plan: the command line. */
const planNames = (plans: KeysFacts["plans"]): readonly string[] =>
  Object.entries(plans).flatMap(([name, { perMinute }]) => (perMinute === "key" ? [] : [name]));

/** `old`: the one that it stands in for, which is deleted last. */
export const renderSecret = ({ base }: Place, { name, prefix }: ApiKey, secret: string, old?: ApiKey): Html => html`
  <p>This is the whole key <b>${name}</b>. It is shown now and never again; only its beginning <code>${prefix}</code> is kept in clear.</p>
  <code class="secret" id="secret">${secret}</code>
  <p><button type="button" data-copy="secret" hidden>Copy</button> ${
    old
      ? html`<a href="${base}/keys/${old.id}/delete">It is in use now: delete the old one</a>`
      : html`<a href="${base}/keys">I have kept it</a>`
  }</p>`;

export const renderDelete = (place: Place, session: Session, key: ApiKey): Html => html`
  <p>Delete the key <b>${key.name}</b> (<code>${key.prefix}…</code>)? Whatever uses it is refused from then on, and its event sockets close.</p>
  ${actionForm(place, session, `/keys/${key.id}/delete`, html`<button class="bad">Delete the key</button>`)}
  <p><a href="${place.base}/keys">Keep it</a></p>`;

export const renderRotate = (place: Place, session: Session, key: ApiKey): Html => html`
  <ol><li>A new key with the same name, plan and rights is made, and shown once.</li>
  <li>You put it where <code>${key.prefix}…</code> is used now. Both work until you delete the old one.</li>
  <li>You delete the old one, by a link beside the new one.</li></ol>
  ${actionForm(place, session, `/keys/${key.id}/rotate`, html`<button class="main">Make the new key</button>`)}
  <p><a href="${place.base}/keys">Not now</a></p>`;
