// Start-up checks of one network against the live chain: the right chain, a token that is what the offers say, a settler with
// gas. A mismatch names both values and what to do; a node that cannot be reached is no mismatch. Source: design §6, F24, F73.
import type { Readiness, ReadinessProblem } from "../../receive/receiver.js";
import type { Eip3009Requirement, Requirement } from "../../requirement.js";
import { SETTLEMENTS } from "../gas.js";
import { readHex, readQuantity, readString } from "./answers.js";
import { DECIMALS, DOMAIN_SEPARATOR, MULTICALL3, NAME, VERSION } from "./calldata.js";
import { domainOf, type EvmChain, lower } from "./chain.js";
import type { Hex } from "./hex.js";
import { checkContract, checkTransfers, findUntold } from "./ready-transfer.js";
import type { RpcAnswer, RpcCall } from "./rpc.js";
import { domainSeparator } from "./typed-data.js";

const ZERO_ADDRESS = `0x${"0".repeat(40)}`;
/** Gas of one settlement of a plain account. */
const SETTLEMENT_GAS = 120_000n;

/** Checks a network for all requirements on it. Never rejects. */
export async function checkReadiness(
  chain: EvmChain,
  requirements: readonly Requirement[],
  signal: AbortSignal,
): Promise<Readiness> {
  const wrongChain = await checkChainIds(chain, signal);
  if (wrongChain) return wrongChain;
  const problems = requirements.flatMap(checkPayTo);
  const signed = requirements.filter((one) => one.method === "eip3009");
  const assets = new Map(signed.map((one) => [`${one.asset}|${one.extra.name}|${one.extra.version}`, one]));
  for (const requirement of assets.values()) {
    const reply = await chain.rpc.batch(tokenCalls(requirement.asset), { signal });
    if (!reply.ok) return { state: "unreachable", message: reply.message };
    const found = checkToken(chain, requirement, reply.answers);
    if ("message" in found) return { state: "unreachable", message: found.message };
    problems.push(...found);
  }
  const transfers = requirements.filter((one) => one.method === "transaction");
  const checks = [
    await checkTransfers(chain, transfers, signal),
    // The buyer's own transaction costs us no gas.
    signed.length > 0 || transfers.length === 0 ? await checkGas(chain, signal) : [],
  ];
  for (const found of checks) {
    if ("message" in found) return { state: "unreachable", message: found.message };
    problems.push(...found);
  }
  return problems.length > 0 ? { state: "misconfigured", problems } : { state: "ready" };
}

/** Each URL by itself: one wrong URL among several would answer only now and then. */
async function checkChainIds(chain: EvmChain, signal: AbortSignal): Promise<Readiness | undefined> {
  const replies = await Promise.all(chain.rpc.each.map((rpc) => rpc.batch([], { signal })));
  const problems: ReadinessProblem[] = [];
  for (const reply of replies) {
    if (reply.ok || !reply.chainId) continue;
    const { expected, got } = reply.chainId;
    const remedy = `set rpcUrl of ${chain.network} to a node of that chain (${reply.message})`;
    problems.push({ check: "chain id", expected: `${expected}`, got, remedy });
  }
  if (problems.length > 0) return { state: "misconfigured", problems };
  const faults = replies.flatMap((reply) => (reply.ok ? [] : [reply.message]));
  // Whoever asked no longer wants to know: that says nothing of the nodes.
  for (const message of signal.aborted ? [] : faults)
    chain.logger?.warn("an RPC URL cannot be used", { network: chain.network, message });
  return faults.length === replies.length ? { state: "unreachable", message: faults.join("; ") } : undefined;
}

function checkPayTo({ payTo, asset, network }: Requirement): ReadinessProblem[] {
  const remedy = `set payTo of ${network} to the address that should receive the money`;
  const bad = (got: string) => [{ check: "payTo", expected: "an address of the seller", got, remedy }];
  if (lower(payTo) === ZERO_ADDRESS) return bad("the zero address");
  return lower(payTo) === lower(asset) ? bad(`the token contract itself (${payTo})`) : [];
}

