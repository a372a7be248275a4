// One person at a shop: a page of a real Chromium that has no other window, with everything that should never happen noted down.
import type { Browser, Page } from "playwright-core";
import { onTestFinished } from "vitest";

export interface Visit {
  readonly page: Page;
  /** Errors of scripts, refusals by a content policy, dialogs, and requests to other hosts. */
  readonly faults: string[];
  status(): Promise<string>;
  /** All that the page shows. */
  words(): Promise<string>;
  button(name: string | RegExp): ReturnType<Page["getByRole"]>;
}

export async function visit(browser: Browser, options: Parameters<Browser["newContext"]>[0] = {}): Promise<Visit> {
  const context = await browser.newContext({ acceptDownloads: true, ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("console", (message) => {
    // A 402 or 409 is logged by the browser as a failed load, and is what is expected.
    if (message.type() === "error" && !/status of (402|409|503)/.test(message.text())) faults.push(message.text());
  });
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (/^http/.test(protocol) && hostname !== "localhost") faults.push(`request: ${request.url()}`);
  });
  return {
    page,
    faults,
    status: async () => ((await page.locator("#tg-status").textContent()) ?? "").trim(),
    words: () => page.locator("body").ariaSnapshot(),
    button: (name) => page.getByRole("button", { name }),
  };
}
