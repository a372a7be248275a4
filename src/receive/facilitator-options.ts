// The options of `facilitator()`: schema, types inferred from it, and every problem in one PaywallConfigError.
import * as z from "zod/mini";
import { type ConfigProblem, PaywallConfigError } from "../errors.js";
import { findNetwork } from "../networks.js";
import type { Logger } from "../settings.js";
import { type HeadersCallback, headerMap } from "./credentials.js";
import { urlProblem } from "./option-words.js";

/** Longer than any facilitator's own budget for a settlement (protocol §6.4). */
const MAX_TIMEOUT_MS = 120_000;

const REMEDIES = {
  url: "It is the base URL, without credentials, query or fragment",
  headers:
    'expected a map of header names to text, for example { authorization: "Bearer …" }, ' +
    "or a function that returns { verify, settle, supported }",
  verify: 'expected "remote" (ask the facilitator before the handler) or "local" (check the signature here)',
  rpcUrl: "expected the http(s) URL of a node, or a map of networks to such URLs",
  timeoutMs: `expected a whole number of milliseconds from 100 to ${MAX_TIMEOUT_MS}`,
  logger: "expected an object with the functions debug, info, warn and error",
} as const;

const httpUrl = z.string().check(z.refine((text) => isHttpUrl(text)));

const callback = z.custom<HeadersCallback>((value) => typeof value === "function");

const loggerShape = z.custom<Logger>(
  (value) =>
    typeof value === "object" &&
    value !== null &&
    ["debug", "info", "warn", "error"].every((level) => typeof Reflect.get(value, level) === "function"),
);

const schema = z.strictObject({
  url: z.string().check(z.refine((text) => isHttpUrl(text) && !/[?#]/.test(text) && !hasCredentials(text))),
  headers: z.optional(z.union([headerMap, callback])),
  verify: z.optional(z.enum(["remote", "local"])),
  rpcUrl: z.optional(
    z.union([httpUrl, z.record(z.string().check(z.refine((name) => findNetwork(name) !== undefined)), httpUrl)]),
  ),
  timeoutMs: z.optional(z.int().check(z.minimum(100), z.maximum(MAX_TIMEOUT_MS))),
  logger: z.optional(loggerShape),
});

export type FacilitatorOptions = z.infer<typeof schema>;

/** @throws PaywallConfigError with every problem; no message holds a header, a key or a URL. */
export function readFacilitatorOptions(input: unknown): FacilitatorOptions {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new PaywallConfigError(parsed.error.issues.flatMap((issue) => describe(issue, input)));
}

function describe(issue: z.core.$ZodIssue, input: unknown): ConfigProblem[] {
  if (issue.code === "unrecognized_keys") {
    const known = Object.keys(REMEDIES).join(", ");
    return issue.keys.map((key) => ({
      path: `facilitator.${key}`,
      code: "unknown_option",
      message: `facilitator() has no such option; it has ${known}`,
    }));
  }
  const name = issue.path[0];
  if (typeof name !== "string" || !(name in REMEDIES)) {
    return [{ path: "facilitator", code: "invalid", message: `expected an object of options, got ${kindOf(input)}` }];
  }
  const given: unknown = typeof input === "object" && input !== null ? Reflect.get(input, name) : undefined;
  return [
    {
      path: `facilitator.${name}`,
      code: given === undefined ? "required" : "invalid",
      message: messageOf(name as keyof typeof REMEDIES, given),
    },
  ];
}

/** The value itself is not shown: a URL or a header may hold a key. */
function messageOf(name: keyof typeof REMEDIES, given: unknown): string {
  if (name === "url") return `${urlProblem(given, "the facilitator", "https://x402.org/facilitator")}. ${REMEDIES.url}`;
  if (name === "rpcUrl" && typeof given !== "object") {
    return urlProblem(given, "a node (or a map of networks to such URLs)", "https://rpc.example");
  }
  return `${REMEDIES[name]}; got ${given === undefined ? "nothing" : kindOf(given)}`;
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "an array";
  if (typeof value === "string") return value === "" ? "an empty text" : "a text of another form";
  return typeof value === "object" ? "an object of another form" : `a ${typeof value} that does not fit`;
}

function isHttpUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

function hasCredentials(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username !== "" || password !== "";
}
