// The account itself: who it is, the wallets that are its own, which of them sign for it, and the end of one session or of all.
import { html } from "hono/html";
import type { ProvenAddress } from "../../database/signers.js";
import { actionForm, type Html } from "../layout.js";
import type { Place } from "../place.js";
import type { Session } from "../session.js";
import { instant, spellWallet } from "../show.js";
import { changeForm } from "./sign.js";

export const renderAccount = (place: Place, session: Session, wallets: readonly ProvenAddress[]): Html => html`<dl>
    <dt>Name</dt><dd>${session.account.name}</dd>
    <dt>Id</dt><dd><code>${session.account.id}</code></dd>
    <dt>Made</dt><dd>${instant(session.account.createdAt)}</dd>
  </dl>
  <h2>Wallets of this account</h2>
  <p>No other account can receive for them. Those that sign may also sign in here, and say what money may do.</p>
  ${wallets.length === 0 ? html`<p>No wallet has been shown to be this account's yet.</p>` : wallets.map((one) => renderWallet(place, session, one))}
  <h2>Add a wallet that signs</h2>
  ${
    session.isNew
      ? html`<p>It signs a sentence that says so. That costs nothing and moves no money.</p>
        ${changeForm(place, session, "Add", [["change", "signer"]])}`
      : html`<p>This is asked for within ten minutes of signing in only: sign out, sign in again, and come back here.</p>`
  }
  <h2>Sign out</h2>
  <div class="fields">
    ${actionForm(place, session, "/logout", html`<button>Sign out here</button>`)}
    ${actionForm(place, session, "/logout-everywhere", html`<button class="bad">Sign out everywhere</button>`)}
  </div>
  <p class="soft">A session ends by itself after 30 minutes without a page asked for, and after twelve hours in any case.</p>`;

function renderWallet(place: Place, session: Session, { address, provenAt, signsIn }: ProvenAddress): Html {
  const spelled = spellWallet(address);
  return html`<section class="panel" aria-label="${spelled}">
    <p><code>${spelled}</code> <span class="tag">${signsIn ? "signs" : "receives"}</span><br />
    <span class="soft">since ${instant(provenAt)}</span></p>
    ${
      signsIn
        ? actionForm(
            place,
            session,
            "/account/unsign",
            html`<input type="hidden" name="address" value="${address}" />
              <button class="bad">Let it sign no more, and sign out everywhere</button>`,
          )
        : ""
    }
  </section>`;
}
