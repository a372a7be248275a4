// The options of `payingFetch()` as a schema: their types are inferred here, and what does not compile is refused at run time by
// the same schema. What amounts, hosts and addresses mean is read elsewhere.
import * as z from "zod/mini";
import { optionPath, type Problems } from "../config-problems.js";
import { reportIssues, whole, wrong } from "../config-schema.js";
import type { NetworkName } from "../network-names.js";
import type { Caps } from "./caps.js";
import type { BuyerEvent } from "./events.js";
import type { Purchase } from "./purchase.js";
import type { ApprovalRequest } from "./settings.js";
import type { BuyerStore } from "./store.js";
import type { Wallet } from "./wallet.js";

const hasFunctions = (value: unknown, names: readonly string[]): boolean =>
  typeof value === "object" && value !== null && names.every((name) => typeof Reflect.get(value, name) === "function");

const callback = <Callback extends (...given: never[]) => unknown>(what: string) =>
  z.optional(z.custom<Callback>((value) => typeof value === "function", wrong(`expected ${what}`)));

const listOf = <Item extends z.ZodMiniType>(item: Item, what: string, least = 0) =>
  z.readonly(z.array(item, wrong(`expected ${what}`)).check(z.minLength(least, wrong(`expected ${what}`))));

const wallet = z.custom<Wallet>(
  (value) => hasFunctions(value, ["takes", "sign"]) && typeof Object(value).address === "string",
  wrong("expected a wallet: what evmWallet(account), solanaWallet(keypair) or hostedWallet(client, address) returns"),
);
const store = z.custom<BuyerStore>(
  (value) => hasFunctions(value, ["reserve", "release", "pending", "keep", "forget", "record", "purchases"]),
  wrong("expected a store: what memoryBuyerStore() or fileBuyerStore(path) returns"),
);
const networkName = z.custom<NetworkName>(
  (value) => typeof value === "string",
  wrong('expected the name of a network, such as "base"'),
);
const host = z.string(wrong('expected a host such as "api.example"'));

const caps = z.custom<Caps>((value) => value !== undefined, wrong('expected an amount such as "$0.10"'));
const hostBudget = z.strictObject(
  {
    /** In place of the general one, for the kinds of money that it names: narrower or wider; `"$0"` = nothing. */
    perRequest: z.optional(caps),
    perHour: z.optional(caps),
    perDay: z.optional(caps),
  },
  wrong("expected { perRequest, perHour, perDay }"),
);
const commonBudget = {
  /** The most that one request may cost. Money without an amount here is not paid. */
  perRequest: caps,
  /** By host, with its port where that is not the scheme's own. What is spent there counts in the whole as well. */
  hosts: z.optional(z.record(z.string(), hostBudget, wrong('expected { "api.example": { perDay: "$1" } }'))),
};
const BUDGET = wrong('expected limits such as { perRequest: "$0.10", perDay: "$5" }');
const budgets = {
  byHour: z.strictObject({ ...commonBudget, perHour: caps, perDay: z.optional(caps) }, BUDGET),
  byDay: z.strictObject({ ...commonBudget, perHour: z.optional(caps), perDay: caps }, BUDGET),
};

const resend = z.strictObject(
  { times: z.optional(whole(0, 20)), maxDelayMs: z.optional(whole(0, 600_000, "whole milliseconds")) },
  wrong("expected { times: 7, maxDelayMs: 10000 }"),
);
const breaker = z.strictObject(
  { failures: z.optional(whole(1, 1000)), windowMs: z.optional(whole(1000, 86_400_000, "whole milliseconds")) },
  wrong("expected { failures: 3, windowMs: 60000 }"),
);

