// The options of `hosted()`: schema, types inferred from it, and every problem in one PaywallConfigError. No message holds a
// key or a URL.
import * as z from "zod/mini";
import { type ConfigProblem, PaywallConfigError } from "../errors.js";
import { findNetwork, isAddressOf } from "../networks.js";
import type { Logger } from "../settings.js";
import { urlProblem } from "./option-words.js";

/** The gateway is given three seconds less, and with less than two of its own it verifies nothing (faults F12). */
const MIN_TIMEOUT_MS = 5_000;
const MAX_TIMEOUT_MS = 330_000;
/** As the gateway makes them. Source: design §7. */
export const API_KEY = /^tg_(?:live|test)_[1-9A-HJ-NP-Za-km-z]{40,46}$/;

/** The base URL of a gateway, without credentials, query or fragment. */
export const isBaseUrl = (text: string): boolean => {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text) || /[?#]/.test(text)) return false;
  const { username, password } = new URL(text);
  return username === "" && password === "";
};

/** A token beyond the built-in table. */
export const token = z.strictObject({
  network: z
    .string("expected a network")
    .check(z.refine((name) => findNetwork(name) !== undefined, "expected a known network")),
  address: z
    .string("expected an address")
    .check(z.refine((text) => isAddressOf("evm", text) || isAddressOf("solana", text), "expected a token's address")),
  decimals: z.int("expected a whole number").check(z.minimum(0, "expected 0 to 77"), z.maximum(77, "expected 0 to 77")),
});

const schema = z.strictObject({
  /** Of the gateway, without credentials, query or fragment. */
  baseUrl: z.string().check(z.refine(isBaseUrl)),
  /** With the scope `receive`. */
  apiKey: z.string().check(z.regex(API_KEY)),
  /** Tokens beyond the built-in table: the gateway is told amounts in whole units. */
  tokens: z.optional(z.array(token)),
  /** For one call that moves no money, 10,000. */
  timeoutMs: z.optional(z.int().check(z.minimum(MIN_TIMEOUT_MS), z.maximum(MAX_TIMEOUT_MS))),
  logger: z.optional(
    z.custom<Logger>(
      (value) =>
        typeof value === "object" &&
        value !== null &&
        ["debug", "info", "warn", "error"].every((level) => typeof Reflect.get(value, level) === "function"),
    ),
  ),
});

export type HostedOptions = z.infer<typeof schema>;

const REMEDIES = {
  apiKey: 'expected a key of the gateway with the scope "receive": tg_live_… or tg_test_…',
  tokens: "expected a list of { network, address, decimals }",
  timeoutMs: `expected a whole number of milliseconds from ${MIN_TIMEOUT_MS} to ${MAX_TIMEOUT_MS}`,
  logger: "expected an object with the functions debug, info, warn and error",
} as const;

/** @throws PaywallConfigError with every problem. */
export function readHostedOptions(input: unknown): HostedOptions {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const problems = new Map<string, ConfigProblem>();
  for (const problem of parsed.error.issues.flatMap((issue) => describe(issue, input))) {
    if (!problems.has(problem.path)) problems.set(problem.path, problem);
  }
  throw new PaywallConfigError([...problems.values()]);
}

/** What came, without its text: it may be a key. */
function gotOf(given: unknown): string {
  if (given === undefined) return "nothing";
  return given === "" ? "an empty text" : "something else (not shown)";
}

function describe(issue: z.core.$ZodIssue, input: unknown): ConfigProblem[] {
  if (issue.code === "unrecognized_keys" && issue.path.length === 0) {
    const known = Object.keys(schema.shape).join(", ");
    return issue.keys.map((key) => ({
      path: `hosted.${key}`,
      code: "unknown_option",
      message: `hosted() has no such option; it has ${known}`,
    }));
  }
  const [name] = issue.path;
  if (typeof name !== "string") {
    return [{ path: "hosted", code: "invalid", message: "expected { baseUrl, apiKey }" }];
  }
  const given: unknown = typeof input === "object" && input !== null ? Reflect.get(input, name) : undefined;
  const remedy =
    name === "baseUrl"
      ? urlProblem(given, "the gateway, without credentials, query or fragment", "https://pay.example")
      : `${REMEDIES[name as keyof typeof REMEDIES]}; got ${gotOf(given)}`;
  return [{ path: `hosted.${name}`, code: given === undefined ? "required" : "invalid", message: remedy }];
}
