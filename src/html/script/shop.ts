// Asks this very URL what it costs now: the page may have been open for hours.
import type { PageData } from "../page-data.js";
import { done, type Result, stop } from "./result.js";

const ASK_MS = 15_000;
/** The server's clock less that of this page, which counts since it was opened, whatever the device's own clock says. */
let ahead = 0;

/** Unix seconds at the server. */
export const serverNow = (): number => Math.floor(ahead + performance.now() / 1000);

/** `wish`: `1`, or the draft of a transaction. */
export async function askShop(wish: string): Promise<Result<PageData>> {
  try {
    // The origin without the password that an address may hold, with which nothing can be fetched.
    const response = await fetch(location.origin + location.pathname + location.search, {
      headers: { Accept: "text/html", "Payment-Page": wish },
      cache: "no-store",
      credentials: "same-origin",
      redirect: "error",
      signal: AbortSignal.timeout(ASK_MS),
    });
    if (response.ok) {
      // Another tab has bought a pass meanwhile.
      location.reload();
      return stop("This is open to you already.");
    }
    const data = (await response.json()) as PageData;
    // Whatever stands in front of the seller may have answered in his place.
    if (Array.isArray(data.offers) && data.cookie) {
      ahead = data.now - performance.now() / 1000;
      return done(data);
    }
  } catch {
    // Told below, as an answer that is none.
  }
  return stop("The seller cannot be reached right now. Nothing was taken; try again in a moment.");
}
