// A price given as `{ amount, asset, network }`: any token or the chain's own currency, in atomic units.
import { checksumAddress, isAddressOf } from "./address.js";
import { parseInteger } from "./money.js";
import { findNetwork, type Network, type Token, tokenByAddress } from "./networks.js";
import type { Cost, PriceObject, Transfer } from "./price.js";
import { atLeastOneUnit, type PriceProblem, problem, show } from "./price-problem.js";
import { readTransfer } from "./price-transfer.js";
import { NATIVE, wireAsset } from "./requirement.js";

type Member = PriceObject extends infer One ? (One extends PriceObject ? keyof One : never) : never;

const MEMBERS: ReadonlySet<string> = new Set([
  "amount",
  "asset",
  "network",
  "decimals",
  "domain",
  "tokenProgram",
  "transferMethod",
  "confirmations",
] satisfies Member[]);

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
  const members: { readonly [Name in Member]?: unknown } = price;

  const network = readNetwork(members.network, networks);
  if (!network.ok) return network;
  const asset = readAsset(members.asset, network.value);
  if (!asset.ok) return asset;
  const amount = readAmount(members.amount, network.value);
  if (!amount.ok) return amount;
  const token = asset.value === NATIVE ? undefined : tokenByAddress(network.value, asset.value);
  const transfer = readTransfer(members, asset.value, network.value, token);
  if (!transfer.ok) return transfer;
  const display = readDisplay(members.decimals, asset.value, network.value, token, transfer.value);
  if (!display.ok) return display;
  const cost = {
    network: network.value,
    asset: asset.value,
    amount: amount.value,
    transfer: transfer.value,
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

const ASSETS = {
  evm: "the token's address, 0x and 40 hex digits with a correct checksum where the case is mixed",
  solana: "the token's mint, base58 of 32 bytes",
} as const;

function readAsset(asset: unknown, network: Network): Read<string> {
  if (asset === NATIVE) return read(NATIVE);
  const { family, id } = network;
  // Its spelling on the wire is no token, and is not what a seller writes.
  const isWireForm = asset === wireAsset({ asset: NATIVE, network: id });
  if (!isWireForm && typeof asset === "string" && isAddressOf(family, asset)) {
    return read(family === "evm" ? checksumAddress(asset) : asset);
  }
  const expected = `expected ${ASSETS[family]}, or "native" for ${network.native.symbol}`;
  return problem(asset === undefined ? "required" : "invalid", `the price's asset is ${show(asset)}: ${expected}`);
}

function readAmount(amount: unknown, network: Network): Read<bigint> {
  const expected = 'expected atomic units as text, such as "10000"';
  if (typeof amount !== "string") {
    return problem(amount === undefined ? "required" : "invalid", `the price's amount is ${show(amount)}: ${expected}`);
  }
  const parsed = atLeastOneUnit(parseInteger(amount), network);
  if (parsed.ok) return read(parsed.amount);
  return problem("invalid", `the price's amount is ${show(amount)}, which ${parsed.problem}: ${expected}`);
}

/** How the amount is shown. Without decimals it is shown in atomic units and says so. */
function readDisplay(
  decimals: unknown,
  asset: string,
  network: Network,
  token: Token | undefined,
  transfer: Transfer,
): Read<Pick<Cost, "symbol" | "decimals">> {
  const known = asset === NATIVE ? network.native : token;
  const symbol = transfer.method === "eip3009" ? transfer.domain.name : `token ${asset.slice(0, 6)}…${asset.slice(-4)}`;
  if (decimals === undefined) {
    if (known) return read({ symbol: known.symbol, decimals: known.decimals });
    // The buyer signs them, so that they cannot be left to display.
    if (transfer.method === "spl")
      return problem("required", "the price's asset is no known mint, so it needs decimals: write those of the mint");
    return read({ symbol: `atomic units of ${symbol}`, decimals: 0 });
  }
  if (typeof decimals !== "number" || !Number.isInteger(decimals) || decimals < 0 || decimals > 77) {
    return problem("invalid", `the price's decimals are ${show(decimals)}: expected a whole number from 0 to 77`);
  }
  if (known && decimals !== known.decimals) {
    const what = `the price's decimals are ${decimals}, but ${known.symbol} has ${known.decimals}`;
    return problem("contradiction", `${what}: leave them out`);
  }
  return read({ symbol: known?.symbol ?? symbol, decimals });
}