const tokenCalls = (asset: string): RpcCall[] => {
  const read = (data: Hex): RpcCall => ({ method: "eth_call", params: [{ to: asset, data }, "latest"] });
  return [
    { method: "eth_getCode", params: [asset, "latest"] },
    ...[DECIMALS, NAME, VERSION, DOMAIN_SEPARATOR].map(read),
  ];
};

function checkToken(
  chain: EvmChain,
  requirement: Eip3009Requirement,
  answers: readonly RpcAnswer[],
): readonly ReadinessProblem[] | { readonly message: string } {
  const contract = checkContract(chain, requirement, answers);
  if ("message" in contract) return contract;
  if (!contract.exists) return contract.problems;
  const domain = checkDomain(chain, requirement, answers.slice(2));
  return "message" in domain ? domain : [...contract.problems, ...domain];
}

/** The separator decides where the token shows one; else both strings must be the same. */
function checkDomain(
  chain: EvmChain,
  requirement: Eip3009Requirement,
  [nameAnswer, versionAnswer, separatorAnswer]: readonly (RpcAnswer | undefined)[],
): ReadinessProblem[] | { readonly message: string } {
  const domain = domainOf(requirement, chain.chainId);
  const [name, version] = [readString(nameAnswer), readString(versionAnswer)];
  const separator = readHex(separatorAnswer);
  const ours = domainSeparator(domain);
  if (separator === ours) return [];
  // Many tokens lack one of these functions and say so; a node that fails says nothing of the token.
  // Invariant: no separator counts as absent because its answer was lost.
  const untold = findUntold([nameAnswer, versionAnswer, separatorAnswer]);
  if (untold) return untold;
  if (separator?.length !== 66 && name === domain.name && version === domain.version) return [];
  return [
    {
      check: `EIP-712 domain of ${requirement.asset}`,
      expected: `name "${domain.name}", version "${domain.version}" (separator ${ours})`,
      got: `name "${name ?? "?"}", version "${version ?? "?"}" (separator ${separator ?? "none"})`,
      remedy: `set the domain name and version of the token on ${requirement.network} to what the contract says`,
    },
  ];
}

async function checkGas(
  chain: EvmChain,
  signal: AbortSignal,
): Promise<ReadinessProblem[] | { readonly message: string }> {
  const settlers = chain.settlers.all;
  const reply = await chain.rpc.batch(
    [
      { method: "eth_gasPrice", params: [] },
      { method: "eth_getCode", params: [MULTICALL3, "latest"] },
      ...settlers.map(({ address }) => ({ method: "eth_getBalance", params: [address, "latest"] })),
    ],
    { signal },
  );
  if (!reply.ok) return reply;
  const [price, multicall, ...balances] = reply.answers;
  const needed = (readQuantity(price) ?? 1n) * SETTLEMENT_GAS;
  const poor = settlers.filter((_, i) => (readQuantity(balances[i]) ?? 0n) < needed);
  for (const [i, { address }] of settlers.entries()) {
    const balance = readQuantity(balances[i]);
    const of = { network: chain.network, settler: address };
    if (balance !== undefined) chain.gas?.seen(of, balance, needed * SETTLEMENTS);
  }
  const problems: ReadinessProblem[] = [];
  for (const { address } of poor) {
    const got = `${readQuantity(balances[settlers.findIndex((one) => one.address === address)]) ?? "unreadable"} wei`;
    const remedy = `send native currency to ${address} on ${chain.network}`;
    problems.push({
      check: `gas of settler ${address}`,
      expected: `at least ${needed} wei`,
      got,
      remedy,
      passing: true,
    });
  }
  if (poor.length < settlers.length && poor.length > 0) {
    chain.logger?.warn("a settler has no gas; others settle in its place", { problems });
    problems.length = 0;
  }
  if (chain.factories.size > 0 && readHex(multicall) === "0x") {
    const remedy = "leave eip6492Factories empty on this network: wallets are deployed through Multicall3";
    problems.push({ check: "Multicall3", expected: `a contract at ${MULTICALL3}`, got: "no code", remedy });
  }
  return problems;
}
