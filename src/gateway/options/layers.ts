// Options, environment and file as layers of one shape: the first that says something about a field decides it, and every
// field remembers where it was said, so that a problem is told under the name by which its reader knows it.
import { optionPath, type Problems } from "../../config-problems.js";
import { suggestNetwork } from "../../network-suggestion.js";
import { findNetwork, type Network } from "../../networks.js";
import { mayBeSecret, NOT_SHOWN } from "../../secret.js";

export interface Layer {
  /** Everything but the networks, as written. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** By CAIP-2 id, in the order in which they are named. */
  readonly networks: ReadonlyMap<string, NamedEntry>;
  /** Which of `networks` are to be served; undefined = this layer leaves that to others. */
  readonly served: readonly string[] | undefined;
  /** How a place of this layer is called in messages. */
  nameOf(path: readonly PropertyKey[]): string;
}

export interface NamedEntry {
  readonly key: string;
  readonly network: Network;
  readonly entry: Readonly<Record<string, unknown>>;
}

export interface Merged {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly networks: readonly NamedEntry[];
  /** The name of a place of `fields`, or of `networks` by its key. */
  nameOf(path: readonly PropertyKey[]): string;
}

/** Fields that are merged one level deeper, name by name. */
const DEEP = ["plans", "sponsored"];

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Options as a person or a file wrote them, as a layer; networks that nobody knows are problems. */
export function toLayer(written: unknown, nameOf: Layer["nameOf"], problems: Problems): Layer {
  const { networks, ...fields } = isObject(written) ? written : {};
  const entries = new Map<string, NamedEntry>();
  for (const [key, entry] of isObject(networks) ? Object.entries(networks) : []) {
    readEntry(key, entry, nameOf, entries, problems);
  }
  return {
    // What is no record of networks is left to the schema, which says so.
    fields: networks === undefined || isObject(networks) ? fields : { ...fields, networks },
    networks: entries,
    served: isObject(networks) && Object.keys(networks).length > 0 ? [...entries.keys()] : undefined,
    nameOf,
  };
}

function readEntry(
  key: string,
  entry: unknown,
  nameOf: Layer["nameOf"],
  known: Map<string, NamedEntry>,
  problems: Problems,
): void {
  const path = nameOf(["networks", key]);
  if (!isObject(entry)) {
    problems.add(path, "invalid", "expected { rpcUrl, settler }");
    return;
  }
  const name = typeof entry.id === "string" ? entry.id : key;
  const network = findNetwork(name);
  if (!network) {
    const got = mayBeSecret(name) ? NOT_SHOWN : JSON.stringify(name);
    const expected = `expected a known network or a CAIP-2 id such as "eip155:84532"; got ${got}`;
    problems.add(path, "unknown_network", `${expected}: ${suggestNetwork(name)}`);
    return;
  }
  const other = known.get(network.id);
  if (!other) {
    known.set(network.id, { key, network, entry });
    return;
  }
  const message = `it is the same network as ${JSON.stringify(other.key)} (${network.id}): keep one of the two entries`;
  problems.add(path, "contradiction", message);
}

/** The layers as one, the strongest first. */
export function mergeLayers(layers: readonly Layer[]): Merged {
  const places = new Map<string, Layer>();
  const fields: Record<string, unknown> = {};
  const names = new Set(layers.flatMap((layer) => Object.keys(layer.fields)));
  for (const name of names) {
    const value = DEEP.includes(name)
      ? mergeField(layers, name, places)
      : firstOf(layers, (layer) => layer.fields[name], [name], places);
    if (value !== undefined) fields[name] = value;
  }
  return { fields, networks: mergeNetworks(layers, places), nameOf: (path) => placeOf(path, layers, places) };
}

type Places = Map<string, Layer>;
const placeKey = (path: readonly PropertyKey[]): string => path.map(String).join("\0");

function firstOf(
  layers: readonly Layer[],
  read: (layer: Layer) => unknown,
  path: readonly PropertyKey[],
  places: Places,
): unknown {
  const layer = layers.find((one) => read(one) !== undefined);
  if (layer) places.set(placeKey(path), layer);
  return layer && read(layer);
}

/** One that is no object hides those below it, so that the schema refuses it. */
function mergeField(layers: readonly Layer[], name: string, places: Places): unknown {
  const first = firstOf(layers, (layer) => layer.fields[name], [name], places);
  if (!isObject(first)) return first;
  const inside = (layer: Layer) => (isObject(layer.fields[name]) ? layer.fields[name] : {});
  const members = new Set(layers.flatMap((layer) => Object.keys(inside(layer))));
  return Object.fromEntries(
    [...members].map((member) => [member, firstOf(layers, (layer) => inside(layer)[member], [name, member], places)]),
  );
}

function mergeNetworks(layers: readonly Layer[], places: Places): NamedEntry[] {
  const serving = layers.find((layer) => layer.served !== undefined);
  return (serving?.served ?? []).flatMap((id) => {
    const all = layers.flatMap((layer) => layer.networks.get(id) ?? []);
    const [first] = all;
    if (!first || !serving) return [];
    places.set(placeKey(["networks", first.key]), serving);
    const fields = new Set(all.flatMap(({ entry }) => Object.keys(entry)));
    const entry = Object.fromEntries(
      [...fields].flatMap((field) => {
        const at = ["networks", first.key, field];
        const value = firstOf(layers, (layer) => layer.networks.get(id)?.entry[field], at, places);
        return value === undefined ? [] : [[field, value]];
      }),
    );
    return [{ key: first.key, network: first.network, entry }];
  });
}

/** Named by the layer that said the nearest thing above it; what nobody said, as options are. */
function placeOf(path: readonly PropertyKey[], layers: readonly Layer[], places: Places): string {
  for (let length = path.length; length > 0; length--) {
    const layer = places.get(placeKey(path.slice(0, length)));
    if (layer) return layer.nameOf(path);
  }
  return layers[0]?.nameOf(path) ?? optionPath("", path);
}
