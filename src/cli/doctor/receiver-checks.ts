// The start-up checks of a receiver as rows: those that a paywall makes before it sells, also where they have passed. What a
// failed check hides (another chain has other tokens) gets no row.
import { PaywallConfigError } from "../../errors.js";
import { findNetwork, tokenByAddress } from "../../networks.js";
import type { Readiness, ReadinessProblem, Receiver } from "../../receive/receiver.js";
import { NATIVE, type Requirement } from "../../requirement.js";
import type { Row } from "./rows.js";

interface Known {
  readonly name: string;
  /** The names under which the receiver reports it. */
  readonly is: RegExp;
  /** Where it fails what follows cannot be told. */
  readonly gate?: true;
  /** Told where it has passed. */
  readonly found: string;
}

const CHECK_MS = 15_000;

/** Whether the receiver would be ready for one requirement. Never rejects. */
export async function checkReceiver(
  receiver: Pick<Receiver, "name" | "ready">,
  requirement: Requirement,
): Promise<Row[]> {
  const network = findNetwork(requirement.network);
  const part = network?.name ?? requirement.network;
  const result = await readinessOf(receiver, requirement);
  if (!("state" in result)) {
    return result.problems.map(({ path, message }) => ({ part, check: path, state: "wrong", found: message }));
  }
  if (result.state === "unreachable") {
    const remedy = `Check ${WHERE[receiver.name] ?? "the receiver's settings"}, and whether this machine may reach it.`;
    return [{ part, check: `receiver ${receiver.name}`, state: "unreachable", found: result.message, remedy }];
  }
  const problems = result.state === "misconfigured" ? result.problems : [];
  const known = receiver.name === "local" ? knownChecks(requirement) : [];
  if (known.length > 0) return localRows(part, known, problems);
  const passed: Row = { part, check: `receiver ${receiver.name}`, state: "ok", found: `takes ${titleOf(requirement)}` };
  return problems.length > 0 ? problems.map((problem) => toRow(part, problem.check, problem)) : [passed];
}

const WHERE: Readonly<Record<string, string>> = {
  local: "TOLLGATE_RPC_URL_<NETWORK> (or rpcUrl)",
  hosted: "TOLLGATE_GATEWAY_URL (or baseUrl)",
  facilitator: "TOLLGATE_FACILITATOR_URL (or url)",
};

async function readinessOf(
  receiver: Pick<Receiver, "ready">,
  requirement: Requirement,
): Promise<Readiness | PaywallConfigError> {
  try {
    return await receiver.ready([requirement], AbortSignal.timeout(CHECK_MS));
  } catch (error) {
    return error instanceof PaywallConfigError ? error : { state: "unreachable", message: String(error) };
  }
}

function localRows(part: string, known: readonly Known[], problems: readonly ReadinessProblem[]): Row[] {
  const rows: Row[] = [];
  const left = new Set(problems);
  let hidden = false;
  for (const { name, is, gate, found } of known) {
    const own = problems.filter(({ check }) => is.test(check));
    for (const problem of own) left.delete(problem);
    rows.push(...own.map((problem) => toRow(part, name, problem)));
    if (own.length === 0 && !hidden) rows.push({ part, check: name, state: "ok", found });
    if (own.length > 0 && gate) hidden = true;
  }
  return [...rows, ...[...left].map((problem) => toRow(part, problem.check, problem))];
}

const toRow = (part: string, check: string, { expected, got, remedy }: ReadinessProblem): Row => ({
  ...{ part, check, state: "wrong" },
  found: `expected ${expected}, got ${got}`,
  remedy: `${remedy.slice(0, 1).toUpperCase()}${remedy.slice(1)}${remedy.endsWith(".") ? "" : "."}`,
});

/** `USDC`, or the currency's own symbol. */
function titleOf({ network: id, asset }: Requirement): string {
  const network = findNetwork(id);
  if (asset === NATIVE) return network?.native.symbol ?? "the native currency";
  return (network && tokenByAddress(network, asset)?.symbol) ?? asset;
}

/** What `local()` asks the chain for a requirement. */
function knownChecks(requirement: Requirement): readonly Known[] {
  const { asset, payTo, method } = requirement;
  const network = findNetwork(requirement.network);
  const title = titleOf(requirement);
  const payee = { name: "payTo", is: /^payTo$/, found: payTo };
  if (network?.family === "solana") {
    const cluster: Known = { name: "cluster", is: /^cluster$/, gate: true, found: network.name };
    if (method !== "spl") return [cluster, payee, { name: "price", is: /^price in SOL/, found: "carries the rent" }];
    return [
      cluster,
      { name: `${title} account of payTo`, is: /^(?:token account |payTo$)/, found: `there, of ${payTo}` },
      { name: "fee payer", is: /^fee payer$/, found: requirement.extra.feePayer },
      { name: "SOL of the settler", is: /^SOL of settler /, found: "enough to settle" },
      { name: `${title} mint`, is: /^(?:mint |addresses$)/, gate: true, found: asset },
      { name: `${title} decimals`, is: /^decimals of/, found: `${requirement.extra.decimals}` },
    ];
  }
  const chain: Known = { name: "chain id", is: /^chain id$/, gate: true, found: `${network?.chainId}` };
  const gas: Known = { name: "gas of the settler", is: /^gas of settler /, found: "enough to settle" };
  if (asset === NATIVE)
    return [chain, payee, { name: `${title} to payTo`, is: /^native currency to /, found: "is taken" }];
  const signed = method === "eip3009";
  const token: Known[] = [
    chain,
    payee,
    ...(signed ? [gas] : []),
    { name: `${title} contract`, is: /^code of /, gate: true, found: asset },
    { name: `${title} decimals`, is: /^decimals of /, found: decimalsOf(requirement) },
  ];
  if (!signed) return token;
  const { name, version } = requirement.extra;
  const domain = `name "${name}", version "${version}"`;
  return [...token, { name: `${title} EIP-712 domain`, is: /^EIP-712 domain /, found: domain }];
}

function decimalsOf({ network: id, asset }: Requirement): string {
  const network = findNetwork(id);
  const decimals = network && tokenByAddress(network, asset)?.decimals;
  return decimals === undefined ? "as configured" : `${decimals}`;
}
