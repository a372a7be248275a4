// The networks of a gateway, each read by the schema of its chain family, the first of a family being its default.
import type { Problems } from "../../config-problems.js";
import { reportIssues } from "../../config-schema.js";
import type { NetworkSettings } from "../settings.js";
import { readAssets } from "./assets.js";
import type { Merged, NamedEntry } from "./layers.js";
import { evmNetworkSchema, ownAsset, solanaNetworkSchema } from "./schema.js";

type Unordered = Omit<NetworkSettings, "isDefault">;
type PathOf = (path: readonly PropertyKey[]) => string;

/** The networks without problems; every problem is added. */
export function readNetworks(merged: Merged, problems: Problems): readonly NetworkSettings[] {
  const defaults = new Set<string>();
  return merged.networks.flatMap((one) => {
    const pathOf: PathOf = (path) => merged.nameOf(["networks", one.key, ...path]);
    const settings = one.network.family === "evm" ? readEvm(one, pathOf, problems) : readSolana(one, pathOf, problems);
    const kind = `${one.network.family} ${one.network.testnet}`;
    const isDefault = !defaults.has(kind);
    defaults.add(kind);
    return settings ? [{ ...settings, isDefault }] : [];
  });
}

function readEvm({ network, entry }: NamedEntry, pathOf: PathOf, problems: Problems): Unordered | undefined {
  const { success, data, error } = evmNetworkSchema.safeParse(entry);
  if (!success) return refuse(error.issues, entry, Object.keys(evmNetworkSchema.shape), pathOf, problems);
  const { settler, confirmations = 1, assets: names, minimums, ...options } = data;
  const assets = readAssets(network, { assets: names, minimums }, pathOf, problems);
  return { network, options, settler, confirmations, assets };
}

function readSolana({ network, entry }: NamedEntry, pathOf: PathOf, problems: Problems): Unordered | undefined {
  if (entry.confirmations !== undefined) {
    const message =
      "Solana counts no blocks: payments there are confirmed and finalized as the cluster says. Leave it out";
    problems.add(pathOf(["confirmations"]), "contradiction", message);
    return undefined;
  }
  const { success, data, error } = solanaNetworkSchema.safeParse(entry);
  if (!success) return refuse(error.issues, entry, Object.keys(solanaNetworkSchema.shape), pathOf, problems);
  const { settler, assets: names, minimums, ...options } = data;
  const assets = readAssets(network, { assets: names, minimums }, pathOf, problems);
  return { network, options, settler, confirmations: 1, assets };
}

const REQUIRED = { rpcUrl: "nothing is seen or sent there without a node: set it to the URL of a JSON-RPC node" };

function refuse(
  issues: Parameters<typeof reportIssues>[0],
  entry: object,
  names: readonly string[],
  pathOf: PathOf,
  problems: Problems,
): undefined {
  const known = (path: readonly PropertyKey[]) => (path.length === 0 ? names : Object.keys(ownAsset.shape));
  reportIssues(issues, entry, { pathOf, known, required: REQUIRED }, problems);
  return undefined;
}
