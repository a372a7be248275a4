// What `tollgate gateway` says at its start: where it is, what it serves and at whose cost, and what is missing with how to set
// it. The first key of a new database stands in a box of its own, once.
import { addressOfSecret } from "../chains/solana/settlers.js";
import type { ApiKey } from "../gateway/caller.js";
import type { GatewayNetwork } from "../gateway/chain.js";
import { placeOf } from "../gateway/dashboard/place.js";
import type { Gateway } from "../gateway/gateway.js";
import type { GatewaySettings, NetworkSettings } from "../gateway/settings.js";
import { formatDecimal } from "../money.js";
import { environmentName } from "../networks.js";
import { findUnfitNodes } from "./nodes.js";
import { box, columns } from "./print.js";

/** A node that does not answer holds up no start. */
const BALANCE_MS = 3_000;

/** Asks each settler's balance and each node's chain once. */
export async function formatBanner(
  { settings, networks, database }: Pick<Gateway, "settings" | "networks" | "database">,
  url: string,
  warnings: readonly string[],
): Promise<string[]> {
  const [rows, unfit, vault] = await Promise.all([
    Promise.all(settings.networks.map((one) => rowOf(one, networks.find(one.network.id)))),
    findUnfitNodes(networks),
    database.wallets.readVault(),
  ]);
  const hints = [...unfit, ...missing(settings, vault !== undefined), ...warnings];
  return [
    `The gateway listens at ${url}${settings.publicUrl === undefined ? "" : `, for callers ${settings.publicUrl}`}`,
    `  API        ${url}/docs and ${url}/openapi.json`,
    `  Database   ${"file" in settings.database ? settings.database.file : `Postgres at ${hostOf(settings.database.url)}`}`,
    "  Networks",
    ...columns(rows).map((line) => `    ${line}`),
    ...(hints.length > 0 ? ["  Worth knowing", ...hints.map((hint) => `    - ${hint}`)] : []),
  ];
}

/**
 * How to sign in to the dashboard: by a link where there is one account, else by the command that makes one. For a terminal only: a
 * link signs in whoever reads it, and what is not a terminal is kept.
 */
export async function formatLogin(
  { settings, database, loginLink }: Pick<Gateway, "settings" | "database" | "loginLink">,
  url: string,
): Promise<string[]> {
  if (!settings.dashboard) return [];
  const [account, ...others] = await database.accounts.list();
  if (!account || others.length > 0 || placeOf(settings).isExposed)
    return [`  ${DASHBOARD}tollgate gateway login --account ACCOUNT`];
  return [
    `  ${DASHBOARD}${await loginLink(account.id, url)}`,
    "             good for ten minutes, once; another one: tollgate gateway login",
  ];
}

const DASHBOARD = "Dashboard  ";

const rowOf = async (one: NetworkSettings, opened: GatewayNetwork | undefined): Promise<string[]> => [
  `${one.network.name}${one.isDefault ? " (default)" : ""}`,
  assetsOf(one),
  opened ? await payerOf(one, opened) : "",
];

/** The only time that the key is shown. */
export function formatFirstKey(
  { key, secret }: { readonly key: ApiKey; readonly secret: string },
  { database }: Pick<GatewaySettings, "database">,
): string[] {
  const where = "file" in database ? ` --database ${database.file}` : "";
  const networks = key.mode === "test" ? "test networks" : "main networks";
  return box([
    `A new database: made the account ${key.account} and its first ${key.mode} key.`,
    "",
    `  ${secret}`,
    "",
    "It is not shown again. Send it as: Authorization: Bearer <key>",
    `It may ${key.scopes.join(", ")} on ${networks}, and names no hosted wallet to send from. To have both:`,
    `  tollgate wallets create${where} --name NAME --family evm --limit "NETWORK ASSET AMOUNT/payment AMOUNT/day"`,
    `  tollgate keys create${where} --name NAME --scopes send,read --wallets ID`,
  ]);
}

const assetsOf = ({ network, assets }: NetworkSettings): string =>
  [network.native.symbol, ...assets.map(({ symbol }) => symbol)].join(", ");

/** Who pays for settlements, and whether it can. */
async function payerOf({ network, settler }: NetworkSettings, opened: GatewayNetwork): Promise<string> {
  const [first] = [settler].flat();
  const address = first === undefined ? undefined : await addressOf(network.family, first);
  if (address === undefined) return "no settler: takes only payments that buyers send to the chain themselves";
  const [native] = opened.assets;
  const balance = await opened.transfers.balance(address, native, AbortSignal.timeout(BALANCE_MS));
  if (!balance.ok) return `settler ${address}: the node does not answer`;
  if (balance.value === 0n) return `settler ${address} is EMPTY: send it ${network.native.symbol}`;
  return `settler ${address} holds ${formatDecimal(balance.value, native.decimals)} ${native.symbol}`;
}

type Settler = NonNullable<Extract<NetworkSettings["settler"], string | { address: string }>>;

async function addressOf(family: "evm" | "solana", settler: Settler): Promise<string | undefined> {
  if (typeof settler !== "string") return settler.address;
  if (family === "solana") return addressOfSecret(settler);
  const { privateKeyToAddress } = await import("viem/accounts");
  return privateKeyToAddress(`0x${settler.slice(2)}`);
}

/** What is off, and what turns it on. */
function missing({ networks, passphrase, adminToken }: GatewaySettings, hasVault: boolean): string[] {
  const without = networks.filter(({ settler }) => settler === undefined);
  const hints = without.map(({ network }) => {
    const [suffix = ""] = environmentName(network);
    const family = `TOLLGATE_SETTLER_KEY_${network.family.toUpperCase()}`;
    return `Token payments on ${network.name} are not settled here: set ${family} or TOLLGATE_SETTLER_KEY_${suffix} to a key that pays for them.`;
  });
  if (passphrase === undefined) {
    hints.push(
      hasVault
        ? "The hosted wallets of this database are locked, so POST /payment/send sends nothing: set TOLLGATE_WALLET_PASSPHRASE to the passphrase with which they were sealed."
        : "There are no hosted wallets, so POST /payment/send sends nothing: set TOLLGATE_WALLET_PASSPHRASE.",
    );
  }
  if (adminToken === undefined) {
    hints.push(
      "Accounts, keys and wallets are changed by this command line only: set TOLLGATE_ADMIN_TOKEN for /admin.",
    );
  }
  return hints;
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : "");
