// The account itself: who it is, and the end of one session or of all.
import { html } from "hono/html";
import { actionForm, type Html } from "../layout.js";
import type { Place } from "../place.js";
import type { Session } from "../session.js";
import { instant } from "../show.js";

export const renderAccount = (place: Place, session: Session): Html => html`<dl>
    <dt>Name</dt><dd>${session.account.name}</dd>
    <dt>Id</dt><dd><code>${session.account.id}</code></dd>
    <dt>Made</dt><dd>${instant(session.account.createdAt)}</dd>
  </dl>
  <h2>Sign out</h2>
  <div class="fields">
    ${actionForm(place, session, "/logout", html`<button>Sign out here</button>`)}
    ${actionForm(place, session, "/logout-everywhere", html`<button class="bad">Sign out everywhere</button>`)}
  </div>
  <p class="soft">A session ends by itself after 30 minutes without a page asked for, and after twelve hours in any case.</p>`;
