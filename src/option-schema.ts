// The options as one schema: the TypeScript types are inferred from it, and it refuses at run time what does not compile.
// Every issue becomes a problem that says what was expected and what came.
import * as z from "zod/mini";
import { type Access, isAccess } from "./access.js";
import { optionPath, type Problems, show } from "./config-problems.js";
import type { ConfigCode } from "./errors.js";
import type { NetworkName } from "./network-names.js";
import { isPageOption, PAGE_FORMS, type PageOption } from "./page-option.js";
import type { Price, PriceFunction } from "./price.js";
import type { Receiver } from "./receive/receiver.js";
import type { Logger } from "./settings.js";
import type { Store } from "./store/store.js";
import { suggestion } from "./suggestion.js";

/** What each option must be, and what to do. */
const EXPECTED: Readonly<Record<string, string>> = {
  payTo:
    'expected your receiving address, or addresses by family or network: { evm: "0x…", solana: "…" } or { base: "0x…" }',
  network: 'expected the name of one network, for example "base-sepolia"; for several write networks',
  networks: 'expected a list of network names, for example ["base", "solana"]',
  flow: 'expected "authorization" (the handler runs, then the money moves) or "upfront" (the money moves first)',
  access:
    'expected "once", or a pass: { for: "1h" } or { uses: 10, for: "1d" } (1s to 366d in s, m, h or d; 1 to 1000000 uses)',
  replay: "expected whole seconds from 0 (off) to 86400",
  page: `expected false (never HTML), a function that returns HTML, or { name?, logo?, color? }: ${PAGE_FORMS}`,
  description: "expected printable text of at most 500 characters",
  mimeType: 'expected a media type, for example "application/json"',
  maxTimeoutSeconds: "expected whole seconds from 1 to 86400",
  handlerTimeoutMs: "expected whole milliseconds from 1 to 86400000",
  confirmations: "expected a whole number of blocks from 1 to 10000",
  receive: "expected a receiver: what local({ … }), hosted({ … }), facilitator({ … }) or failover([ … ]) returns",
  store:
    "expected a store: what memoryStore({ … }), sqlStore({ … }) or redisStore({ … }) returns; a URL stands in TOLLGATE_STORE_URL",
  logger: "expected an object with the functions debug, info, warn and error",
  publicUrl: 'expected "https://host[:port][/path]" without credentials, query or fragment',
  trustProxy: "expected true or false",
  cors: 'expected { origins: "*" } or { origins: ["https://app.example"] }',
  origins: 'expected "*" or a list of exact origins such as "https://app.example"',
  limits: "expected an object of limits",
  openClaimsPerPayer: "expected a whole number from 1 to 1000000",
  unchargedRunsPerProof: "expected a whole number from 1 to 1000000",
  unchargedRunsPerPayer: "expected a whole number from 1 to 1000000",
  leaseMs: "expected whole milliseconds from 50 to 600000",
  routes: 'expected a table such as { "GET /weather": "$0.001" } with at least one key',
  strict: "expected true or false",
};

const count = z.optional(z.int().check(z.minimum(1), z.maximum(1_000_000)));
const text = (fits: (text: string) => boolean) => z.string().check(z.refine(fits));
const hasFunctions = (value: unknown, names: readonly string[]): boolean =>
  typeof value === "object" && value !== null && names.every((name) => typeof Reflect.get(value, name) === "function");

const termsShape = {
  payTo: z.optional(z.union([z.string(), z.record(z.string(), z.string())])),
  flow: z.optional(z.enum(["authorization", "upfront"])),
  access: z.optional(z.custom<Access>(isAccess)),
  /** Seconds that a finished small answer is kept for a retry with its key. */
  replay: z.optional(z.int().check(z.minimum(0), z.maximum(86_400))),
  page: z.optional(z.custom<PageOption>(isPageOption)),
  description: z.optional(text((value) => value.length <= 500 && !/\p{Cc}/u.test(value))),
  mimeType: z.optional(text((value) => /^[\w.+-]{1,60}\/[\w.+-]{1,60}(?:; ?[\w-]{1,30}=[\w.+-]{1,60})?$/.test(value))),
  maxTimeoutSeconds: z.optional(z.int().check(z.minimum(1), z.maximum(86_400))),
  handlerTimeoutMs: z.optional(z.int().check(z.minimum(1), z.maximum(86_400_000))),
  /** Blocks that must stand on a transaction proof (native currency, tokens without EIP-3009), 1. */
  confirmations: z.optional(z.int().check(z.minimum(1), z.maximum(10_000))),
};

