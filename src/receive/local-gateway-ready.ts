// Start-up checks of `local()` with a gateway, beside those of every `local()`: the wallet is who is paid, and the gateway would
// build a transaction for each network, token and payee with this very key. A mismatch names both values.
import type { OpenedChain } from "../chains/chain.js";
import type { Requirement } from "../requirement.js";
import { hideKeys } from "../secret.js";
import { findWithoutDecimals } from "./hosted.js";
import { errorOf } from "./hosted-answers.js";
import { decimalsOf, type HostedApi } from "./hosted-api.js";
import type { HttpReply } from "./http.js";
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

/** Is this payee the wallet that signs on this chain? */
export const isWallet = ({ settler }: OpenedChain, payTo: string): boolean =>
  settler.startsWith("0x") ? settler.toLowerCase() === payTo.toLowerCase() : settler === payTo;

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
  return readProbe(await api.probe(requirement, { timeoutMs: gatewayMs, signal }), requirement);
}

/** A gateway that would build it has nothing against the terms, and something against a proof that is none. */
function readProbe(reply: HttpReply, { network, asset, payTo }: Requirement): Readiness {
  const path = "/transaction/receive";
  if (reply.outcome === "failed") return { state: "unreachable", message: `gateway: ${path}: ${reply.message}` };
  const { status } = reply;
  const error = errorOf(reply);
  if (status === 400 && error?.code === "INVALID_PAYMENT_PROOF") return { state: "ready" };
  const got = error && `${error.code}: ${hideKeys(error.message).slice(0, 300)}`;
  if (status === 401 || status === 403) {
    const expected = `a key that may collect for ${payTo} on ${nameOf(network)}`;
    const remedy = "Make a key with `tollgate keys create --scopes receive` and set it as gateway.apiKey of local().";
    return misconfigured([{ check: "gateway.apiKey", expected, got: got ?? `status ${status}`, remedy }]);
  }
  if (status === 400 && got !== undefined) {
    const expected = `a gateway that takes ${asset} on ${nameOf(network)} for ${payTo}`;
    const remedy = "Add the network and the token to the gateway's settings, or leave them out of the prices.";
    return misconfigured([{ check: "gateway", expected, got, remedy }]);
  }
  return { state: "unreachable", message: `gateway: ${path} answered ${status}` };
}

const misconfigured = (problems: readonly ReadinessProblem[]): Readiness => ({ state: "misconfigured", problems });

const oneUrlForMany = (networks: readonly string[]): ReadinessProblem => ({
  check: "rpcUrl",
  expected: `one URL for each of ${networks.map(nameOf).join(", ")}`,
  got: "one URL for all of them",
  remedy: "Write rpcUrl of local() as a map from network to URL.",
});
