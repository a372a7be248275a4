// The `local` receiver: proofs are judged in this process and over the seller's own RPC, and settled with the seller's own
// key. Nobody else stands between buyer and seller. Chain libraries are loaded at first use.
import { loadBackend } from "../chains/evm/backend.js";
import { type EvmChain, lower, systemNow } from "../chains/evm/chain.js";
import { DEFAULT_MAX_FEE_PER_GAS } from "../chains/evm/fees.js";
import { lookupOnChain } from "../chains/evm/lookup.js";
import { checkReadiness } from "../chains/evm/ready.js";
import { createReceiptWatch } from "../chains/evm/receipts.js";
import { createRpc } from "../chains/evm/rpc.js";
import { settleOnChain } from "../chains/evm/settle.js";
import { createSettlers, toAccounts } from "../chains/evm/settlers.js";
import { unavailable } from "../chains/evm/verdicts.js";
import { verifyOnChain } from "../chains/evm/verify.js";
import type { Requirement } from "../requirement.js";
import type { Logger } from "../settings.js";
import { type LocalNetwork, type LocalOptions, readLocalOptions } from "./local-options.js";
import type { Readiness, ReadinessProblem, Receiver } from "./receiver.js";

export type { LocalNetworkOptions, LocalOptions } from "./local-options.js";

type Opened = { readonly ok: true; readonly chain: EvmChain } | { readonly ok: false; readonly message: string };

/**
 * Verifies and settles with your own RPC and settler key. The settler pays gas and never holds the money: it goes from the
 * buyer to `payTo` directly. Throws PaywallConfigError with every problem of its options.
 *
 * @example
 * createPaywall({ payTo, network: "base-sepolia", receive: local({ networks: { "base-sepolia": { rpcUrl, settler } } }) });
 */
export function local(input: LocalOptions): Receiver {
  const { options, networks } = readLocalOptions(input);
  const settings = new Map(networks.map((one) => [one.network.id, one]));
  const opened = new Map<string, Promise<Opened>>();

  function open(network: string): Promise<Opened> {
    const one = settings.get(network);
    if (!one) {
      const message = `local() has no network ${network}: add it to its networks with rpcUrl and settler`;
      return Promise.resolve({ ok: false, message });
    }
    const known = opened.get(network) ?? openChain(one, options);
    opened.set(network, known);
    return known.then((result) => {
      // A missing package can be installed, a key service can come back: a failure is not kept.
      if (!result.ok) opened.delete(network);
      return result;
    });
  }

  return {
    name: "local",
    settleMs: (network) => settings.get(network)?.network.settleMs ?? 10_000,
    async ready(requirements, signal) {
      const byNetwork = new Map<string, Requirement[]>();
      for (const one of requirements) byNetwork.set(one.network, [...(byNetwork.get(one.network) ?? []), one]);
      const results = await Promise.all(
        [...byNetwork].map(async ([network, own]) => readyOn(await open(network), network, own, signal)),
      );
      return joined(results);
    },
    async verify(proof, context) {
      const result = await open(proof.requirement.network);
      if (!result.ok) return unavailable("misconfigured", result.message);
      return verifyOnChain(result.chain, proof, context);
    },
    async settle(proof, context) {
      const result = await open(proof.requirement.network);
      if (!result.ok) return { outcome: "unavailable", message: result.message };
      return settleOnChain(result.chain, proof, context);
    },
    async lookup(trace, signal) {
      const result = await open(trace.network);
      if (!result.ok) return { outcome: "unknown", message: result.message };
      return lookupOnChain(result.chain, trace, signal);
    },
    async close() {
      for (const result of await Promise.all(opened.values())) {
        if (!result.ok) continue;
        result.chain.receipts.close();
        result.chain.rpc.close();
      }
    },
  };
}

async function openChain({ network, urls, settlers, options }: LocalNetwork, all: LocalOptions): Promise<Opened> {
  try {
    const [accounts, backend] = await Promise.all([toAccounts(settlers), loadBackend()]);
    const { timeoutMs, logger } = all;
    logger?.debug("tollgate: signatures are checked by", { network: network.id, implementation: backend.name });
    return { ok: true, chain: createChain({ network, urls, settlers, options }, accounts, { timeoutMs, logger }) };
  } catch (error) {
    // Safe because the errors of both loaders are sentences of ours without a key.
    return { ok: false, message: error instanceof Error ? error.message : "the chain's parts cannot be loaded" };
  }
}

function createChain(
  { network, urls, options }: LocalNetwork,
  accounts: Awaited<ReturnType<typeof toAccounts>>,
  { timeoutMs, logger }: { timeoutMs: number | undefined; logger: Logger | undefined },
): EvmChain {
  const { chainId } = network;
  const blockMs = options.blockMs ?? network.blockMs;
  const rpc = createRpc({ urls, chainId, ...(timeoutMs !== undefined && { timeoutMs }) });
  const tokens = [...network.tokens, ...(options.tokens ?? [])];
  return {
    network: network.id,
    chainId,
    blockMs,
    rpc,
    settlers: createSettlers(accounts, chainId, urls[0] ?? ""),
    receipts: createReceiptWatch(rpc, blockMs, systemNow),
    factories: new Set((options.eip6492Factories ?? []).map(lower)),
    decimals: new Map(tokens.map((token) => [lower(token.address), token.decimals])),
    maxFeePerGas: options.maxFeePerGas ?? DEFAULT_MAX_FEE_PER_GAS,
    logger,
    now: systemNow,
  };
}

async function readyOn(
  opened: Opened,
  network: string,
  requirements: readonly Requirement[],
  signal: AbortSignal,
): Promise<Readiness> {
  if (opened.ok) return checkReadiness(opened.chain, requirements, signal);
  const problem = {
    check: `receiver of ${network}`,
    expected: "a usable local set-up",
    got: "none",
    remedy: opened.message,
  };
  return { state: "misconfigured", problems: [problem] };
}

/** Every mismatch of every network at once; a mismatch outweighs a network that cannot be reached. */
function joined(results: readonly Readiness[]): Readiness {
  const problems: ReadinessProblem[] = results.flatMap((one) => (one.state === "misconfigured" ? one.problems : []));
  if (problems.length > 0) return { state: "misconfigured", problems };
  const unreachable = results.find((one) => one.state === "unreachable");
  return unreachable ?? { state: "ready" };
}