const commonShape = {
  /** One or more; which one pays is decided by what is offered. */
  wallets: listOf(wallet, "a list of at least one wallet", 1),
  /** Remembers what was spent and what is not decided yet; in memory by default, so that both end with the process. */
  store: z.optional(store),
  /** Networks that may be paid on; all by default. */
  networks: z.optional(listOf(networkName, 'a list of networks, such as ["base", "solana"]', 1)),
  /** Networks in order of preference. */
  prefer: z.optional(listOf(networkName, 'a list of networks, such as ["base"]')),
  /** The only hosts that may be paid; all by default. */
  hosts: z.optional(listOf(host, 'a list of hosts, such as ["api.example"]')),
  /** Hosts that may be paid over plain http, because the network between is your own. Loopback always may. */
  allowHttp: z.optional(listOf(host, 'a list of hosts, such as ["api.internal"]')),
  /** The addresses that a host may ask to be paid at. A host that is not named may ask for any. */
  payTo: z.optional(
    z.record(
      z.string(),
      z.union([z.string(), listOf(z.string(), "addresses", 1)], wrong("expected an address, or a list of addresses")),
      wrong('expected addresses by host: { "api.example": "0x…" }'),
    ),
  ),
  /** The longest life of a signed payment, whatever the seller asks for; 600. From 15: wallets sign nothing with less than 10 left. */
  maxValiditySeconds: z.optional(whole(15, 86_400, "whole seconds")),
  /** The largest request body that is kept to be sent again with a payment; 1 MiB. */
  maxBodyBytes: z.optional(whole(0, 1_073_741_824, "a whole number of bytes")),
  /** How often the same signed payment goes out again within a call while its outcome is not known; 3, each after at most 10 s. */
  resend: z.optional(resend),
  /** A host whose paid requests failed so often is not paid until that is long enough ago; 3 within a minute. */
  breaker: z.optional(breaker),
  /** In place of the global one. */
  fetch: callback<typeof globalThis.fetch>("a function like fetch"),
  /** Asked before anything is signed; false, or a rejection, ends the call. */
  approve: callback<(request: ApprovalRequest) => boolean | Promise<boolean>>("a function that answers true or false"),
  /** Told of each purchase whose money moved. */
  onPayment: callback<(purchase: Purchase) => void>("a function"),
  onEvent: callback<(event: BuyerEvent) => void>("a function"),
};

const OPTIONS = wrong("expected an object of options");
const schemas = {
  byHour: z.strictObject({ ...commonShape, budget: budgets.byHour }, OPTIONS),
  byDay: z.strictObject({ ...commonShape, budget: budgets.byDay }, OPTIONS),
};

/** Options of `payingFetch()`. `budget` has `perHour` or `perDay`, or both: a loop must end. */
export type PayingFetchOptions = z.infer<typeof schemas.byHour> | z.infer<typeof schemas.byDay>;

/** What to do where something is missing. */
const REQUIRED = {
  wallets: "there is no wallet to pay with: wallets: [evmWallet(account)]",
  budget: 'there is no budget: name one, for example { perRequest: "$0.10", perDay: "$5" }',
  "budget.perRequest": 'there is no limit for one request: add perRequest, for example "$0.10"',
  "budget.perDay": 'there is no limit for an hour or a day, so a loop would not end: add perDay, for example "$5"',
};

/** Adds what the schema refuses to the problems. */
export function checkOptions(given: unknown, problems: Problems): void {
  const kind = memberOf(memberOf(given, "budget"), "perHour") === undefined ? "byDay" : "byHour";
  const { error } = schemas[kind].safeParse(given);
  const pathOf = (path: readonly PropertyKey[]) => optionPath("", path);
  reportIssues(error?.issues ?? [], given, { pathOf, known: knownAt, required: REQUIRED }, problems);
}

/** A member of what may be anything. */
export const memberOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;

/** The members that exist where an unknown one was found. */
function knownAt([first, ...rest]: readonly PropertyKey[]): readonly string[] {
  if (first === "budget") return Object.keys(rest.length === 0 ? budgets.byDay.shape : hostBudget.shape);
  const nested = first === "resend" ? resend : first === "breaker" ? breaker : schemas.byDay;
  return Object.keys(nested.shape);
}
