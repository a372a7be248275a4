// How one signs in: by a link whose token the script sends on, or by pasting it; by a wallet; and the words of a refusal.
import { html } from "hono/html";
import type { Html } from "../layout.js";
import type { Place } from "../place.js";
import { signForm } from "./sign.js";

const WALLET = { action: "/login/wallet", challenge: "/login/challenge", verb: "Sign in with", fields: [] };

export interface LoginFacts {
  /** Why the last form was refused. */
  readonly problem?: string;
  /** A page of another site has led here: the script sends the token of a link only when it is told to. */
  readonly isBrought: boolean;
}

export function renderLogin(place: Place, { problem, isBrought }: LoginFacts): Html {
  const { base, isExposed } = place;
  if (isExposed) {
    return html`<p class="bad">This gateway is reached over plain http across a network, where others can read along. Nobody can
      sign in until TOLLGATE_PUBLIC_URL begins with https://.</p>`;
  }
  return html`${problem === undefined ? "" : html`<p class="bad" role="alert">${problem}</p>`}
    <h2>By a link</h2>
    <p>Run this where the gateway runs, and open the link that it prints. It is good for ten minutes, and once.</p>
    <pre>tollgate gateway login</pre>
    <form method="post" action="${base}/login" class="stack" id="login" ${isBrought ? "data-brought" : ""}>
      <p class="soft" role="status" hidden></p>
      <label>Or paste the link here<input name="token" required autocomplete="off" spellcheck="false" /></label>
      <button class="main">Sign in</button>
    </form>
    <h2>By a wallet</h2>
    <p>One that signs for an account: it is added under Account, by whoever is signed in. Signing costs nothing.</p>
    ${signForm(place, WALLET)}`;
}
