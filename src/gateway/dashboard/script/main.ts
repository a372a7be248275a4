// The little that needs a script: the token of a link goes from the fragment into the form, wallets sign, secrets can be copied, and
// the list of payments is live.
import { keepLive } from "./live.js";
import { signForms } from "./sign.js";

const login = document.querySelector<HTMLFormElement>("#login");
const field = login?.querySelector<HTMLInputElement>("input[name=token]");
function takeToken(): void {
  if (!login || !field || location.hash.length < 2) return;
  field.value = location.hash.slice(1);
  // Not in the history, and not in what is copied from the address bar.
  history.replaceState(null, "", location.pathname);
  if (login.dataset.brought === undefined) login.requestSubmit();
  else warn(login, field.value.split(".")[0] ?? "");
}

function warn(form: HTMLFormElement, account: string): void {
  const said = form.querySelector("p");
  if (!said) return;
  said.hidden = false;
  said.textContent = `Another site has led you here, to sign in to the account ${account}. Go on only if it is yours.`;
}

takeToken();
// A link that is opened where this page is shown already loads nothing anew.
addEventListener("hashchange", takeToken);

for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const text = document.getElementById(button.dataset.copy ?? "")?.textContent ?? "";
    navigator.clipboard.writeText(text).then(
      () => (button.textContent = "Copied"),
      () => (button.textContent = "Select it and copy it by hand"),
    );
  });
}

signForms();
const list = document.querySelector<HTMLElement>("#payments[data-live]");
if (list) keepLive(list);
