// What the person sees. Every word goes in as text, never as HTML, and what changes is spoken by a live region.
import type { PageData, PageOffer } from "../page-data.js";

export interface Action {
  readonly label: string;
  readonly icon?: string | undefined;
  /** Not the thing to do first. */
  readonly second?: boolean;
  run(): void;
}

export interface Line {
  readonly text: string;
  readonly tone?: "good" | "bad" | "code";
}

const part = (name: string): HTMLElement => {
  const found = document.getElementById(`tg-${name}`);
  if (!found) throw new Error(`the page has no ${name}`);
  return found;
};

function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  text = "",
  className = "",
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

export function showPrice({ price, dollars, network }: PageOffer): void {
  const big = element("p", "", `tg-price${(dollars ?? price).length > 12 ? " tg-long" : ""}`);
  big.append(element("b", dollars ?? price));
  part("price").replaceChildren(big, element("p", dollars ? `${price} on ${network}` : `on ${network}`, "tg-detail"));
}

/** Radio buttons, where there is a choice. */
export function showOffers({ offers }: PageData, chosen: number, choose: (at: number) => void): void {
  const box = part("offers");
  box.hidden = offers.length < 2;
  const rows = offers.map(({ price, network }, at) => {
    const row = element("label");
    const input = element("input");
    Object.assign(input, { type: "radio", name: "tg-offer", checked: at === chosen });
    input.addEventListener("change", () => choose(at));
    row.append(input, element("span", `${price} on ${network}`));
    return row;
  });
  box.replaceChildren(...[...box.children].slice(0, 1), ...rows);
}

/** While a payment is under way, and after it, no other begins: neither here nor on another device. */
export function lock(locked: boolean): void {
  part("offers").toggleAttribute("disabled", locked);
  part("phone").hidden = locked;
}

/** How far it is; undefined = no payment is under way. */
export function showStep(at: number | undefined): void {
  const list = part("steps");
  list.hidden = at === undefined;
  for (const [index, item] of [...list.children].entries()) {
    const state = at === undefined || index > at ? undefined : index === at ? "now" : "done";
    if (state) item.setAttribute("data-at", state);
    else item.removeAttribute("data-at");
    if (state === "now") item.setAttribute("aria-current", "step");
    else item.removeAttribute("aria-current");
  }
}

export function say(...lines: readonly Line[]): void {
  const made = lines.map(({ text, tone }) => {
    if (tone !== "code") return element("p", text, tone ? `tg-${tone}` : "");
    const line = element("p");
    line.append(element("code", text));
    return line;
  });
  for (const line of made) line.dir = "auto";
  part("status").replaceChildren(...made);
}

export function offerActions(actions: readonly Action[]): void {
  const box = part("actions");
  const hadFocus = box.contains(document.activeElement);
  const buttons = actions.map(({ label, icon, second, run }) => {
    const button = element("button", "", second ? "tg-second" : "");
    button.type = "button";
    if (icon) button.append(Object.assign(element("img"), { src: icon, alt: "" }));
    button.append(element("span", label));
    button.addEventListener("click", run);
    return button;
  });
  box.replaceChildren(...buttons);
  if (hadFocus) (buttons[0] ?? part("status")).focus();
}
