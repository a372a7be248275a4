// One offer of either version (an entry of `accepts`, or what a payment says that it accepted): what it asks, and everything
// in it that contradicts the protocol or our own table. Asks nobody.

import { readOffer } from "../../client/read-offer.js";
import { suggestNetwork } from "../../network-suggestion.js";
import { findNetwork, isAddressOf, type Network, networkFromWire, type Token, tokenByAddress } from "../../networks.js";
import { NATIVE, type TransferMethod, wireAsset } from "../../requirement.js";
import { isRecord } from "../../wire/json.js";
import { paymentRequirementsV1 } from "../../wire/v1.js";
import { paymentRequirementsV2 } from "../../wire/v2.js";
import { came, createFindings, type Explained, type Findings, textAt } from "./findings.js";
import { examineExtra } from "./offer-extra.js";
import { hasShape, joined } from "./shape.js";
import { formatAmount, formatNetwork, formatSpan } from "./words.js";

/** What an offer says, as far as it can be read. */
export interface Terms {
  readonly version: 1 | 2;
  readonly scheme: string | undefined;
  readonly network: Network | undefined;
  /** `native`, a contract or a mint. */
  readonly asset: string | undefined;
  readonly token: Token | undefined;
  readonly amount: bigint | undefined;
  readonly payTo: string | undefined;
  readonly method: TransferMethod | "permit2";
  readonly extra: Readonly<Record<string, unknown>>;
}

/** Longer than our own paywalls may ask for. */
const LONGEST_SECONDS = 86_400;

/** Explains the n-th offer of a challenge. */
export function explainOffer(given: unknown, version: 1 | 2, index: number): Explained {
  const place = `accepts[${index}]`;
  const out = createFindings(place);
  const terms = examineOffer(given, version, place, out);
  out.fact("price", priceOf(terms));
  out.fact("network", terms.network && formatNetwork(terms.network));
  out.fact("payTo", terms.payTo);
  out.fact("asset", terms.asset);
  out.fact("flow", flowOf(terms));
  const timeout = isRecord(given) ? given.maxTimeoutSeconds : undefined;
  if (typeof timeout === "number" && Number.isFinite(timeout))
    out.fact("within", formatSpan(BigInt(Math.floor(timeout))));
  out.fact("feePayer", terms.network?.family === "solana" ? textAt(terms.extra, "feePayer") : undefined);
  const on = terms.network ? ` on ${terms.network.name}` : "";
  return out.explained({ kind: "offer", version, says: `Asks ${priceOf(terms) ?? "what cannot be read"}${on}` });
}

/** `0.01 USDC` */
export const priceOf = ({ amount, network, asset, token }: Terms): string | undefined =>
  amount === undefined || network === undefined ? undefined : formatAmount(amount, { network, address: asset, token });

/** Reads what can be read; all that is wrong goes to `out`, with its place under `place`. */
export function examineOffer(given: unknown, version: 1 | 2, place: string, out: Findings): Terms {
  hasShape(version === 1 ? paymentRequirementsV1 : paymentRequirementsV2, given, place, out);
  const at = (name: string) => joined(place, [name]);
  const amountName = version === 1 ? "maxAmountRequired" : "amount";
  const network = readNetwork(textAt(given, "network"), version, at("network"), out);
  const extra = isRecord(given) && isRecord(given.extra) ? given.extra : {};
  const amount = out.hasFlawAt(at(amountName)) ? undefined : readAmount(textAt(given, amountName));
  if (amount === 0n) out.flaw(at(amountName), "more than 0", came("0"));
  const payTo = readAddress(given, "payTo", network, at("payTo"), out);
  const written = readAddress(given, "asset", network, at("asset"), out);
  const isNative = network !== undefined && written === wireAsset({ asset: NATIVE, network: network.id });
  const asset = isNative ? NATIVE : written;
  const token = network && asset !== undefined ? tokenByAddress(network, asset) : undefined;
  if (payTo !== undefined && payTo === written) out.flaw(at("payTo"), "the seller's address", "the asset itself");
  const scheme = textAt(given, "scheme");
  const timeout = isRecord(given) ? given.maxTimeoutSeconds : undefined;
  if (typeof timeout === "number" && timeout > LONGEST_SECONDS)
    out.flaw(at("maxTimeoutSeconds"), `at most a day (${LONGEST_SECONDS})`, came(timeout));
  const terms: Terms = {
    ...{ version, scheme, network, asset, token, amount, payTo, extra },
    method: methodOf(network, extra, isNative),
  };
  if (scheme === "exact") examineExtra(terms, at("extra"), out);
  // Well formed, and still nothing that everybody pays: another scheme, another way of moving money.
  const read = readOffer(version, 0, given);
  if (!read.ok && out.count === 0) out.note(`tollgate's buyer does not pay it: ${read.reason}`);
  return terms;
}

const readAmount = (text: string | undefined): bigint | undefined =>
  text !== undefined && /^[0-9]{1,78}$/.test(text) ? BigInt(text) : undefined;

/** By the spelling of the version; another spelling is named. */
export function readNetwork(
  name: string | undefined,
  version: 1 | 2,
  place: string,
  out: Findings,
): Network | undefined {
  if (name === undefined) return undefined;
  const network = networkFromWire(version, name);
  if (network) {
    if (network.tokens.length === 0 && network.native.symbol === "native")
      out.note(`${network.id} is not in the built-in table: its tokens are not known here`);
    return network;
  }
  const meant = version === 2 ? findNetwork(name) : undefined;
  if (meant) out.flaw(place, `the CAIP-2 id of ${meant.name}, ${meant.id}`, came(name));
  else out.flaw(place, `a network that is known (${suggestNetwork(name.slice(0, 64))})`, came(name));
  return meant;
}

/** An address of the network's family, with the right checksum where it shows one. */
export function readAddress(
  given: unknown,
  name: string,
  network: Network | undefined,
  place: string,
  out: Findings,
): string | undefined {
  const text = textAt(given, name);
  if (text === undefined || network === undefined) return text;
  if (isAddressOf(network.family, text)) return text;
  out.flaw(place, addressForm(network, text), came(text));
  return undefined;
}

function addressForm({ family, name }: Network, text: string): string {
  if (family === "solana") return `an address on ${name}: base58 of 32 bytes`;
  if (/^0x[0-9a-fA-F]{40}$/.test(text))
    return "an address whose mixed case is its checksum (EIP-55): a letter is wrong";
  return `an address on ${name}: 0x and 40 hex digits`;
}

function methodOf(network: Network | undefined, extra: Terms["extra"], isNative: boolean): Terms["method"] {
  const named = textAt(extra, "assetTransferMethod");
  if (named === "permit2") return "permit2";
  if (named === "transaction" || isNative) return "transaction";
  return network?.family === "solana" ? "spl" : "eip3009";
}

const FLOWS: Readonly<Record<Terms["method"], string>> = {
  eip3009: "a signed authorization, which the seller settles",
  spl: "a signed transaction, which the seller's fee payer completes and sends",
  transaction: "the buyer's own transaction, on the chain before the seller serves",
  permit2: "a Permit2 signature, which tollgate's buyer does not make",
};

/** How the money moves, and when. */
export function flowOf({ method, extra }: Terms): string {
  const upfront = textAt(extra, "paymentFlow") === "upfront" && method !== "transaction";
  return upfront ? `${FLOWS[method]} before it serves` : FLOWS[method];
}
