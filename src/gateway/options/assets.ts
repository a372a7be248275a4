// The tokens that a gateway may move on one network, beside its own currency: those of the built-in table, or those that
// are named, each with the least that a settlement at the gateway's cost moves.
import { optionPath, type Problems } from "../../config-problems.js";
import { parseDecimal } from "../../money.js";
import { checksumAddress, isAddressOf, type Network, type Token } from "../../networks.js";
import { suggestion } from "../../suggestion.js";
import type { Asset } from "../chain.js";
import type { OwnAsset } from "./schema.js";

/** A thousandth of a dollar; a settlement costs about as much. */
const STABLECOIN_MINIMUM = "0.001";

interface Written {
  readonly assets?: readonly (string | OwnAsset)[] | undefined;
  readonly minimums?: Readonly<Record<string, string>> | undefined;
}

/** `pathOf`: how a place of the network's entry is called. Problems are added; what has none is given. */
export function readAssets(
  network: Network,
  { assets, minimums = {} }: Written,
  pathOf: (path: readonly PropertyKey[]) => string,
  problems: Problems,
): readonly Asset[] {
  const known = new Map<string, Asset>();
  const chosen = assets ?? network.tokens.map(({ address }) => address);
  for (const [index, one] of chosen.entries()) {
    const asset = readAsset(network, one, pathOf(["assets", index]), problems);
    if (!asset) continue;
    if (!known.has(asset.address)) known.set(asset.address, asset);
    else problems.add(pathOf(["assets", index]), "contradiction", `${asset.symbol} is named twice: keep one`);
  }
  for (const [name, text] of Object.entries(minimums)) {
    const asset = [...known.values()].find((one) => isNamed(one, name));
    const path = pathOf(["minimums", name]);
    if (!asset) {
      const symbols = [...known.values()].map(({ symbol }) => symbol);
      problems.add(path, "unknown_token", `it is none of the assets of ${network.name}: ${suggestion(name, symbols)}`);
      continue;
    }
    known.set(asset.address, { ...asset, minimum: readMinimum(asset, text, path, problems) });
  }
  return [...known.values()];
}

/** Is this name, a symbol or an address, the asset's? */
export const isNamed = ({ symbol, address }: { symbol: string; address: string }, name: string): boolean =>
  symbol.toLowerCase() === name.toLowerCase() ||
  (address.startsWith("0x") ? address.toLowerCase() === name.toLowerCase() : address === name);

/** Does a network know this name, so that TOLLGATE_ASSETS may name it? Its own currency is always there. */
export const isKnownOn = (network: Network, name: string): "token" | "native" | undefined => {
  if (network.tokens.some((token) => isNamed(token, name))) return "token";
  return name.toLowerCase() === network.native.symbol.toLowerCase() ? "native" : undefined;
};

function readAsset(network: Network, written: string | OwnAsset, path: string, problems: Problems): Asset | undefined {
  if (typeof written !== "string") return readOwn(network, written, path, problems);
  const token = network.tokens.find((one) => isNamed(one, written));
  if (token) return fromToken(token);
  const symbols = network.tokens.map(({ symbol }) => symbol);
  const known = symbols.length > 0 ? suggestion(written, symbols) : `${network.name} has no tokens there`;
  const message = `no token ${JSON.stringify(written)} of ${network.name} stands in the built-in table (${known}): write { address, symbol, decimals }`;
  problems.add(path, "unknown_token", message);
  return undefined;
}

function fromToken({ symbol, address, decimals, domain, transferMethod, tokenProgram }: Token): Asset {
  const minimum = parseDecimal(STABLECOIN_MINIMUM, decimals);
  return {
    address,
    symbol,
    decimals,
    ...(domain && transferMethod === "eip3009" && { domain }),
    ...(tokenProgram !== undefined && { tokenProgram }),
    minimum: minimum.ok ? minimum.amount : 1n,
  };
}

function readOwn(network: Network, own: OwnAsset, path: string, problems: Problems): Asset | undefined {
  const { symbol, decimals, domain, tokenProgram, minimum } = own;
  if (!isAddressOf(network.family, own.address)) {
    const form =
      network.family === "evm" ? "0x and 40 hex digits (check the mixed-case checksum)" : "a mint, base58 of 32 bytes";
    problems.add(optionPath(path, ["address"]), "invalid", `expected the token's address on ${network.name}: ${form}`);
    return undefined;
  }
  const misplaced = network.family === "evm" ? tokenProgram && "tokenProgram" : domain && "domain";
  if (misplaced) {
    problems.add(optionPath(path, [misplaced]), "contradiction", `tokens of ${network.name} have no ${misplaced}`);
    return undefined;
  }
  if (symbol.toLowerCase() === network.native.symbol.toLowerCase()) {
    const message = `${symbol} is ${network.name}'s own currency: give the token another symbol`;
    problems.add(optionPath(path, ["symbol"]), "contradiction", message);
    return undefined;
  }
  const asset: Asset = {
    address: network.family === "evm" ? checksumAddress(own.address) : own.address,
    symbol,
    decimals,
    ...(domain && { domain }),
    ...(tokenProgram !== undefined && { tokenProgram }),
    minimum: 1n,
  };
  if (minimum === undefined) return asset;
  return { ...asset, minimum: readMinimum(asset, minimum, optionPath(path, ["minimum"]), problems) };
}

function readMinimum(asset: Asset, text: string, path: string, problems: Problems): bigint {
  const parsed = parseDecimal(text, asset.decimals);
  if (parsed.ok) return parsed.amount;
  problems.add(path, "invalid", `${text} ${parsed.problem} (${asset.symbol})`);
  return asset.minimum;
}
