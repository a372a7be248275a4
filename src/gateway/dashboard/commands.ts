// Commands that do what a page does, to be copied into a shell: whatever somebody has named is quoted for it.
import { formatDecimal } from "../../money.js";
import type { HostedWallet, WalletLimit } from "../database/database.js";
import type { GatewayNetworks } from "../parts.js";
import type { CreateKeyRequest } from "../schemas/admin.js";
import { assetOf } from "./show.js";

/** @example quote("it's") // `'it'\''s'` */
export const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

export function createKeyCommand(account: string, request: CreateKeyRequest): string {
  const { name, mode, plan, scopes, wallets = [], rateLimit } = request;
  return [
    `tollgate keys create --account ${account} --name ${quote(name)} --${mode} --plan ${quote(plan)} --scopes ${scopes.join(",")}`,
    ...(wallets.length > 0 ? [`--wallets ${wallets.map((id) => id.replaceAll(/[^\w]/g, "")).join(",")}`] : []),
    ...(rateLimit === undefined ? [] : [`--rate-limit ${rateLimit}`]),
  ].join(" ");
}

/** The command replaces all limits of a wallet, so it names the others too. */
export function limitCommand(networks: GatewayNetworks, { id, limits }: HostedWallet, limit: WalletLimit): string {
  const others = limits.filter(({ network, asset }) => network !== limit.network || asset !== limit.asset);
  const options = [...others, limit].map(({ network, asset, perPayment, perDay }) => {
    const { decimals } = assetOf(networks, network, asset);
    const amount = (atomic: bigint) => formatDecimal(atomic, decimals);
    return `--limit "${network} ${asset} ${amount(perPayment)}/payment ${amount(perDay)}/day"`;
  });
  return [`tollgate wallets limit ${id}`, ...options].join(" ");
}
