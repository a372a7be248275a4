// What a hosted wallet may send: decimal text of whole units, in atomic units and back. An asset without a limit is not sent.
import { formatDecimal, parseDecimal } from "../../money.js";
import { NETWORKS } from "../../networks.js";
import { suggestion } from "../../suggestion.js";
import type { WalletLimit } from "../database/database.js";
import { invalidField, type Outcome } from "../errors.js";
import { isNamed } from "../options/assets.js";
import type { Mode } from "../payment.js";
import type { WalletLimitRequest, WalletRecord } from "../schemas/admin.js";
import type { FindNetwork, KnownNetwork, NamedAsset } from "./assets.js";

/** The wallet that the limits are for. */
interface LimitedWallet {
  readonly mode: Mode;
  readonly family: "evm" | "solana";
}

/** Every limit in atomic units; the first that is wrong is the fault. */
export function readLimits(
  requests: readonly WalletLimitRequest[],
  wallet: LimitedWallet,
  find: FindNetwork,
): Outcome<readonly WalletLimit[]> {
  const limits: WalletLimit[] = [];
  for (const [index, request] of requests.entries()) {
    const limit = readLimit(request, `limits.${index}`, wallet, find);
    if (!limit.ok) return limit;
    const isTwice = limits.some(({ network, asset }) => network === limit.value.network && asset === limit.value.asset);
    if (isTwice) return invalidField(`limits.${index}`, "this asset has a limit already: keep one");
    limits.push(limit.value);
  }
  return { ok: true, value: limits };
}

function readLimit(
  { network: networkName, asset: assetName, perPayment, perDay }: WalletLimitRequest,
  path: string,
  { mode, family }: LimitedWallet,
  find: FindNetwork,
): Outcome<WalletLimit> {
  const network = find(networkName);
  if (!network) {
    const known = NETWORKS.map(({ name }) => name).filter((name) => find(name) !== undefined);
    const hint = suggestion(networkName, known);
    return invalidField(`${path}.network`, `there is no network ${JSON.stringify(networkName)} here; ${hint}`);
  }
  const mismatch = mismatchOf(network, mode, family);
  if (mismatch) return invalidField(`${path}.network`, mismatch);
  const asset = findNamed(network, assetName);
  if (!asset) {
    const known = network.assets.map(({ symbol }) => symbol).join(", ");
    return invalidField(
      `${path}.asset`,
      `expected one of ${known} on ${network.name}; got ${JSON.stringify(assetName)}`,
    );
  }
  const once = readAmount(perPayment, asset);
  if (typeof once === "string") return invalidField(`${path}.perPayment`, once);
  const daily = readAmount(perDay, asset);
  if (typeof daily === "string") return invalidField(`${path}.perDay`, daily);
  if (once > daily) return invalidField(`${path}.perPayment`, "it is more than what may be sent in a day");
  return { ok: true, value: { network: network.id, asset: asset.address, perPayment: once, perDay: daily } };
}

function mismatchOf(network: KnownNetwork, mode: Mode, family: string): string | undefined {
  if (network.family !== family) return `${network.name} is no network of an ${family} wallet`;
  if (network.testnet === (mode === "test")) return undefined;
  return `${network.name} is a ${network.testnet ? "test" : "main"} network, and this is a ${mode} wallet`;
}

function findNamed({ assets }: KnownNetwork, name: string | undefined): NamedAsset | undefined {
  if (name === undefined) return assets[0];
  return assets.find((asset) => isNamed(asset, name));
}

/** Atomic units, or what is wrong with the text. */
function readAmount(text: string, { decimals, symbol }: NamedAsset): bigint | string {
  const parsed = parseDecimal(text, decimals);
  if (!parsed.ok) return `${text} ${parsed.problem} (${symbol})`;
  return parsed.amount === 0n ? "expected more than 0" : parsed.amount;
}

/** A limit in words and exactly; an asset that is not known here any more is told in atomic units. */
export function formatLimit(limit: WalletLimit, find: FindNetwork): WalletRecord["limits"][number] {
  const network = find(limit.network);
  const asset = network?.assets.find(({ address }) => address === limit.asset);
  const inUnits = (amount: bigint) => (asset ? formatDecimal(amount, asset.decimals) : `${amount} atomic units`);
  return {
    network: limit.network,
    asset: limit.asset,
    symbol: asset?.symbol ?? limit.asset,
    perPayment: inUnits(limit.perPayment),
    perPaymentAtomic: String(limit.perPayment),
    perDay: inUnits(limit.perDay),
    perDayAtomic: String(limit.perDay),
  };
}
