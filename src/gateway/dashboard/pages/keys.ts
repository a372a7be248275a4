// API keys: a list of them, the form for a new one, and the page that shows a secret, once. A key that may send is made for a
// signature.
import { html } from "hono/html";
import type { ApiKey } from "../../caller.js";
import { SCOPES, type Scope } from "../../caller.js";
import type { HostedWallet } from "../../database/database.js";
import type { Plan } from "../../settings.js";
import { actionForm, type Html } from "../layout.js";
import type { Place } from "../place.js";
import type { Session } from "../session.js";
import { instant } from "../show.js";

export interface KeysFacts {
  readonly place: Place;
  readonly session: Session;
  readonly keys: readonly ApiKey[];
  readonly wallets: readonly HostedWallet[];
  readonly plans: Readonly<Record<string, Plan>>;
  /** Why the last form was refused. */
  readonly problem?: string;
}

export function renderKeys({ place, session, keys, wallets, plans, problem }: KeysFacts): Html {
  const own = keys.filter(({ revokedAt }) => revokedAt === null);
  return html`${problem === undefined ? "" : html`<p class="bad" role="alert">${problem}</p>`}
    ${own.length === 0 ? html`<p>There is no key yet. Make one here; its secret is shown once.</p>` : own.map((key) => renderKey(place, key))}
    <h2>New key</h2>
    ${actionForm(place, session, "/keys", newKey(plans, wallets))}`;
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
  · <a href="${place.base}/keys/${key.id}/rotate">Rotate ${key.name}</a></p>
</section>`;

const newKey = (plans: KeysFacts["plans"], wallets: KeysFacts["wallets"]): Html => html`<div class="stack">
  <label>Name<input name="name" required maxlength="100" /></label>
  <label>Networks<select name="mode"><option value="test">test networks</option><option value="live">main networks</option></select></label>
  <label>Plan<select name="plan">${planNames(plans).map((name) => html`<option>${name}</option>`)}</select></label>
  <fieldset><legend>May</legend>${SCOPES.map(
    (scope) =>
      html`<label><input type="checkbox" name="scopes" value="${scope}" ${scope === "send" ? "" : "checked"} />${MEANS[scope]}</label>`,
  )}</fieldset>
  ${wallets.length === 0 ? "" : fromWallets(wallets)}
  <label>Ends after this day, if ever<input type="date" name="expires" /></label>
  <button class="main">Make the key</button>
</div>`;

/** A key that may send opens these hosted wallets, and no other. */
const fromWallets = (wallets: KeysFacts["wallets"]): Html =>
  html`<fieldset><legend>Sends from, if it may send</legend>${wallets.map(
    ({ id, name, mode, address }) =>
      html`<label><input type="checkbox" name="wallets" value="${id}" /><span>${name} (${mode}) <code>${address}</code></span></label>`,
  )}</fieldset>`;

/** What each scope permits, in the words of a form. */
const MEANS: Readonly<Record<Scope, string>> = {
  send: "send: pay from hosted wallets; a wallet has to sign for it",
  receive: "receive: verify and settle payments",
  read: "read: status and history",
  build: "build: unsigned transactions",
  events: "events: live events",
};

/** What leaves the rate to the key is for who sells the plan: the command line. */
const planNames = (plans: KeysFacts["plans"]): readonly string[] =>
  Object.entries(plans).flatMap(([name, { perMinute }]) => (perMinute === "key" ? [] : [name]));

/** `old`: the one that it stands in for, which is deleted last. */
export const renderSecret = ({ base }: Place, { name, prefix }: ApiKey, secret: string, oldKey?: string): Html => html`
  <p>This is the whole key <b>${name}</b>. It is shown now and never again; only its beginning <code>${prefix}</code> is kept in clear.</p>
  <code class="secret" id="secret">${secret}</code>
  <p><button type="button" data-copy="secret" hidden>Copy</button> ${
    oldKey
      ? html`<a href="${base}/keys/${oldKey}/delete">It is in use now: delete the old one</a>`
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
