// One entry of a 402 as an offer, or why nobody here can pay it. Strict where money is: networks, addresses, digits, domains;
// lenient where published sellers differ: what says nothing about money is not looked at. Spec: protocol §2.1, §3.1, §4.1.
import { MAX_UINT64, MAX_UINT256, parseInteger } from "../money.js";
import {
  checksumAddress,
  isAddressOf,
  type Network,
  networkFromWire,
  type Token,
  tokenByAddress,
} from "../networks.js";
import { NATIVE, wireAsset } from "../requirement.js";
import { isRecord } from "../wire/json.js";
import type { Offer } from "./offer.js";
import { readTerms } from "./offer-terms.js";
import { quote } from "./seller-words.js";

export type ReadOffer =
  | { readonly ok: true; readonly offer: Offer }
  /** In words of ours; what the seller wrote is quoted, printable and short. */
  | { readonly ok: false; readonly reason: string };

type Given = Readonly<Record<string, unknown>>;

/** A v2 payment sends the offer back, and most servers take 8 KiB of a header. */
const MAX_OFFER_LENGTH = 4 * 1024;
/** A payment by then is as good as one for ever; whoever signs clamps it to much less. */
const MAX_SECONDS = 10 * 366 * 24 * 60 * 60;

const unpayable = (reason: string) => ({ ok: false, reason }) as const;

/** Reads the entry at `index` of a challenge of this version. Never throws. */
export function readOffer(version: 1 | 2, index: number, given: unknown): ReadOffer {
  if (!isRecord(given)) return unpayable("the offer is no object");
  if (given.scheme !== "exact") return unpayable(`the scheme ${quote(given.scheme)} is not exact`);
  const network = typeof given.network === "string" ? networkFromWire(version, given.network) : undefined;
  if (!network) return unpayable(`${quote(given.network)} is no network of version ${version} that is known here`);
  const amount = readAmount(version, given, network);
  if (!amount.ok) return amount;
  const asset = readAsset(given.asset, network);
  if (!asset.ok) return asset;
  const payTo = readPayee(given.payTo, network, asset.asset);
  if (!payTo.ok) return payTo;
  const seconds = given.maxTimeoutSeconds;
  if (typeof seconds !== "number" || !(seconds >= 1)) {
    return unpayable(`maxTimeoutSeconds must be a number of at least 1, got ${quote(seconds)}`);
  }
  const extra = given.extra ?? {};
  if (!isRecord(extra)) return unpayable(`extra must be an object, got ${quote(extra)}`);
  const terms = readTerms({ network, asset: asset.asset, token: asset.token, extra });
  if (!terms.ok) return terms;
  if (version === 2 && JSON.stringify(given).length > MAX_OFFER_LENGTH) {
    return unpayable(`the offer has more than ${MAX_OFFER_LENGTH} characters, too many to be sent back`);
  }
  const offer: Offer = {
    index,
    version,
    network,
    method: terms.method,
    flow: terms.flow,
    asset: asset.asset,
    token: asset.token,
    amount: amount.amount,
    payTo: payTo.payTo,
    maxTimeoutSeconds: Math.min(Math.floor(seconds), MAX_SECONDS),
    extra,
    given,
  };
  return { ok: true, offer };
}

const FIELD = { 1: "maxAmountRequired", 2: "amount" } as const;

/** Decimal digits in atomic units, and nothing else: a number could have lost some of them. */
function readAmount(version: 1 | 2, given: Given, { family }: Network) {
  const [field, other] = [FIELD[version], FIELD[version === 1 ? 2 : 1]];
  const text = given[field];
  if (typeof text !== "string") return unpayable(`${field} must be digits as text, got ${quote(text)}`);
  const parsed = parseInteger(text, family === "solana" ? MAX_UINT64 : MAX_UINT256);
  if (!parsed.ok) return unpayable(`${field} ${quote(text)} ${parsed.problem}`);
  if (parsed.amount === 0n) return unpayable(`${field} is 0: there is nothing to pay`);
  // Invariant: a price that is said twice is one price, or none.
  if (given[other] !== undefined && given[other] !== null && given[other] !== text) {
    return unpayable(`${field} ${quote(text)} and ${other} ${quote(given[other])} are two prices`);
  }
  return parsed;
}

type ReadAsset =
  | { readonly ok: true; readonly asset: string; readonly token: Token | undefined }
  | ReturnType<typeof unpayable>;

function readAsset(given: unknown, network: Network): ReadAsset {
  if (typeof given !== "string" || !isAddressOf(network.family, given)) {
    return unpayable(`asset ${quote(given)} is no address on ${network.name}${checksumHint(network)}`);
  }
  const native = wireAsset({ asset: NATIVE, network: network.id });
  if (given.toLowerCase() === native) return { ok: true, asset: NATIVE, token: undefined };
  const token = tokenByAddress(network, given);
  return { ok: true, asset: token?.address ?? spell(given, network), token };
}

function readPayee(given: unknown, network: Network, asset: string) {
  if (typeof given !== "string" || !isAddressOf(network.family, given)) {
    return unpayable(`payTo ${quote(given)} is no address on ${network.name}${checksumHint(network)}`);
  }
  const payTo = spell(given, network);
  // The two addresses that are written by mistake; what they get is lost.
  if (payTo === wireAsset({ asset: NATIVE, network: network.id }))
    return unpayable(`payTo ${payTo} is nobody's address`);
  return payTo === asset
    ? unpayable("payTo is the asset itself, which is nobody's address")
    : ({ ok: true, payTo } as const);
}

const spell = (address: string, { family }: Network) => (family === "evm" ? checksumAddress(address) : address);
const checksumHint = ({ family }: Network) => (family === "evm" ? ", its checksum included" : "");
