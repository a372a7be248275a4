// A real Chromium with no profile and no way out. In CI an absent one is a failure; elsewhere its tests are skipped.
import { type Browser, chromium } from "playwright-core";
import { findProgram, reasonToSkip as why } from "../support/service.js";

const program = findProgram("chromium");

export const reasonToSkip = (): string | undefined => why(program, "chromium");

/** Whoever starts it closes it. */
export function startChromium(): Promise<Browser> {
  if (program === undefined) throw new Error("chromium is not installed: apt-get install chromium");
  return chromium.launch({
    executablePath: program,
    args: [
      // Root is refused a sandbox; what runs here is our own page.
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-gpu",
      "--disable-quic",
      "--disable-sync",
      "--no-first-run",
    ],
  });
}
