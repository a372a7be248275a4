// The little that needs a script: the token of a link goes from the fragment into the form, secrets can be copied, and the list of
// payments is asked for again while it is looked at.
const EVERY_MS = 5_000;

const login = document.querySelector<HTMLFormElement>("#login");
const field = login?.querySelector<HTMLInputElement>("input[name=token]");
if (login && field && location.hash.length > 1) {
  field.value = location.hash.slice(1);
  // Not in the history, and not in what is copied from the address bar.
  history.replaceState(null, "", location.pathname);
  login.requestSubmit();
}

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

const linksOf = (list: Element) => [...list.querySelectorAll("td a")].map((link) => link.getAttribute("href"));

async function look(list: Element): Promise<void> {
  if (document.hidden || list.contains(document.activeElement)) return;
  const answer = await fetch(location.href, { credentials: "same-origin" });
  // Signed out meanwhile: the next click says so.
  if (!answer.ok || answer.redirected) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("#payments");
  if (!fresh || fresh.innerHTML === list.innerHTML) return;
  const before = linksOf(list);
  const added = linksOf(fresh).filter((link) => !before.includes(link)).length;
  list.replaceChildren(...fresh.childNodes);
  const live = document.getElementById("live");
  if (live && added > 0) live.textContent = added === 1 ? "One new payment" : `${added} new payments`;
}

const list = document.querySelector("#payments[data-live]");
if (list) {
  const again = () =>
    setTimeout(
      () =>
        look(list)
          .catch(() => {})
          .finally(again),
      EVERY_MS,
    );
  again();
}
