// What a seller probably meant by a network's name that we do not know: one by its name elsewhere, or one that is spelt alike.
import { NETWORKS } from "./networks.js";
import { suggestion } from "./suggestion.js";

/** Names of clusters in the tools of Solana, and of main networks in the mouths of people. */
const ELSEWHERE = new Map([
  ["devnet", "solana-devnet"],
  ["mainnet-beta", "solana"],
  ["solana-mainnet", "solana"],
  ["base-mainnet", "base"],
  ["ethereum-mainnet", "mainnet"],
  ["polygon-mainnet", "polygon"],
]);

/** The known network that `name` was probably meant to be, or a list of them. `others`: names that would do as well. */
export function suggestNetwork(name: string, others: readonly string[] = []): string {
  const meant = ELSEWHERE.get(name.toLowerCase().replaceAll(/[_:]/g, "-"));
  if (meant !== undefined) return `did you mean "${meant}"?`;
  return suggestion(name, [...others, ...NETWORKS.map((network) => network.name)]);
}
