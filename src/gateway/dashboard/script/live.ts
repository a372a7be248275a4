// The list of payments while it is looked at: asked for again when a socket tells of a change, and now and then where there is no
// socket.
const EVERY_MS = 5_000;
/** Several changes at once are one look. */
const TOGETHER_MS = 150;
const SUBSCRIBE = JSON.stringify({ method: "subscribe", keys: ["payments", "verifications", "settlements"] });
/** The session is over. */
const UNAUTHORIZED = 4401;

const linksOf = (list: Element) => [...list.querySelectorAll("td a")].map((link) => link.getAttribute("href"));

export function keepLive(list: HTMLElement): void {
  const said = document.getElementById("live");
  /** Sockets that will tell. */
  let telling = 0;
  let over = false;
  let waiting = false;

  function end(): void {
    over = true;
    if (said) said.textContent = "You are signed out: this list stands still.";
  }

  async function look(): Promise<void> {
    const answer = await fetch(location.href, { credentials: "same-origin" });
    if (answer.redirected) return end();
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("#payments");
    if (!fresh || fresh.innerHTML === list.innerHTML) return;
    const before = linksOf(list);
    const links = linksOf(fresh);
    const added = links.filter((link) => !before.includes(link)).length;
    // Whoever is at a link with the keyboard stays at it.
    const focused = list.contains(document.activeElement) ? document.activeElement?.getAttribute("href") : undefined;
    list.replaceChildren(...fresh.childNodes);
    if (focused) [...list.querySelectorAll("a")].find((link) => link.getAttribute("href") === focused)?.focus();
    if (said && added > 0) said.textContent = added === 1 ? "One new payment" : `${added} new payments`;
  }

  function lookSoon(after: number): void {
    if (waiting || over) return;
    waiting = true;
    setTimeout(() => {
      waiting = false;
      // Asked for when it is looked at again.
      if (!document.hidden && !over) void look().catch(() => {});
    }, after);
  }

  function listen(url: string): void {
    if (over) return;
    const socket = new WebSocket(url);
    let tells = false;
    const tell = (does: boolean) => {
      if (does === tells) return;
      telling += does ? 1 : -1;
      tells = does;
    };
    socket.addEventListener("open", () => socket.send(SUBSCRIBE));
    socket.addEventListener("message", ({ data }) => {
      const { type } = JSON.parse(String(data)) as { readonly type: string };
      if (type === "authenticated" || type === "pong") return;
      if (type === "subscribed") tell(true);
      // After "subscribed" too: what came in between is seen.
      lookSoon(TOGETHER_MS);
    });
    socket.addEventListener("close", ({ code }) => {
      tell(false);
      if (code === UNAUTHORIZED) end();
      else setTimeout(() => listen(url), EVERY_MS);
    });
  }

  const urls = (list.dataset.live ?? "").split(" ").map((path) => new URL(path, location.href));
  for (const url of urls) {
    url.protocol = url.protocol.replace("http", "ws");
    listen(url.href);
  }
  document.addEventListener("visibilitychange", () => lookSoon(0));
  const again = () => {
    if (telling < urls.length) lookSoon(0);
    if (!over) setTimeout(again, EVERY_MS);
  };
  setTimeout(again, EVERY_MS);
}
