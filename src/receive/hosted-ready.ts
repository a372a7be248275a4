// Start-up checks of `hosted()`: the gateway can be reached, knows the key, lists what the routes need, and would take each network,
// token and payee with this very key. A mismatch names both values; no message holds the key.
import { findNetwork } from "../networks.js";
import type { Requirement } from "../requirement.js";
import type { SupportedResponse } from "../wire/facilitator.js";
import { findWithoutFeePayer } from "./facilitator-fee-payers.js";
import { findUnsupported } from "./facilitator-kinds.js";
import { misconfigured, type ProbeWords, readProbe } from "./gateway-probe.js";
import { decimalsOf, type HostedApi } from "./hosted-api.js";
import type { HostedOptions } from "./hosted-options.js";
import { joined } from "./local-receiver.js";
import type { Readiness, ReadinessProblem } from "./receiver.js";
import type { SupportedCache } from "./supported.js";

export interface Checking {
  readonly api: Pick<HostedApi, "status" | "probe">;
  readonly supported: SupportedCache<SupportedResponse>;
  readonly options: HostedOptions;
  /** For one call. */
  readonly timeoutMs: number;
}

/** An id that no payment has: the answer tells whether the key is known. */
const NO_PAYMENT = `pay_${"1".repeat(22)}`;

const WORDS: ProbeWords = {
  path: "/payment/receive",
  gateway: "baseUrl",
  apiKey: "apiKey",
  receiver: "hosted()",
  verb: "receive",
};

/** Never rejects. */
export async function checkHosted(
  { api, supported, options, timeoutMs }: Checking,
  requirements: readonly Requirement[],
  signal: AbortSignal,
): Promise<Readiness> {
  const call = { timeoutMs, signal };
  // The host alone: a path may be a customer's own.
  const place = `baseUrl (${new URL(options.baseUrl).host})`;
  const [fetched, keyReply] = await Promise.all([supported.load(signal), api.status(NO_PAYMENT, call)]);
  if (keyReply.outcome === "failed") return { state: "unreachable", message: `${place}: ${keyReply.message}` };
  const { status } = keyReply;
  const refused = status === 401 || status === 403;
  if (!refused && status !== 404 && status !== 200) {
    return { state: "unreachable", message: `${place}: /payment/status answered ${status}` };
  }
  if (fetched.outcome !== "list") return { state: "unreachable", message: `${place}: ${fetched.message}` };
  // How own transactions are paid stands in no list of x402.
  const listed = requirements.filter(({ method }) => method !== "transaction");
  const problems = [
    ...(refused ? [refusedKey(status)] : []),
    ...findWrongMode(requirements, options),
    ...findUnsupported(listed, fetched.list.kinds),
    ...findWithoutFeePayer(listed, fetched.list),
    ...findWithoutDecimals(requirements, options.tokens ?? [], "hosted()"),
  ];
  if (problems.length > 0) {
    // The list may have been wrong for a moment only: the next look finds a new one.
    supported.refresh();
    return misconfigured(problems);
  }
  // What no list tells: the key's scopes, whose wallet the payee is, and currencies that buyers send by themselves.
  const asked = new Map(requirements.map((one) => [`${one.network} ${one.asset} ${one.payTo}`, one]));
  const probes = [...asked.values()].map(async (one) => readProbe(await api.probe(WORDS.path, one, call), one, WORDS));
  return joined(await Promise.all(probes));
}

const refusedKey = (status: number): ReadinessProblem => ({
  check: "apiKey",
  expected: "a key that the gateway accepts, with the scope receive",
  got: `/payment/status answered ${status}`,
  remedy:
    "The key is missing, revoked, expired, of another gateway or without the scope: make one with `tollgate keys create --scopes receive` and set it as apiKey of hosted().",
});

function findWrongMode(requirements: readonly Requirement[], { apiKey }: HostedOptions): ReadinessProblem[] {
  const isTest = apiKey.startsWith("tg_test_");
  const wrong = new Set(requirements.map(({ network }) => network).filter((id) => findNetwork(id)?.testnet !== isTest));
  return [...wrong].map((network) => ({
    check: "apiKey",
    expected: `a ${isTest ? "live" : "test"} key for ${findNetwork(network)?.name ?? network}`,
    got: `a ${isTest ? "test" : "live"} key`,
    remedy: "Test keys reach test networks only, live keys main networks only: use the other key, or another network.",
  }));
}

/** @param name of the receiver, as the seller wrote it */
export function findWithoutDecimals(
  requirements: readonly Requirement[],
  tokens: NonNullable<HostedOptions["tokens"]>,
  name: string,
): ReadinessProblem[] {
  const unknown = requirements.filter((requirement) => decimalsOf(requirement, tokens) === undefined);
  return [...new Set(unknown.map(({ asset, network }) => `${asset} on ${network}`))].map((token) => ({
    check: "decimals",
    expected: `the decimals of ${token}`,
    got: "none: it is not in the built-in table",
    remedy: `Name it in tokens of ${name}, [{ network, address, decimals }], and among the gateway's assets.`,
  }));
}
