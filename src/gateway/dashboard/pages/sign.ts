// The form that a wallet signs: the script puts a button into it for every wallet that it finds, and fills in what that one signs.
import { html } from "hono/html";
import type { ProvenAddress } from "../../database/signers.js";
import type { Html } from "../layout.js";
import type { Place } from "../place.js";
import type { Session } from "../session.js";
import { spellWallet } from "../show.js";

export interface SignForm {
  /** Where the signature goes; `/challenge` behind it tells what is to be signed. */
  readonly action: string;
  readonly challenge: string;
  /** Before the name of a wallet. */
  readonly verb: string;
  /** Hidden fields. */
  readonly fields: readonly (readonly [name: string, value: string])[];
}

export const signForm = ({ base }: Place, { action, challenge, verb, fields }: SignForm): Html => html`
  <form method="post" action="${base}${action}" data-challenge="${base}${challenge}" data-verb="${verb}">
    ${[...fields, ...SIGNED].map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
    <div class="fields" data-wallets></div>
    <p role="status" class="soft" data-said>A wallet in this browser, and a script of this page, are needed for it.</p>
  </form>`;

const SIGNED = ["address", "nonce", "signature"].map((name) => [name, ""] as const);

/** The hidden fields of a change, with those of the form that asked for it. */
export const changeForm = (place: Place, { formToken }: Session, verb: string, fields: SignForm["fields"]): Html =>
  signForm(place, {
    ...{ action: "/changes", challenge: "/changes/challenge", verb },
    fields: [["form", formToken], ...fields],
  });

export interface ConfirmFacts {
  readonly place: Place;
  readonly session: Session;
  readonly statement: string;
  readonly fields: SignForm["fields"];
  readonly signers: readonly ProvenAddress[];
  /** How the command line does the same. */
  readonly command: string;
  /** The page to go back to. */
  readonly back: string;
}

/** What is about to be done, and by whose signature; where no wallet signs for the account, by which command. */
export function renderConfirm({ place, session, statement, fields, signers, command, back }: ConfirmFacts): Html {
  const own = signers.filter(({ signsIn }) => signsIn);
  return html`<p>This widens what money can do:</p>
    <div class="panel"><p>${statement}</p></div>
    ${
      own.length === 0
        ? html`<p class="bad" role="alert">No wallet signs for this account yet, so it is done on the command line. Or add a
            wallet under <a href="${place.base}/account">Account</a>.</p>`
        : html`<p>A wallet that signs for this account has to sign exactly this, within five minutes. It costs nothing.</p>
            <ul>${own.map(({ address }) => html`<li><code>${spellWallet(address)}</code></li>`)}</ul>
            ${changeForm(place, session, "Sign with", fields)}`
    }
    <h2>On the command line</h2><pre>${command}</pre>
    <p><a href="${place.base}${back}">Leave it as it is</a></p>`;
}
