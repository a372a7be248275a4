// Asks this very URL what it costs now: the page may have been open for hours.
import type { PageData } from "../page-data.js";
import { done, type Result, stop } from "./result.js";

const ASK_MS = 15_000;

/** `wish`: `1`, or the draft of a transaction. */
export async function askShop(wish: string): Promise<Result<PageData>> {
  try {
    const response = await fetch(location.pathname + location.search, {
      headers: { Accept: "text/html", "Payment-Page": wish },
      cache: "no-store",
      credentials: "same-origin",
      redirect: "error",
      signal: AbortSignal.timeout(ASK_MS),
    });
    return done((await response.json()) as PageData);
  } catch {
    return stop("The seller cannot be reached right now. Nothing was taken; try again in a moment.");
  }
}
