// Where the paywall's few words go when the seller names no logger of his own.
import type { Logger } from "./settings.js";

type Level = keyof Logger;

/** One line of JSON beside the message; bigint has no JSON form. */
function line(message: string, facts: object | undefined): string {
  if (facts === undefined) return `tollgate: ${message}`;
  const text = JSON.stringify(facts, (_key, value: unknown) => (typeof value === "bigint" ? value.toString() : value));
  return `tollgate: ${message} ${text}`;
}

// The console is used here and nowhere else: a seller without a logger must still learn that his routes are closed.
// All levels go to standard error, which `console.error` and `console.warn` alone promise; `debug` stays silent.
const print =
  (level: Exclude<Level, "debug">) =>
  (message: string, facts?: object): void =>
    globalThis.console[level === "info" ? "warn" : level](line(message, facts));

/** Writes `tollgate: …` lines to standard error, all but `debug`. The default. */
export const consoleLogger: Logger = Object.freeze({
  debug: () => {},
  info: print("info"),
  warn: print("warn"),
  error: print("error"),
});

/** Says nothing. */
export const silentLogger: Logger = Object.freeze({ debug: () => {}, info: () => {}, warn: () => {}, error: () => {} });

/** Invariant: what a seller's logger throws or rejects stops nothing, and ends no process; the word is lost. */
export function harmless(logger: Logger): Logger {
  const say =
    (level: Level): Logger[Level] =>
    (message, facts) => {
      const tell = async () => logger[level](message, facts);
      // There is nobody left to tell. Nobody waits for it either: one that never ends holds nothing up.
      tell().catch(() => {});
    };
  return Object.freeze({ debug: say("debug"), info: say("info"), warn: say("warn"), error: say("error") });
}
