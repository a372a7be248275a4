// A seller's doctor: the configuration as `paywall()` reads it, and everything that its `ready()` asks before it sells, row by row.
import { createProblems } from "../../config-problems.js";
import { rpcUrlsOf, textOf } from "../../environment.js";
import { PaywallConfigError } from "../../errors.js";
import { findNetwork } from "../../networks.js";
import { type PriceSource, resolveOptions } from "../../options.js";
import { createPaywallCore } from "../../paywall.js";
import type { Requirement } from "../../requirement.js";
import type { Logger, Settings } from "../../settings.js";
import { memoryStore } from "../../store/memory.js";
import { wordsOf } from "../words-of.js";
import type { Config, Handle } from "./config-file.js";
import { checkNodes } from "./nodes.js";
import { checkReceiver } from "./receiver-checks.js";
import { type Row, withoutTwins } from "./rows.js";
import { checkPublicUrl, checkRedis, checkStore } from "./surroundings.js";
import { within } from "./within.js";

const HANDLE_MS = 15_000;
const CLOSE_MS = 5_000;

/** @throws PaywallConfigError with every problem, where the configuration cannot be read. */
export async function checkSeller({ env, options, handle }: Config): Promise<Row[]> {
  if (handle) return checkHandle(handle);
  const { price, ...written } = options ?? {};
  const said: string[] = [];
  const input = { ...written, logger: listener(said) };
  const source = priceOf(price, written, textOf(env, "TOLLGATE_PRICE"));
  const settings = resolveOptions(input, env, source);
  const requirements = await requirementsOf(settings, { input, env, source });
  const storeUrl = "store" in written ? undefined : textOf(env, "TOLLGATE_STORE_URL");
  const { receiver, store, publicUrl, notices } = settings;
  const [nodes, received, stored, evicting] = await Promise.all([
    nodesOf(env, settings),
    Promise.all(requirements.map((one) => checkReceiver(receiver, one))),
    checkStore(store),
    storeUrl !== undefined && /^rediss?:/i.test(storeUrl) ? checkRedis(storeUrl, "store", true) : undefined,
  ]);
  await Promise.all([receiver.close(), store.shared ? store.close() : undefined]);
  const without = "buyers are told the URL under which each request comes";
  return withoutTwins([
    ...notices.map((found): Row => ({ part: "receiver", check: receiver.name, state: "note", found })),
    ...nodes.flat(),
    ...received.flat(),
    stored,
    // One that does not answer says so once.
    ...(evicting && evicting.state !== "unreachable" ? [evicting] : []),
    checkPublicUrl(publicUrl, "TOLLGATE_PUBLIC_URL", without),
    ...said.map((found): Row => ({ part: "receiver", check: receiver.name, state: "note", found })),
  ]);
}

/** Where `paywall()` would find it. Without one the networks' own stablecoins are checked. */
function priceOf(written: unknown, options: object, inEnvironment: string | undefined): PriceSource {
  if (written !== undefined) return { from: "argument", price: written };
  return inEnvironment === undefined || "routes" in options ? { from: "later" } : { from: "environment" };
}

/** What the receiver has to say beside its verdicts. */
function listener(said: string[]): Logger {
  const hear = (message: string, facts?: object) => {
    const shown = facts === undefined ? "" : `: ${Object.values(facts).filter(isText).join(", ")}`;
    said.push(`${message}${shown}`);
  };
  return { debug: () => {}, info: () => {}, warn: hear, error: hear };
}

const isText = (value: unknown): value is string => typeof value === "string";

type Written = Readonly<{ input: object; env: Config["env"]; source: PriceSource }>;

/** Everything that the paywall's start-up checks would cover, taken down by a receiver that is asked and says nothing. */
async function requirementsOf(
  { receiver, routes, price }: Settings,
  written: Written,
): Promise<readonly Requirement[]> {
  const asked = new Map<string, Requirement>();
  const recorder = {
    ...receiver,
    async ready(requirements: readonly Requirement[]) {
      for (const one of requirements) asked.set([one.network, one.asset, one.payTo, one.method].join("|"), one);
      return { state: "ready" } as const;
    },
    close: async () => {},
  };
  const input = { ...written.input, receive: recorder, store: memoryStore({ singleProcess: true }) };
  const core = createPaywallCore(input, written.source, written.env);
  if (routes || price !== undefined) core.defaultGuard();
  await core.ready();
  await core.close();
  return [...asked.values()];
}

/** The nodes that the environment names for networks of this paywall. */
function nodesOf(env: Config["env"], { terms, routes }: Settings): Promise<readonly Row[][]> {
  const networks = new Set(
    [terms, ...(routes ?? []).map((route) => route.terms)].flatMap((one) => one.networks.map(({ id }) => id)),
  );
  const urls = [...rpcUrlsOf(env, createProblems())].filter(([id]) => networks.has(id));
  return Promise.all(
    urls.map(async ([id, { url }]) => {
      const network = findNetwork(id);
      return network ? checkNodes(network, [url]) : [];
    }),
  );
}

/** A paywall that a module has made: it can only be asked as a whole. */
async function checkHandle(handle: Handle): Promise<Row[]> {
  const asked = await askReady(handle);
  try {
    await within(Promise.resolve(handle.close?.()), CLOSE_MS);
    return [asked];
  } catch (error) {
    return [asked, { part: "paywall", check: "close()", state: "note", found: `it does not close: ${wordsOf(error)}` }];
  }
}

async function askReady(handle: Handle): Promise<Row> {
  const row = { part: "paywall", check: "ready()" };
  try {
    await within(handle.ready(), HANDLE_MS);
    return { ...row, state: "ok", found: "all start-up checks pass" };
  } catch (error) {
    if (error instanceof PaywallConfigError)
      return { ...row, state: "wrong", found: error.problems.map(({ message }) => message).join("; ") };
    const remedy = "Export the options instead, to see which check it is.";
    return { ...row, state: "unreachable", found: wordsOf(error), remedy };
  }
}
