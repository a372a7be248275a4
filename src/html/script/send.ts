// Sends a payment by a navigation of this very URL: a cookie carries it, and the browser shows whatever comes back.
import type { PageData } from "../page-data.js";
import { type Pending, save } from "./pending.js";
import { done, type Result, stop } from "./result.js";

/** A cookie holds 4096 bytes with its name. */
const PART = 3800;
const MOST_PARTS = 4;
/** For the navigation and a reload right after; later the page sends it again. */
const SECONDS = 60;

/** A `;` would end the attribute: then the folder above. */
function cookiePath(): string {
  const path = location.pathname;
  const at = path.indexOf(";");
  return at < 0 ? path : path.slice(0, path.lastIndexOf("/", at) + 1);
}

function setCookie(name: string, value: string, path: string, seconds: number): void {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in some browsers and works on https only.
  document.cookie = `${name}=${value}; Path=${path}; Max-Age=${seconds}; SameSite=Strict${secure}`;
}

const readCookie = (name: string): string | undefined =>
  `; ${document.cookie}`.split(`; ${name}=`)[1]?.split(";", 1)[0];

/** Payments of other queries of this path would only make the request longer. */
function clearCookies({ paid }: PageData): void {
  for (const cookie of document.cookie.split("; ")) {
    const [name = ""] = cookie.split("=", 1);
    if (name.startsWith("tollgate-payment-")) setCookie(name, "", cookiePath(), 0);
  }
  setCookie(paid, "", "/", 0);
}

/** Asked before anything is signed. */
export function checkCookies({ cookie }: PageData): Result<true> {
  const probe = `${cookie}-probe`;
  setCookie(probe, "1", cookiePath(), 5);
  const works = readCookie(probe) === "1";
  setCookie(probe, "", cookiePath(), 0);
  return works ? done(true) : stop("This browser keeps no cookies for this page, so a payment could not be delivered.");
}

/** Sends it; the page is left, unless what comes is a download. `onStay`: it was paid, and the page is still here. */
export function send(
  data: PageData,
  pending: Pending & { readonly proof: string },
  onStay: (receipt: string) => void,
): void {
  const { proof } = pending;
  save({ ...pending, tries: pending.tries + 1 });
  clearCookies(data);
  for (let part = 0; part * PART < proof.length && part < MOST_PARTS; part += 1) {
    const name = part === 0 ? data.cookie : `${data.cookie}-${part}`;
    setCookie(name, proof.slice(part * PART, (part + 1) * PART), cookiePath(), SECONDS);
  }
  const watch = setInterval(() => {
    const receipt = readCookie(data.paid);
    if (!receipt) return;
    clearInterval(watch);
    // A page that is about to be replaced need not say so.
    setTimeout(() => onStay(receipt), 1200);
  }, 300);
  location.reload();
}

export const fits = (proof: string): boolean => proof.length <= PART * MOST_PARTS;
