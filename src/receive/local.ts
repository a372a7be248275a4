// The `local` receiver: proofs are judged in this process and over the seller's own RPC, and settled with the seller's own
// key. Nobody else stands between buyer and seller. Chain libraries are loaded at first use.
import type { OpenedChain } from "../chains/chain.js";
import { unavailable } from "../chains/evm/verdicts.js";
import { addressOfSecret } from "../chains/solana/settlers.js";
import { systemClock } from "../clock.js";
import { findNetwork } from "../networks.js";
import type { Requirement } from "../requirement.js";
import { type LocalNetwork, type LocalOptions, type LocalSolanaNetwork, readLocalOptions } from "./local-options.js";
import type { Readiness, ReadinessProblem, Receiver } from "./receiver.js";
import { createTurns } from "./turns.js";

export type { LocalNetworkOptions, LocalOptions, LocalSolanaOptions } from "./local-options.js";

/** Settlements of one payer that may be on their way at once. */
const MOST_AT_ONCE = 16;

type Opened = { readonly ok: true; readonly chain: OpenedChain } | { readonly ok: false; readonly message: string };

/**
 * Verifies and settles with your own RPC and settler key. The settler pays the network's fees and never holds the money: it
 * goes from the buyer to `payTo` directly. Throws PaywallConfigError with every problem of its options.
 *
 * @example
 * createPaywall({ payTo, network: "base-sepolia", receive: local({ networks: { "base-sepolia": { rpcUrl, settler } } }) });
 */
export function local(input: LocalOptions): Receiver {
  const { options, networks } = readLocalOptions(input);
  const settings = new Map(networks.map((one) => [one.network.id, one]));
  // Pinned: an offer that was made is still good when its payment comes.
  const feePayers = new Map(
    networks.flatMap((one) => (one.family === "solana" ? [[one.network.id, payerOf(one)] as const] : [])),
  );
  // Chains and not promises of them: on Workers a promise dies with the request that made it, and every later one would wait.
  const opened = new Map<string, OpenedChain>();

  async function open(network: string): Promise<Opened> {
    const known = opened.get(network);
    if (known) return { ok: true, chain: known };
    const one = settings.get(network);
    if (!one) {
      const message = `local() has no network ${network}: add it to its networks with rpcUrl and settler`;
      return { ok: false, message };
    }
    // A missing package can be installed, a key service can come back: a failure is not kept.
    const result = await openNetwork(one, options);
    if (!result.ok) return result;
    // Of several that were opened at once the first one serves them all.
    const chain = opened.get(network) ?? result.chain;
    opened.set(network, chain);
    return { ok: true, chain };
  }

  // Invariant: what a payer without money can cost at once is bounded; each is judged when its turn comes (faults A35).
  const turns = createTurns(MOST_AT_ONCE, systemClock.now);

  return {
    name: "local",
    networks: [...settings.keys()],
    methods: ["eip3009", "spl", "transaction"],
    feePayer: (network) => feePayers.get(network),
    async identify(payload, network, signal) {
      const result = await open(network);
      return result.ok ? result.chain.identify(payload, network, signal) : { ok: false, code: "misconfigured" };
    },
    settleMs(network) {
      const one = settings.get(network);
      return one?.options.settleMs ?? one?.network.settleMs ?? 10_000;
    },
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
      return result.chain.verify(proof, context);
    },
    async settle(proof, context) {
      const { network, method } = proof.requirement;
      const result = await open(network);
      if (!result.ok) return { outcome: "unavailable", message: result.message };
      // What the buyer sends himself fails at his own cost.
      if (method === "transaction") return result.chain.settle(proof, context);
      const turn = await turns.take(`${network} ${proof.payer}`, context.deadlineAt);
      if (!turn) return { outcome: "unavailable", message: "this payer has too many settlements on their way" };
      try {
        return await result.chain.settle(proof, context);
      } finally {
        turn();
      }
    },
    async lookup(trace, signal) {
      const result = await open(trace.network);
      if (!result.ok) return { outcome: "unknown", message: result.message };
      return result.chain.lookup(trace, signal);
    },
    async close() {
      for (const chain of opened.values()) chain.close();
    },
  };
}

/** The address that signs as fee payer. */
function payerOf({ settlers: [first] }: LocalSolanaNetwork): string {
  const address = typeof first === "string" ? addressOfSecret(first) : first?.address;
  if (address === undefined) throw new TypeError("a Solana network without a settler was read");
  return address;
}

async function openNetwork(one: LocalNetwork, all: LocalOptions): Promise<Opened> {
  try {
    if (one.family === "evm") {
      const { openChain } = await import("../chains/evm/open.js");
      return { ok: true, chain: await openChain(one, all) };
    }
    const { openSolanaChain } = await import("../chains/solana/open.js");
    return { ok: true, chain: await openSolanaChain(one, all) };
  } catch (error) {
    // Safe because the errors of opening are sentences of ours without a key.
    return { ok: false, message: error instanceof Error ? error.message : "the chain's parts cannot be loaded" };
  }
}

async function readyOn(
  opened: Opened,
  network: string,
  requirements: readonly Requirement[],
  signal: AbortSignal,
): Promise<Readiness> {
  if (opened.ok) {
    const result = await opened.chain.ready(requirements, signal);
    if (result.state !== "unreachable") return result;
    return { state: "unreachable", message: `rpcUrl of ${nameOf(network)}: ${result.message}` };
  }
  const problem = {
    check: `receiver of ${nameOf(network)}`,
    expected: "a usable local set-up",
    got: "none",
    remedy: opened.message,
  };
  return { state: "misconfigured", problems: [problem] };
}

/** A network as the seller most likely wrote it. */
const nameOf = (id: string): string => findNetwork(id)?.name ?? id;

/** Every mismatch of every network at once; a mismatch outweighs a network that cannot be reached. */
function joined(results: readonly Readiness[]): Readiness {
  const problems: ReadinessProblem[] = results.flatMap((one) => (one.state === "misconfigured" ? one.problems : []));
  if (problems.length > 0) return { state: "misconfigured", problems };
  const unreachable = results.find((one) => one.state === "unreachable");
  return unreachable ?? { state: "ready" };
}