const sharedShape = {
  receive: z.optional(
    z.custom<Receiver>((value) => hasFunctions(value, ["settleMs", "ready", "verify", "settle", "lookup", "close"])),
  ),
  store: z.optional(z.custom<Store>((value) => hasFunctions(value, ["read", "commit", "due", "close"]))),
  logger: z.optional(z.custom<Logger>((value) => hasFunctions(value, ["debug", "info", "warn", "error"]))),
  publicUrl: z.optional(text(isPublicUrl)),
  trustProxy: z.optional(z.boolean()),
  /** Unlisted paths of a table are refused instead of open. */
  strict: z.optional(z.boolean()),
  cors: z.optional(
    z.strictObject({ origins: z.union([z.literal("*"), z.readonly(z.array(text(isOrigin)).check(z.minLength(1)))]) }),
  ),
  limits: z.optional(
    z.strictObject({
      openClaimsPerPayer: count,
      unchargedRunsPerProof: count,
      unchargedRunsPerPayer: count,
      leaseMs: z.optional(z.int().check(z.minimum(50), z.maximum(600_000))),
    }),
  ),
};

const never = z.optional(z.undefined());
const networkName = z.custom<NetworkName>((value) => typeof value === "string");
const one = { network: z.optional(networkName), networks: never };
const many = { networks: z.readonly(z.array(networkName).check(z.minLength(1))), network: never };
const noTable = { routes: never };
const table = {
  routes: z.record(z.string(), z.custom<RouteValue>()).check(z.refine((routes) => Object.keys(routes).length > 0)),
};

const routeSchemas = {
  one: z.strictObject({ ...termsShape, ...one }),
  many: z.strictObject({ ...termsShape, ...many }),
};
const paywallSchemas = {
  one: z.strictObject({ ...sharedShape, ...termsShape, ...one, ...noTable }),
  many: z.strictObject({ ...sharedShape, ...termsShape, ...many, ...noTable }),
};
const tableSchemas = {
  one: z.strictObject({ ...sharedShape, ...termsShape, ...one, ...table }),
  many: z.strictObject({ ...sharedShape, ...termsShape, ...many, ...table }),
};

/** Options of one route: what it says differs from the shared options. `network` or `networks`, never both. */
export type RouteOptions = z.infer<typeof routeSchemas.one> | z.infer<typeof routeSchemas.many>;
/**
 * One value of a pricing table: a price, a price function, `"free"`, or a price with options. `Native`: what the price
 * functions of a framework get as their second argument.
 */
export type RouteValue<Native = never> =
  | Price
  | PriceFunction<Native>
  | (RouteOptions & { readonly price: Price | PriceFunction<Native> });
/** A pricing table: `METHOD /path` or `/path` to a price. The first match in table order wins. */
export type RouteTable<Native = never> = Readonly<Record<string, RouteValue<Native>>>;
/** Options of `createPaywall(options)` and `paywall(price, options)`. */
export type PaywallOptions = z.infer<typeof paywallSchemas.one> | z.infer<typeof paywallSchemas.many>;
/** Options of `paywall({ routes, … })`. */
export type TableOptions<Native = never> =
  | (Omit<z.infer<typeof tableSchemas.one>, "routes"> & { routes: RouteTable<Native> })
  | (Omit<z.infer<typeof tableSchemas.many>, "routes"> & { routes: RouteTable<Native> });

/** What could be read, and the names of the options that could not: they are missing from it, and reported already. */
export interface Read<Options> {
  readonly options: Options;
  readonly bad: ReadonlySet<string>;
  /** False where it is no object of options at all. */
  readonly readable: boolean;
}

