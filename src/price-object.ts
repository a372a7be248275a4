// A price given as `{ amount, asset, network }`: any token, in atomic units.
import { checksumAddress, isAddressOf } from "./address.js";
import { parseInteger } from "./money.js";
import { findNetwork, type Network, type Token, tokenByAddress } from "./networks.js";
import type { Cost, PriceObject } from "./price.js";
import { atLeastOneUnit, type PriceProblem, permit2Only, problem, show } from "./price-problem.js";

const MEMBERS: ReadonlySet<string> = new Set([
  "amount",
  "asset",
  "network",
  "decimals",
  "domain",
] satisfies (keyof PriceObject)[]);

type Read<Value> = { readonly ok: true; readonly value: Value } | PriceProblem;
const read = <Value>(value: Value): Read<Value> => ({ ok: true, value });

/** The one cost of a price object, whose members are unchecked. */
export function costOfObject(
  price: object,
  networks: readonly Network[],
): { readonly ok: true; readonly costs: readonly Cost[] } | PriceProblem {
  const unknown = Object.keys(price).find((key) => !MEMBERS.has(key));
  if (unknown !== undefined) {
    return problem("unknown_option", `the price has a member ${show(unknown)}: known are ${[...MEMBERS].join(", ")}`);
  }
  const members: { readonly [Member in keyof PriceObject]?: unknown } = price;

  const network = readNetwork(members.network, networks);
  if (!network.ok) return network;
  const asset = readAsset(members.asset, network.value);
  if (!asset.ok) return asset;
  const amount = readAmount(members.amount);
  if (!amount.ok) return amount;
  const token = tokenByAddress(network.value, asset.value);
  if (token?.transferMethod === "permit2") return permit2Only(token, network.value);
  const domain = readDomain(members.domain, token);
  if (!domain.ok) return domain;
  const display = readDisplay(members.decimals, token, domain.value.name);
  if (!display.ok) return display;
  const cost = {
    network: network.value,
    asset: asset.value,
    amount: amount.value,
    domain: domain.value,
    ...display.value,
  };
  return { ok: true, costs: [cost] };
}

function readNetwork(name: unknown, networks: readonly Network[]): Read<Network> {
  const names = networks.map((network) => network.name).join(", ");
  const [only] = networks;
  if (name === undefined) {
    if (only && networks.length === 1) return read(only);
    return problem("required", `the price names no network, and there are several: add network, one of ${names}`);
  }
  const found = typeof name === "string" ? findNetwork(name) : undefined;
  if (!found) return problem("unknown_network", `the price's network is ${show(name)}: expected one of ${names}`);
  const chosen = networks.find((network) => network.id === found.id);
  if (chosen) return read(chosen);
  return problem("contradiction", `the price's network is ${show(name)}, which is not one of this route's: ${names}`);
}

function readAsset(asset: unknown, network: Network): Read<string> {
  if (typeof asset === "string" && isAddressOf(network.family, asset)) return read(checksumAddress(asset));
  const expected = "expected the token's address, 0x and 40 hex digits with a correct checksum where the case is mixed";
  return problem(asset === undefined ? "required" : "invalid", `the price's asset is ${show(asset)}: ${expected}`);
}

function readAmount(amount: unknown): Read<bigint> {
  const expected = 'expected atomic units as text, such as "10000"';
  if (typeof amount !== "string") {
    return problem(amount === undefined ? "required" : "invalid", `the price's amount is ${show(amount)}: ${expected}`);
  }
  const parsed = atLeastOneUnit(parseInteger(amount));
  if (parsed.ok) return read(parsed.amount);
  return problem("invalid", `the price's amount is ${show(amount)}, which ${parsed.problem}: ${expected}`);
}

/** The seller's own domain stands before the table's, for a token that was upgraded under our feet. */
function readDomain(domain: unknown, token: Token | undefined): Read<Cost["domain"]> {
  if (domain === undefined && token) return read(token.domain);
  const expected = "expected { name, version }, the strings of the token contract's EIP-712 domain";
  if (domain === undefined)
    return problem("required", `the price's asset is no known token, so it needs a domain: ${expected}`);
  const { name, version } = typeof domain === "object" && domain !== null ? (domain as Record<string, unknown>) : {};
  if (typeof name === "string" && name !== "" && typeof version === "string" && version !== "") {
    return read(Object.freeze({ name, version }));
  }
  return problem("invalid", `the price's domain is ${show(domain)}: ${expected}`);
}

/** How the amount is shown. Without decimals it is shown in atomic units and says so. */
function readDisplay(
  decimals: unknown,
  token: Token | undefined,
  name: string,
): Read<Pick<Cost, "symbol" | "decimals">> {
  if (decimals === undefined) {
    return read(
      token ? { symbol: token.symbol, decimals: token.decimals } : { symbol: `atomic units of ${name}`, decimals: 0 },
    );
  }
  if (typeof decimals !== "number" || !Number.isInteger(decimals) || decimals < 0 || decimals > 77) {
    return problem("invalid", `the price's decimals are ${show(decimals)}: expected a whole number from 0 to 77`);
  }
  if (token && decimals !== token.decimals) {
    return problem(
      "contradiction",
      `the price's decimals are ${decimals}, but ${token.symbol} has ${token.decimals}: leave them out`,
    );
  }
  return read({ symbol: token?.symbol ?? name, decimals });
}
