// Start-up checks of `local()` with a gateway, beside those of every `local()`: the wallet is who is paid, and the gateway would
// build a transaction for each network, token and payee with this very key. A mismatch names both values.
import type { Requirement } from "../requirement.js";
import { isWallet } from "./collect-built.js";
import { misconfigured, type ProbeWords, readProbe } from "./gateway-probe.js";
import { decimalsOf, type HostedApi } from "./hosted-api.js";
import { findWithoutDecimals } from "./hosted-ready.js";
import type { LocalGatewayOptions } from "./local-gateway-schema.js";
import { joined, type LocalReceiver, nameOf } from "./local-receiver.js";
import type { Readiness, ReadinessProblem } from "./receiver.js";

export interface Checking {
  readonly own: Pick<LocalReceiver, "open" | "ready">;
  readonly api: Pick<HostedApi, "probe">;
  readonly tokens: NonNullable<LocalGatewayOptions["tokens"]>;
  /** For one call to the gateway. */
  readonly gatewayMs: number;
  /** CAIP-2 ids that have a URL of their own; undefined where there is one for all. */
  readonly networks: readonly string[] | undefined;
}

/** Never rejects. */
export async function checkGateway(
  checking: Checking,
  requirements: readonly Requirement[],
  signal: AbortSignal,
): Promise<Readiness> {
  const { own, tokens, networks } = checking;
  const named = [...new Set(requirements.map(({ network }) => network))];
  if (!networks && named.length > 1) return misconfigured([oneUrlForMany(named)]);
  const asked = new Map(requirements.map((one) => [`${one.network} ${one.asset} ${one.payTo}`, one]));
  const results = await Promise.all([
    own.ready(requirements, signal),
    ...[...asked.values()].map((one) => checkTerms(checking, one, signal)),
  ]);
  const unknown = findWithoutDecimals(requirements, tokens, "local()");
  return joined([...results, ...(unknown.length > 0 ? [misconfigured(unknown)] : [])]);
}

async function checkTerms(
  { own, api, tokens, gatewayMs }: Checking,
  requirement: Requirement,
  signal: AbortSignal,
): Promise<Readiness> {
  const { network, payTo } = requirement;
  const opened = await own.open(network);
  // Said by the other checks already, as are unknown decimals.
  if (!opened.ok || decimalsOf(requirement, tokens) === undefined) return { state: "ready" };
  const { chain } = opened;
  if (!isWallet(chain, payTo)) {
    const remedy = `set payTo of ${nameOf(network)} to the wallet of local(), or the wallet to the key of payTo`;
    return misconfigured([{ check: "payTo", expected: `the wallet ${chain.settler}`, got: payTo, remedy }]);
  }
  const reply = await api.probe(WORDS.path, requirement, { timeoutMs: gatewayMs, signal });
  return readProbe(reply, requirement, WORDS);
}

const WORDS: ProbeWords = {
  path: "/transaction/receive",
  gateway: "gateway",
  apiKey: "gateway.apiKey",
  receiver: "gateway in local()",
  verb: "collect",
};

const oneUrlForMany = (networks: readonly string[]): ReadinessProblem => ({
  check: "rpcUrl",
  expected: `one URL for each of ${networks.map(nameOf).join(", ")}`,
  got: "one URL for all of them",
  remedy: "Write rpcUrl of local() as a map from network to URL.",
});
