// What every form of `local()` is made of: the chains behind the verbs of a receiver, each opened when it is first needed.
// Proofs are judged in this process and over the seller's own RPC.
import type { OpenedChain } from "../chains/chain.js";
import type { EvmParts } from "../chains/evm/open.js";
import { unavailable } from "../chains/evm/verdicts.js";
import { createGasWatch } from "../chains/gas.js";
import { addressOfSecret } from "../chains/solana/settlers.js";
import { systemClock } from "../clock.js";
import { findNetwork } from "../networks.js";
import type { Requirement } from "../requirement.js";
import type { Store } from "../store/store.js";
import type { LocalNetwork, LocalOptions, LocalSolanaNetwork } from "./local-options.js";
import type { Readiness, ReadinessProblem, Receiver } from "./receiver.js";
import { createTurns } from "./turns.js";

/** Settlements of one payer that may be on their way at once. */
const MOST_AT_ONCE = 16;

/** What a service gives its receiver beside the options of a seller. */
export type LocalParts = Omit<EvmParts, "gas">;

export type Opened =
  | { readonly ok: true; readonly chain: OpenedChain }
  | { readonly ok: false; readonly message: string };

/** The networks of one receiver. */
export interface LocalSetup extends Pick<LocalOptions, "timeoutMs" | "logger"> {
  /** CAIP-2 ids; absent where only the start-up checks can tell. */
  readonly networks?: readonly string[];
  /** By CAIP-2 id. */
  find(network: string): LocalNetwork | undefined;
  /** What to do where there is none. */
  missing(network: string): string;
}

/** A receiver whose chains can be had, too. */
export interface LocalReceiver extends Receiver {
  /** A failure is not kept: a missing package can be installed, a key service can come back. */
  open(network: string): Promise<Opened>;
}

/** @example const receiver = createLocalReceiver({ networks: [...entries.keys()], find: (id) => entries.get(id), missing }); */
export function createLocalReceiver(setup: LocalSetup, parts: LocalParts = {}): LocalReceiver {
  // Chains and not promises of them: on Workers a promise dies with the request that made it, and every later one would wait.
  const opened = new Map<string, OpenedChain>();
  const all = new Set<OpenedChain>();
  let shared: Store | undefined;
  const gas = createGasWatch(systemClock.now);

  async function open(network: string): Promise<Opened> {
    const known = opened.get(network);
    if (known) return { ok: true, chain: known };
    const one = setup.find(network);
    if (!one) return { ok: false, message: setup.missing(network) };
    const store = shared;
    const result = await openNetwork(one, setup, { ...parts, store, gas });
    if (!result.ok) return result;
    all.add(result.chain);
    if (store !== shared) return open(network);
    // Of several that were opened at once the first one serves them all.
    const chain = opened.get(network) ?? result.chain;
    opened.set(network, chain);
    return { ok: true, chain };
  }

  // Pinned: an offer that was made is still good when its payment comes.
  const feePayers = new Map<string, string>();
  function feePayerOf(network: string): string | undefined {
    const known = feePayers.get(network);
    if (known !== undefined) return known;
    const one = setup.find(network);
    if (one?.family !== "solana") return undefined;
    const address = payerOf(one);
    feePayers.set(network, address);
    return address;
  }
  for (const network of setup.networks ?? []) feePayerOf(network);

  // Invariant: what a payer without money can cost at once is bounded; each is judged when its turn comes (faults A35).
  const turns = createTurns(MOST_AT_ONCE, systemClock.now);

  return {
    name: "local",
    ...(setup.networks && { networks: setup.networks }),
    methods: ["eip3009", "spl", "transaction"],
    open,
    feePayer: feePayerOf,
    evidence: "chain",
    async identify(payload, network, signal) {
      const result = await open(network);
      return result.ok ? result.chain.identify(payload, network, signal) : { ok: false, code: "misconfigured" };
    },
    async draft(requirement, payer, signal) {
      const result = await open(requirement.network);
      if (result.ok && result.chain.draft) return result.chain.draft(requirement, payer, signal);
      return { ok: false, message: "This seller makes no transactions for wallets on this network." };
    },
    settleMs(network) {
      const one = setup.find(network);
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
      if (!turn) {
        return { outcome: "unavailable", crowded: true, message: "this payer has too many settlements on their way" };
      }
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
    async finality(trace, signal) {
      const result = await open(trace.network);
      if (!result.ok) return { outcome: "unknown", message: result.message };
      return result.chain.finality(trace, signal);
    },
    share(store) {
      if (shared) return;
      shared = store;
      // Those that number alone are opened anew; what is under way on them ends on them.
      opened.clear();
    },
    observe: gas.observe,
    async close() {
      for (const chain of all) chain.close();
    },
  };
}

/** The address that signs as fee payer. */
function payerOf({ settlers: [first] }: LocalSolanaNetwork): string {
  const address = typeof first === "string" ? addressOfSecret(first) : first?.address;
  if (address === undefined) throw new TypeError("a Solana network without a settler was read");
  return address;
}

async function openNetwork(one: LocalNetwork, { timeoutMs, logger }: LocalSetup, parts: EvmParts): Promise<Opened> {
  const options: LocalOptions = {
    networks: {},
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(logger && { logger }),
  };
  try {
    if (one.family === "evm") {
      const { openChain } = await import("../chains/evm/open.js");
      return { ok: true, chain: await openChain(one, options, parts) };
    }
    const { openSolanaChain } = await import("../chains/solana/open.js");
    return { ok: true, chain: await openSolanaChain(one, options, parts) };
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
export const nameOf = (id: string): string => findNetwork(id)?.name ?? id;

/** Every mismatch of every network at once; a mismatch outweighs a network that cannot be reached. */
export function joined(results: readonly Readiness[]): Readiness {
  const problems: ReadinessProblem[] = results.flatMap((one) => (one.state === "misconfigured" ? one.problems : []));
  if (problems.length > 0) return { state: "misconfigured", problems };
  const unreachable = results.find((one) => one.state === "unreachable");
  return unreachable ?? { state: "ready" };
}
