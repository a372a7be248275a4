// Who signs slot 0 of a token payment on Solana and pays the network fee, as the facilitator lists it. Some name another of
// their keys in each list, so the one that went into an offer stays in it for as long as it is listed at all, and a payment
// with any listed one is good (protocol §2.4, §9.25).
import { isAddressOf, networkFromWire } from "../networks.js";
import type { Requirement } from "../requirement.js";
import type { SupportedResponse } from "../wire/facilitator.js";
import { kindsFor } from "./facilitator-kinds.js";
import type { ReadinessProblem } from "./receiver.js";

export interface FeePayers {
  /** The one for offers on this network; undefined = none is known. */
  of(network: string): string | undefined;
  /** Each that the facilitator lists for the network. */
  listed(network: string): readonly string[];
}

interface Listed {
  /** Those that stand in a kind: only they are known to serve this very scheme. */
  readonly announced: readonly string[];
  readonly all: readonly string[];
}

/** @param current the latest list; undefined before the first */
export function createFeePayers(current: () => SupportedResponse | undefined): FeePayers {
  const pinned = new Map<string, string>();
  const read = new Map<string, Listed>();
  let list: SupportedResponse | undefined;

  function listedFor(network: string): Listed {
    const latest = current();
    if (latest !== list) read.clear();
    list = latest;
    const known = read.get(network) ?? readListed(latest, network);
    read.set(network, known);
    return known;
  }

  return {
    listed: (network) => listedFor(network).all,
    of(network) {
      const { announced, all } = listedFor(network);
      const kept = pinned.get(network);
      if (kept !== undefined && all.includes(kept)) return kept;
      const [chosen] = announced;
      if (chosen !== undefined) pinned.set(network, chosen);
      return chosen;
    },
  };
}

function readListed(list: SupportedResponse | undefined, network: string): Listed {
  const kinds = list ? kindsFor(list.kinds, { scheme: "exact", network }) : [];
  // A signer alone serves nothing here.
  if (!list || kinds.length === 0) return { announced: [], all: [] };
  const announced = kinds.map(({ extra }) => extra?.feePayer).filter(isFeePayer);
  const signers = Object.entries(list.signers).flatMap(([chain, keys]) => (covers(chain, network) ? keys : []));
  return { announced, all: [...new Set([...announced, ...signers.filter(isFeePayer)])] };
}

/** Signers stand under a chain's id or, with `*`, under their family. */
const covers = (chain: string, network: string): boolean =>
  chain.endsWith(":*") ? network.startsWith(chain.slice(0, -1)) : networkFromWire(1, chain)?.id === network;

const isFeePayer = (value: unknown): value is string => typeof value === "string" && isAddressOf("solana", value);

/** Token payments on Solana for which the facilitator lists a kind, but nobody who would pay the network fee. */
export function findWithoutFeePayer(
  requirements: readonly Requirement[],
  { kinds }: SupportedResponse,
): ReadinessProblem[] {
  const networks = new Set(requirements.filter(({ method }) => method === "spl").map(({ network }) => network));
  return [...networks].flatMap((network) => {
    const listed = kindsFor(kinds, { scheme: "exact", network });
    if (listed.length === 0 || listed.some(({ extra }) => isFeePayer(extra?.feePayer))) return [];
    const extras = listed.map(({ extra, x402Version }) => `${show(extra?.feePayer)} (v${x402Version})`);
    return [
      {
        check: "feePayer",
        expected: `extra.feePayer with a Solana address for exact on ${network}`,
        got: extras.join(", "),
        remedy: "Choose another facilitator, or receive on Solana with local(): somebody must pay the network fee.",
      },
    ];
  });
}

const show = (value: unknown): string => (value === undefined ? "nothing" : JSON.stringify(value).slice(0, 100));
