// How one signs in: by a link whose token the script sends on, or by pasting it; and the words of a refusal.
import { html } from "hono/html";
import type { Html } from "../layout.js";
import type { Place } from "../place.js";

export function renderLogin({ base, isExposed }: Place, problem?: string): Html {
  if (isExposed) {
    return html`<p class="bad">This gateway is reached over plain http across a network, where others can read along. Nobody can
      sign in until TOLLGATE_PUBLIC_URL begins with https://.</p>`;
  }
  return html`${problem === undefined ? "" : html`<p class="bad" role="alert">${problem}</p>`}
    <p>Run this where the gateway runs, and open the link that it prints. It is good for ten minutes, and once.</p>
    <pre>tollgate gateway login</pre>
    <form method="post" action="${base}/login" class="stack" id="login">
      <label>Or paste the link here<input name="token" required autocomplete="off" spellcheck="false" /></label>
      <button class="main">Sign in</button>
    </form>`;
}
