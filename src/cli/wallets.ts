// `tollgate wallets list`, `limit`, `remove`: the wallets that the gateway sends from. No key is opened here.
import { assetsOfSettings } from "../gateway/admin/assets.js";
import { readLimits } from "../gateway/admin/limits.js";
import { toWalletRecord } from "../gateway/admin/records.js";
import type { GatewayDatabase, HostedWallet } from "../gateway/database/database.js";
import type { WalletRecord } from "../gateway/schemas/admin.js";
import { defineCommand } from "./command.js";
import { ACCOUNT_OPTION, findAccount, refused, withDatabase } from "./database.js";
import { CliError, usage } from "./io.js";
import { LIMIT_FORM, parseLimit } from "./limit-text.js";
import { printList, printResult } from "./print.js";
import { confirm } from "./prompt.js";
import { DATABASE_OPTIONS, JSON_OPTION } from "./settings.js";

/** Tokens of the operator's own have their decimals in the settings of their network. */
export const WITH_NETWORKS = { networks: "optional" } as const;

/** Of its account, by id or address. */
export async function findWallet(
  database: GatewayDatabase,
  name: string,
  accountName: string | undefined,
): Promise<HostedWallet> {
  const byId = await database.wallets.get(name);
  if (byId && accountName === undefined) return byId;
  const account = await findAccount(database, accountName);
  const isNamed = ({ id, address }: HostedWallet) =>
    id === name || (name.startsWith("0x") ? address.toLowerCase() === name.toLowerCase() : address === name);
  const found = (await database.wallets.list(account.id)).filter(isNamed);
  const [only] = found;
  if (only && found.length === 1) return only;
  if (found.length > 1) throw usage(`There is a test and a live wallet with this address: name it by its id`);
  throw new CliError(
    `There is no such wallet of ${account.id}. A wallet is named by its id (wal_…) or its address, not by its name: tollgate wallets list shows both.`,
  );
}

/** `5/payment 50/day USDC on eip155:84532`, one after the other. */
export const formatLimits = ({ limits }: WalletRecord): string =>
  limits
    .map(({ network, symbol, perPayment, perDay }) => `${symbol} ${perPayment}/payment ${perDay}/day on ${network}`)
    .join("; ");

const listOptions = { ...ACCOUNT_OPTION, ...DATABASE_OPTIONS, ...JSON_OPTION } as const;

export const walletsList = defineCommand({
  name: "wallets list",
  summary: "List the hosted wallets of an account",
  options: listOptions,
  async run(values, io) {
    const wallets = await withDatabase(
      io,
      values,
      listOptions,
      async ({ settings, database }) => {
        const account = await findAccount(database, values.account);
        const find = assetsOfSettings(settings);
        return (await database.wallets.list(account.id)).map((wallet) => toWalletRecord(wallet, find));
      },
      WITH_NETWORKS,
    );
    printList(io, values.json, wallets, {
      ID: ({ id }) => id,
      ADDRESS: ({ address }) => address,
      MODE: ({ mode }) => mode,
      NAME: ({ name }) => name,
      LIMITS: (wallet) => formatLimits(wallet) || "none: nothing is sent",
    });
  },
});

const limitOptions = {
  limit: { type: "string", multiple: true, value: LIMIT_FORM, description: "What may be sent of one asset" },
  none: { type: "boolean", description: "Take all limits away: nothing is sent any more" },
  ...ACCOUNT_OPTION,
  ...DATABASE_OPTIONS,
  ...JSON_OPTION,
} as const;

export const walletsLimit = defineCommand({
  name: "wallets limit",
  summary: "Set what a hosted wallet may send",
  operands: ["WALLET"],
  details: ["The limits that are given replace all that the wallet had. An asset without a limit is not sent."],
  options: limitOptions,
  examples: ['tollgate wallets limit wal_… --limit "base-sepolia USDC 5/payment 50/day"'],
  async run(values, io, [name = ""]) {
    const requests = (values.limit ?? []).map(parseLimit);
    if ((requests.length === 0) !== (values.none === true)) throw usage("Give --limit, once for each asset, or --none");
    const record = await withDatabase(
      io,
      values,
      limitOptions,
      async ({ settings, database }) => {
        const wallet = await findWallet(database, name, values.account);
        const find = assetsOfSettings(settings);
        const limits = readLimits(requests, wallet, find);
        if (!limits.ok) throw refused(limits);
        if (!(await database.wallets.setLimits(wallet.account, wallet.id, limits.value))) throw gone(wallet);
        return toWalletRecord({ ...wallet, limits: limits.value }, find);
      },
      WITH_NETWORKS,
    );
    printResult(io, values.json, record, `${record.id} may send: ${formatLimits(record) || "nothing"}`);
  },
});

const removeOptions = {
  yes: { type: "boolean", description: "Do not ask" },
  ...ACCOUNT_OPTION,
  ...DATABASE_OPTIONS,
  ...JSON_OPTION,
} as const;

export const walletsRemove = defineCommand({
  name: "wallets remove",
  summary: "Forget the key of a hosted wallet, for ever",
  operands: ["WALLET"],
  details: [
    "What the wallet holds can be reached only by whoever has its key elsewhere. Payments stay in the records.",
  ],
  options: removeOptions,
  async run(values, io, [name = ""]) {
    const wallet = await withDatabase(io, values, removeOptions, async ({ database }) => {
      const found = await findWallet(database, name, values.account);
      if (!values.yes)
        await confirm(io, `Forget the key of ${found.id} (${found.address})? What it holds may be lost.`);
      if (!(await database.wallets.remove(found.account, found.id))) throw gone(found);
      return found;
    });
    const { id, account, address } = wallet;
    printResult(io, values.json, { id, account, address, removed: true }, `Forgot the key of ${id} (${address})`);
  },
});

const gone = ({ id }: HostedWallet): CliError => new CliError(`${id} was removed meanwhile`);