/** Reads shared options, with a table where there is one. */
export function readPaywallOptions(input: unknown, problems: Problems): Read<PaywallOptions | TableOptions> {
  return read<PaywallOptions | TableOptions>(input, "", problems, (given) => {
    const { one, many } = has(given, "routes") ? tableSchemas : paywallSchemas;
    return has(given, "networks") ? many : one;
  });
}

/** Reads the options of one route. */
export function readRouteOptions(input: unknown, path: string, problems: Problems): Read<RouteOptions> {
  const { one, many } = routeSchemas;
  return read<RouteOptions>(input, path, problems, (given) => (has(given, "networks") ? many : one));
}

/** Is this a `publicUrl`, from the options or the environment? */
export function isPublicUrl(value: string): boolean {
  if (!/^https?:\/\/[^\s?#@\\]+$/i.test(value) || !URL.canParse(value)) return false;
  return new URL(value).hostname !== "";
}

const has = (input: unknown, key: string): boolean =>
  typeof input === "object" && input !== null && Reflect.get(input, key) !== undefined;

function isOrigin(value: string): boolean {
  return URL.canParse(value) && new URL(value).origin === value;
}

function read<Options extends object>(
  input: unknown,
  path: string,
  problems: Problems,
  schemaFor: (input: unknown) => z.ZodMiniType<Options>,
): Read<Options> {
  const parsed = schemaFor(input).safeParse(input);
  if (parsed.success) return { options: parsed.data, bad: new Set(), readable: true };
  for (const issue of parsed.error.issues) addIssue(issue, input, path, problems);
  // The rest is read without what was refused, so that problems further on come to light in the same error.
  const bad = new Set(
    parsed.error.issues.flatMap((issue) => (issue.path.length > 0 ? [String(issue.path[0])] : keysOf(issue))),
  );
  const readable = Object(input) === input && !Array.isArray(input);
  const rest = readable ? Object.entries(Object(input)) : [];
  const kept = Object.fromEntries(rest.filter(([key]) => !bad.has(key)));
  return { options: schemaFor(kept).parse(kept), bad, readable };
}

const keysOf = (issue: z.core.$ZodIssue): string[] => (issue.code === "unrecognized_keys" ? issue.keys : []);

function addIssue(issue: z.core.$ZodIssue, input: unknown, base: string, problems: Problems): void {
  if (issue.code === "unrecognized_keys") {
    const known = Object.keys(EXPECTED).filter((name) => issue.path.length > 0 === isNested(name));
    for (const key of issue.keys) {
      const path = optionPath(base, [...issue.path, key]);
      const remedy = key === "failover" ? "write receive: failover([ … ])" : suggestion(key, known);
      problems.add(path, "unknown_option", `there is no option "${key}": ${remedy}`);
    }
    return;
  }
  const value = issue.path.reduce<unknown>(
    (at, key) => (Object(at) === at ? Reflect.get(Object(at), key) : undefined),
    input,
  );
  const name = issue.path.findLast((key) => typeof key === "string" && key in EXPECTED);
  const { code, message } = judge(typeof name === "string" ? name : "", value);
  problems.add(optionPath(base, issue.path) || "options", code, message);
}

function judge(name: string, value: unknown): { code: ConfigCode; message: string } {
  const expected = EXPECTED[name] ?? "expected an object of options";
  const later = laterOf(name, value);
  if (later !== undefined) return { code: "not_available_yet", message: `${later} is not available yet: ${expected}` };
  if (name === "network" && typeof value === "string") {
    return { code: "contradiction", message: `network and networks are both given: keep one; got ${show(value)}` };
  }
  if (name === "receive" && typeof value === "function") {
    return { code: "invalid", message: `${expected}; got the function itself: call it` };
  }
  return { code: value === undefined ? "required" : "invalid", message: `${expected}; got ${show(value)}` };
}

const isNested = (name: string): boolean => /^(?:origins|openClaims|uncharged|lease)/.test(name);

const laterOf = (name: string, value: unknown): string | undefined =>
  name === "flow" && value === "deferred" ? 'flow "deferred"' : undefined;
