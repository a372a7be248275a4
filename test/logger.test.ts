// The default logger writes one line to standard error; the silent one writes none.
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { consoleLogger, harmless, silentLogger } from "../src/logger.js";
import { resolveOptions } from "../src/options.js";
import { PAY_TO, scriptedReceiver } from "./support/world.js";

afterEach(() => vi.restoreAllMocks());

function linesOf(run: () => void): { stderr: string[]; stdout: number } {
  const stderr: string[] = [];
  const take = (line: unknown) => void stderr.push(String(line));
  vi.spyOn(globalThis.console, "warn").mockImplementation(take);
  vi.spyOn(globalThis.console, "error").mockImplementation(take);
  const out = ["log", "info", "debug"] as const;
  const spies = out.map((name) => vi.spyOn(globalThis.console, name).mockImplementation(() => {}));
  run();
  return { stderr, stdout: spies.reduce((calls, spy) => calls + spy.mock.calls.length, 0) };
}

describe("the default logger", () => {
  it("writes one line for each message, facts and bigint included, and nothing to standard output", () => {
    const { stderr, stdout } = linesOf(() => {
      consoleLogger.debug("quiet");
      consoleLogger.info("ready");
      consoleLogger.warn("slow", { ms: 5 });
      consoleLogger.error("refused", { amount: 10n, text: "a\nb" });
    });
    expect(stderr).toEqual([
      "tollgate: ready",
      'tollgate: slow {"ms":5}',
      'tollgate: refused {"amount":"10","text":"a\\nb"}',
    ]);
    expect(stdout).toBe(0);
  });
});

describe("the silent logger", () => {
  it("writes nothing", () => {
    const { stderr, stdout } = linesOf(() => {
      for (const level of ["debug", "info", "warn", "error"] as const) silentLogger[level]("x", {});
    });
    expect([stderr.length, stdout]).toEqual([0, 0]);
  });
});

describe("a seller's logger that fails", () => {
  const broken = () => {
    throw new Error("the disk is full");
  };
  const logger = { debug: broken, info: broken, warn: broken, error: broken };

  it("stops nothing, at any level, in a paywall either", () => {
    const options = { payTo: PAY_TO, network: "base-sepolia", receive: scriptedReceiver(), logger };
    for (const one of [harmless(logger), resolveOptions(options, {}).logger]) {
      for (const level of ["debug", "info", "warn", "error"] as const) expect(() => one[level]("x", {})).not.toThrow();
    }
  });

  it.each([
    ["throws", broken],
    ["rejects", () => Promise.reject(new Error("the disk is full"))],
  ])("ends no process where it %s, and nobody waits for it", async (_, method) => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => void unhandled.push(error);
    process.on("unhandledRejection", note);
    onTestFinished(() => void process.off("unhandledRejection", note));
    const one = harmless({ debug: method, info: method, warn: method, error: method });
    for (const level of ["debug", "info", "warn", "error"] as const) expect(one[level]("x", {})).toBeUndefined();
    // Node tells of a rejection that nobody handles after the turn in which it came.
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  });

  it("is given every word otherwise, as its own method", () => {
    const words: unknown[] = [];
    const own = {
      words,
      debug() {},
      info() {},
      warn() {},
      error(...word: unknown[]) {
        this.words.push(word);
      },
    };
    harmless(own).error("refused", { amount: 1 });
    expect(words).toEqual([["refused", { amount: 1 }]]);
  });
});
