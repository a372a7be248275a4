// Hosted wallets in the operator's API: made, imported, listed with what they hold, limited, removed. A key that is imported
// stands in no answer, no log line and no message.
import { PaywallConfigError } from "../../errors.js";
import { formatDecimal } from "../../money.js";
import type { Asset, GatewayNetwork } from "../chain.js";
import type { HostedWallet } from "../database/database.js";
import { fault, invalidField, type Outcome } from "../errors.js";
import type { Custody, GatewayNetworks } from "../parts.js";
import { changeLimitsRequest, createWalletRequest, type WalletRecord } from "../schemas/admin.js";
import { assetsOfNetworks } from "./assets.js";
import { readLimits } from "./limits.js";
import { toWalletRecord } from "./records.js";
import { type AdminApp, type AdminParts, type Audit, NO_ACCOUNT, route, withBody, without } from "./route.js";

/** A node that does not answer holds up no list. */
const BALANCE_MS = 5_000;

export function routeWallets(app: AdminApp, { database, networks, custody }: AdminParts, audit: Audit): void {
  const find = assetsOfNetworks(networks);
  const ofAccount = async (account: string, id: string) => {
    const wallet = await database.wallets.get(id);
    return wallet?.account === account ? wallet : undefined;
  };
  route(
    app,
    "/accounts/:account/wallets",
    without("get", async ({ params: { account = "" }, signal }) => {
      if (!(await database.accounts.get(account))) return NO_ACCOUNT;
      const wallets = await database.wallets.list(account);
      const records = wallets.map(async (wallet): Promise<WalletRecord> => {
        const balances = await readBalances(wallet, networks, signal);
        return { ...toWalletRecord(wallet, find), balances };
      });
      return { ok: true, value: { wallets: await Promise.all(records) } };
    }),
    withBody("post", createWalletRequest, async (call) => {
      const { account = "" } = call.params;
      const { secret, limits: requests, ...wanted } = call.body;
      if (!(await database.accounts.get(account))) return NO_ACCOUNT;
      if (!custody) return NO_CUSTODY;
      const limits = readLimits(requests, wanted, find);
      if (!limits.ok) return limits;
      const made = await lodge(custody, { ...wanted, account, limits: limits.value }, secret);
      if (!made.ok) return made;
      const { id, address, mode } = made.value;
      audit(call, secret === undefined ? "wallet made" : "wallet imported", { account, wallet: id, address, mode });
      return { ok: true, value: { wallet: toWalletRecord(made.value, find) } };
    }),
  );
  route(
    app,
    "/accounts/:account/wallets/:wallet",
    withBody("patch", changeLimitsRequest, async (call) => {
      const { account = "", wallet: id = "" } = call.params;
      const wallet = await ofAccount(account, id);
      if (!wallet) return NO_WALLET;
      const limits = readLimits(call.body.limits, wallet, find);
      if (!limits.ok) return limits;
      if (!(await database.wallets.setLimits(account, id, limits.value))) return NO_WALLET;
      const record = toWalletRecord({ ...wallet, limits: limits.value }, find);
      audit(call, "wallet limited", { account, wallet: id, limits: record.limits });
      return { ok: true, value: { wallet: record } };
    }),
    without("delete", async (call) => {
      const { account = "", wallet: id = "" } = call.params;
      if (!(await database.wallets.remove(account, id))) return NO_WALLET;
      audit(call, "wallet removed", { account, wallet: id });
      return { ok: true, value: { wallet: { id, removed: true } } };
    }),
  );
}

const NO_WALLET = fault("NOT_FOUND", "this account has no such wallet");
const NO_CUSTODY = fault(
  "UNAVAILABLE",
  "this gateway has no passphrase for hosted wallets: set TOLLGATE_WALLET_PASSPHRASE",
);

const OLD_PASSPHRASE = fault("UNAVAILABLE", "the passphrase of hosted wallets was replaced: start this gateway again");

type Wanted = Parameters<Custody["create"]>[0];

async function lodge(custody: Custody, wanted: Wanted, secret: string | undefined): Promise<Outcome<HostedWallet>> {
  try {
    const wallet = await (secret === undefined ? custody.create(wanted) : custody.import({ ...wanted, secret }));
    if (wallet) return { ok: true, value: wallet };
  } catch (error) {
    // The passphrase was rotated beside this process: nothing was sealed under the old one.
    if (error instanceof PaywallConfigError) return OLD_PASSPHRASE;
    // What was given is no key; custody's sentence says what was expected, and nothing of what came.
    if (!(error instanceof RangeError)) throw error;
    return invalidField("secret", error.message);
  }
  const message = "this account has the wallet already, or another account has shown that it is theirs";
  return fault("FORBIDDEN", message);
}

/** Everything that the wallet may hold on the networks that it reaches. */
async function readBalances(
  { address, family, mode }: HostedWallet,
  networks: GatewayNetworks,
  signal: AbortSignal,
): Promise<NonNullable<WalletRecord["balances"]>> {
  const reached = networks.all.filter(
    ({ network }) => network.family === family && network.testnet === (mode === "test"),
  );
  const until = AbortSignal.any([signal, AbortSignal.timeout(BALANCE_MS)]);
  const one = async (network: GatewayNetwork, asset: Asset) => {
    const balance = await network.transfers.balance(address, asset, until);
    return {
      network: network.network.id,
      asset: asset.address,
      symbol: asset.symbol,
      amount: balance.ok ? formatDecimal(balance.value, asset.decimals) : null,
      amountAtomic: balance.ok ? String(balance.value) : null,
    };
  };
  return Promise.all(reached.flatMap((network) => network.assets.map((asset) => one(network, asset))));
}
