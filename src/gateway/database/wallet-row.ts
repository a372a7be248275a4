// A hosted wallet as a row and back.
import type { HostedWallet, WalletLimit } from "./database.js";
import { amountText } from "./payment-row.js";
import type { WalletRow } from "./tables.js";

/** Undefined where the wallet was removed and its key forgotten. */
export function fromWalletRow(row: WalletRow | undefined): HostedWallet | undefined {
  if (row === undefined || row.sealed_key === null) return undefined;
  const { id, account, mode, family, address, name, sealed_key: sealedKey } = row;
  const limits = fromLimits(row.limits);
  return { id, account, mode, family, address, name, sealedKey, limits, createdAt: Number(row.created_at) };
}

interface LimitText {
  readonly network: string;
  readonly asset: string;
  readonly perPayment: string;
  readonly perDay: string;
}

/** @throws RangeError where two of them are about the same: which one holds would be chance. */
export function toLimits(limits: readonly WalletLimit[]): string {
  const about = new Set(limits.map(({ network, asset }) => `${network} ${asset}`));
  if (about.size < limits.length) throw new RangeError("two limits are about the same network and asset");
  const texts = limits.map(
    ({ network, asset, perPayment, perDay }): LimitText => ({
      network,
      asset,
      perPayment: amountText(perPayment),
      perDay: amountText(perDay),
    }),
  );
  return JSON.stringify(texts);
}

export const fromLimits = (json: string): readonly WalletLimit[] =>
  (JSON.parse(json) as readonly LimitText[]).map(({ network, asset, perPayment, perDay }) => ({
    network,
    asset,
    perPayment: BigInt(perPayment),
    perDay: BigInt(perDay),
  }));
