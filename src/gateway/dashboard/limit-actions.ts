// The form for what a hosted wallet may send of one asset. To lower a limit a session is enough; to raise one is a change that is
// signed.

import { NATIVE } from "../../requirement.js";
import { assetsOfNetworks } from "../admin/assets.js";
import { readLimits } from "../admin/limits.js";
import type { HostedWallet, WalletLimit } from "../database/database.js";
import { fault, type Outcome } from "../errors.js";
import type { GatewayParts } from "../parts.js";
import { walletLimit } from "../schemas/admin.js";
import { amountText, networkText } from "./show.js";
import { type Form, textOf, wordsOf } from "./signed-form.js";

export interface LimitAsked {
  readonly wallet: HostedWallet;
  readonly limit: WalletLimit;
}

export async function readLimitForm(
  { database, networks }: Pick<GatewayParts, "database" | "networks">,
  account: string,
  form: Form,
): Promise<Outcome<LimitAsked>> {
  const wallet = await database.wallets.get(textOf(form.wallet));
  if (wallet?.account !== account) return fault("NOT_FOUND", "This account has no such wallet.");
  const [network = "", asset = ""] = textOf(form.asset).split(" ");
  const { perPayment, perDay } = form;
  const parsed = walletLimit.safeParse({ network, asset, perPayment, perDay });
  if (!parsed.success) return unset(parsed.error.issues[0]?.message);
  const limits = readLimits([parsed.data], wallet, assetsOfNetworks(networks));
  if (!limits.ok) return unset(wordsOf(limits));
  const [limit] = limits.value;
  return limit ? { ok: true, value: { wallet, limit } } : unset();
}

const unset = (why = "it cannot be read") => fault("INVALID_REQUEST", `The limit was not set: ${why}.`);

export const describeLimit = (
  { networks }: Pick<GatewayParts, "networks">,
  { network, asset, perPayment, perDay }: WalletLimit,
): string => {
  const text = (amount: bigint) => amountText(networks, { network, asset, amount });
  // Two tokens of a network may call themselves the same.
  const token = asset === NATIVE ? "" : `, the token ${asset}`;
  return `${text(perPayment)} at once and ${text(perDay)} in 24 hours on ${networkText(network)}${token}`;
};
