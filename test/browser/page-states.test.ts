// Every state of the page, desktop and 360 px wide, light and dark: nothing overflows, and axe finds nothing. With SCREENSHOTS=folder
// a picture of each is written there: `SCREENSHOTS=.cache/page npx vitest run test/browser/page-states.test.ts`.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { findings } from "./audit.js";
import { reasonToSkip, startChromium } from "./chromium.js";
import { openStateShop, STATES } from "./states.js";
import { visit } from "./visit.js";

const skipped = reasonToSkip();
const folder = process.env.SCREENSHOTS;
const SIZES = { desktop: { width: 1280, height: 900 }, phone: { width: 360, height: 740 } } as const;

type Size = keyof typeof SIZES;
const SIZES_NOW: readonly Size[] = ["desktop", "phone"];
const LIGHTS = ["light", "dark"] as const;
/** Without pictures each state is looked at once, in one of the four ways by turns: all of them take minutes. */
function lightsOf(name: string, size: Size): readonly ("light" | "dark")[] {
  if (folder) return LIGHTS;
  const turn = Object.keys(STATES).indexOf(name);
  if ((turn % 2 === 0) !== (size === "phone")) return [];
  return turn % 4 < 2 ? ["light"] : ["dark"];
}

let sandbox: Sandbox;
let browser: Browser;
beforeAll(async () => {
  if (skipped) return;
  if (folder) mkdirSync(folder, { recursive: true });
  [sandbox, browser] = await Promise.all([createSandbox(), startChromium()]);
}, 60_000);
afterAll(async () => {
  await Promise.all([browser?.close(), sandbox?.close()]);
});

/** What stands out of the window, or out of its own box. */
const overflowing = (page: Page) =>
  page.evaluate(`(() => {
    const wide = [...document.querySelectorAll("body *")].filter((one) => {
      const { right, left, width } = one.getBoundingClientRect();
      return width > 0 && (right > innerWidth + 1 || left < -1 || one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0 && getComputedStyle(one).display !== "inline");
    });
    const page = document.documentElement;
    return [...wide.map((one) => one.outerHTML.slice(0, 120)), ...(page.scrollWidth > innerWidth ? ["the page"] : [])];
  })()`);

describe.skipIf(skipped)("the page", { timeout: 90_000 }, () => {
  it.each(Object.entries(STATES))("%s: fits, can be read and used, in every size and light", async (name, state) => {
    const at = await visit(browser, { viewport: SIZES.desktop, reducedMotion: "reduce" });
    const shop = await openStateShop(sandbox, state);
    onTestFinished(() => shop.close());
    await state.reach(at, { shop, sandbox });
    for (const size of SIZES_NOW) {
      await at.page.setViewportSize(SIZES[size]);
      for (const colorScheme of lightsOf(name, size)) {
        await at.page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        expect([size, await overflowing(at.page)]).toEqual([size, []]);
        expect([size, colorScheme, await findings(at.page)]).toEqual([size, colorScheme, []]);
        const path = folder && join(folder, `${name.replaceAll(/\W+/g, "-")}-${size}-${colorScheme}.png`);
        if (path) await at.page.screenshot({ path, fullPage: true });
      }
    }
    expect(at.faults).toEqual([]);
  });

  it("can be used by the keyboard alone, and shows where the focus is", async () => {
    const at = await visit(browser, { viewport: SIZES.phone });
    const state = STATES["a choice"];
    if (!state) throw new Error("there is no such state");
    const shop = await openStateShop(sandbox, state);
    onTestFinished(() => shop.close());
    await state.reach(at, { shop, sandbox });
    await at.page.getByText("Pay on a phone").waitFor();
    const focused: unknown[] = [];
    for (let press = 0; press < 4; press += 1) {
      await at.page.keyboard.press("Tab");
      focused.push(
        await at.page.evaluate(
          "[document.activeElement.tagName, getComputedStyle(document.activeElement).outlineStyle].join(' ')",
        ),
      );
    }
    expect(focused.slice(0, 3)).toEqual(["INPUT solid", "BUTTON solid", "SUMMARY solid"]);
  });
});
