// What the environment says about each network: its node, its settler's key, its confirmations, and the tokens of all.
import { type Problems, show } from "../../config-problems.js";
import {
  type Environment,
  GATEWAY_PREFIXES,
  KEY_NAMES,
  listOf,
  networkOfSuffix,
  RPC_PREFIX,
  rpcUrlsOf,
  textOf,
} from "../../environment.js";
import { environmentName, findNetwork, NETWORKS, type Network } from "../../networks.js";
import { nearest, suggestion } from "../../suggestion.js";
import { resolveNetworks } from "../../terms.js";
import { isKnownOn } from "./assets.js";
import type { NamedEntry } from "./layers.js";

/** What is no number stays text, which the schema refuses with what it expected. */
export function readNumber(env: Environment, name: string): number | string | undefined {
  const text = textOf(env, name);
  return text !== undefined && /^[0-9]{1,15}$/.test(text) ? Number(text) : text;
}

export interface EnvironmentNetworks {
  readonly networks: ReadonlyMap<string, NamedEntry>;
  /** TOLLGATE_NETWORKS; else those with a node, where nobody else names networks. */
  readonly served: readonly string[] | undefined;
  /** `key.field` to the name under which it stands in the environment. */
  readonly entryNames: ReadonlyMap<string, string>;
}

/** `wanted`: networks that the options or the file name. */
export function readNetworks(env: Environment, wanted: readonly NamedEntry[], problems: Problems): EnvironmentNetworks {
  const urls = rpcUrlsOf(env, problems);
  const keys = byNetwork(env, GATEWAY_PREFIXES.key, Object.values(KEY_NAMES), problems);
  const confirmations = byNetwork(env, GATEWAY_PREFIXES.confirmations, [], problems);
  const names = listOf(textOf(env, "TOLLGATE_NETWORKS") ?? "");
  const named = names.length > 0 ? (resolveNetworks(names, () => "TOLLGATE_NETWORKS", problems) ?? []) : undefined;
  const fromUrls = [...urls.keys()].flatMap((id) => findNetwork(id) ?? []);
  const served = named ?? (wanted.length > 0 ? undefined : fromUrls);

  const all = [...(served ?? []), ...wanted.map((one) => one.network), ...fromUrls];
  const assets = readAssetNames(env, all, problems);
  const networks = new Map<string, NamedEntry>();
  const entryNames = new Map<string, string>();
  for (const network of new Map(all.map((one) => [one.id, one])).values()) {
    const key = wanted.find((one) => one.network.id === network.id)?.key ?? network.name;
    const [url, own] = [urls.get(network.id), keys.get(network.id)];
    const family = textOf(env, KEY_NAMES[network.family]);
    const settler = own ?? (family === undefined ? undefined : { name: KEY_NAMES[network.family], text: family });
    const depth = confirmations.get(network.id);
    const said = {
      rpcUrl: url && { name: url.name, value: url.url },
      settler: settler && { name: settler.name, value: settler.text },
      confirmations: depth && { name: depth.name, value: readNumber(env, depth.name) },
      assets: assets && {
        name: "TOLLGATE_ASSETS",
        value: assets.filter((name) => isKnownOn(network, name) === "token"),
      },
    };
    // A place that nothing fills is told by the name that would fill it.
    entryNames.set(`${key}.rpcUrl`, url?.name ?? RPC_PREFIX + environmentName(network)[0]);
    const entry: Record<string, unknown> = {};
    for (const [field, one] of Object.entries(said)) {
      if (one === undefined) continue;
      entry[field] = one.value;
      entryNames.set(`${key}.${field}`, one.name);
    }
    networks.set(network.id, { key, network, entry });
  }
  return { networks, served: served?.map(({ id }) => id), entryNames };
}

/** `TOLLGATE_ASSETS`: symbols or addresses, each of a token on at least one of the networks. */
function readAssetNames(env: Environment, networks: readonly Network[], problems: Problems): string[] | undefined {
  const text = textOf(env, "TOLLGATE_ASSETS");
  if (text === undefined || networks.length === 0) return undefined;
  const names = listOf(text);
  for (const name of names) {
    if (networks.some((network) => isKnownOn(network, name))) continue;
    const known = networks.flatMap(({ tokens }) => tokens.map(({ symbol }) => symbol));
    const remedy = "a token beyond the built-in table is described in the assets of its network, in options or file";
    const message = `${show(name)} is no token of the networks that are served (${suggestion(name, [...new Set(known)])}): ${remedy}`;
    problems.add("TOLLGATE_ASSETS", "unknown_token", message);
  }
  return names;
}

/** Values of `PREFIX<NETWORK>` by CAIP-2 id. `others`: names with this prefix that mean something else. */
function byNetwork(
  env: Environment,
  prefix: string,
  others: readonly string[],
  problems: Problems,
): Map<string, { readonly name: string; readonly text: string }> {
  const found = new Map<string, { readonly name: string; readonly text: string }>();
  for (const name of Object.keys(env)) {
    const text = textOf(env, name);
    if (!name.startsWith(prefix) || text === undefined || others.includes(name)) continue;
    const network = networkOfSuffix(name.slice(prefix.length));
    const other = network && found.get(network.id);
    if (!network) {
      const meant = nearest(name, [...others, ...NETWORKS.map((listed) => prefix + environmentName(listed)[0])]);
      problems.add(name, "unknown_network", `its ending names no network${meant ? `: did you mean ${meant}?` : ""}`);
    } else if (other && other.text !== text) {
      problems.add(name, "contradiction", `it names the same network as ${other.name} with another value: keep one`);
    } else {
      found.set(network.id, { name, text });
    }
  }
  return found;
}
