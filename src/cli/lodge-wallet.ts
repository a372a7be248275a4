// `tollgate wallets create`, `import`, `rotate-passphrase`: what handles keys. A key or a passphrase comes from the environment,
// a file, a hidden prompt or standard input, never from the arguments, and is printed nowhere.
import { assetsOfSettings } from "../gateway/admin/assets.js";
import { readLimits } from "../gateway/admin/limits.js";
import { toWalletRecord } from "../gateway/admin/records.js";
import type { HostedWallet } from "../gateway/database/database.js";
import { readSecretSetting } from "../gateway/options.js";
import type { Custody, NewHostedWallet } from "../gateway/parts.js";
import { openCustody } from "../gateway/wallets/custody.js";
import { rotatePassphrase } from "../gateway/wallets/rotate.js";
import { checkName } from "./accounts.js";
import { defineCommand, type OptionSpecs, type Values } from "./command.js";
import { ACCOUNT_OPTION, findAccount, type Opened, refused, withDatabase } from "./database.js";
import { CliError, type Io, usage } from "./io.js";
import { MODE_OPTIONS, readMode } from "./keys.js";
import { LIMIT_FORM, parseLimit } from "./limit-text.js";
import { printResult } from "./print.js";
import { readNewSecret, readSecretInput } from "./prompt.js";
import { DATABASE_OPTIONS, JSON_OPTION } from "./settings.js";
import { formatLimits, WITH_NETWORKS } from "./wallets.js";

const PASSPHRASE = "TOLLGATE_WALLET_PASSPHRASE";

const lodgeOptions = {
  ...ACCOUNT_OPTION,
  name: { type: "string", value: "NAME", description: "How it is called in lists" },
  family: { type: "string", value: "evm|solana", description: "The chain family of its address" },
  ...MODE_OPTIONS,
  limit: { type: "string", multiple: true, value: LIMIT_FORM, description: "What it may send of one asset" },
  ...DATABASE_OPTIONS,
  ...JSON_OPTION,
} as const satisfies OptionSpecs;

const AFTER = [
  `The key is sealed under the passphrase of ${PASSPHRASE} (or the file of ${PASSPHRASE}_FILE, or a hidden prompt).`,
  "Without a limit nothing is sent; only keys that name the wallet can open it: tollgate keys create --wallets ID --scopes send.",
];

export const walletsCreate = defineCommand({
  name: "wallets create",
  summary: "Make a hosted wallet that the gateway sends from",
  details: AFTER,
  options: lodgeOptions,
  examples: ['tollgate wallets create --name agent --family evm --limit "base-sepolia ETH 0.01/payment 0.1/day"'],
  run: (values, io) => lodge(values, io, (custody, wallet) => custody.create(wallet)),
});

export const walletsImport = defineCommand({
  name: "wallets import",
  summary: "Import a private key that you have as a hosted wallet",
  details: [
    "The key is read from a hidden prompt or from standard input: tollgate wallets import --name agent --family evm < key.",
    "EVM: 0x and 64 hex digits. Solana: base58 of 64 bytes, or a 32-byte seed as 64 hex digits.",
    ...AFTER,
  ],
  options: lodgeOptions,
  run: (values, io) =>
    lodge(values, io, async (custody, wallet) => {
      const secret = await readSecretInput(io, "Private key");
      try {
        return await custody.import({ ...wallet, secret });
      } catch (error) {
        // Custody's sentence says what was expected, and nothing of what came.
        if (error instanceof RangeError) throw new CliError(error.message, 2);
        throw error;
      }
    }),
});

async function lodge(
  values: Values<typeof lodgeOptions>,
  io: Io,
  make: (custody: Custody, wallet: NewHostedWallet) => Promise<HostedWallet | undefined>,
): Promise<void> {
  const [name, mode, family] = [checkName(values.name, "The wallet"), readMode(values), readFamily(values.family)];
  const requests = (values.limit ?? []).map(parseLimit);
  const record = await withDatabase(
    io,
    values,
    lodgeOptions,
    async ({ settings, database }) => {
      const account = await findAccount(database, values.account);
      const find = assetsOfSettings(settings);
      const limits = readLimits(requests, { mode, family }, find);
      if (!limits.ok) throw refused(limits);
      const custody = await openCustody(await presentPassphrase(io, { settings, database }), database);
      if (!custody) throw new Error("custody was opened with a passphrase and is not there");
      const wallet = await make(custody, { account: account.id, mode, family, name, limits: limits.value });
      if (wallet) return toWalletRecord(wallet, find);
      throw new CliError("This account has the wallet already, or another account has shown that it is theirs");
    },
    WITH_NETWORKS,
  );
  const limits = formatLimits(record) || 'nothing yet: tollgate wallets limit ID --limit "…"';
  printResult(io, values.json, record, `Keeps the wallet ${record.id}: ${record.address}`);
  io.stderr.write(`It may send ${limits}\n`);
}

function readFamily(text: string | undefined): "evm" | "solana" {
  if (text === "evm" || text === "solana") return text;
  throw usage("The chain family of the wallet is missing: --family evm or --family solana");
}

/** From the settings, or asked for where somebody sits at a terminal; the first one of a database is asked for twice. */
async function presentPassphrase(io: Io, { settings, database }: Opened): Promise<string> {
  if (settings.passphrase !== undefined) return settings.passphrase;
  if (!io.stdin.isTTY) {
    throw usage(
      `There is no passphrase for hosted wallets: set ${PASSPHRASE}, or ${PASSPHRASE}_FILE to a file that holds it`,
    );
  }
  const isFirst = (await database.wallets.readVault()) === undefined;
  return isFirst ? readNewSecret(io, "New wallet passphrase") : readSecretInput(io, "Wallet passphrase");
}

const rotateOptions = { ...DATABASE_OPTIONS, ...JSON_OPTION } as const;
const NEW = `${PASSPHRASE}_NEW`;

export const walletsRotatePassphrase = defineCommand({
  name: "wallets rotate-passphrase",
  summary: "Seal all hosted wallets under another passphrase",
  details: [
    `The present one comes from ${PASSPHRASE} or ${PASSPHRASE}_FILE,`,
    `the new one from ${NEW} or ${NEW}_FILE; what is not set is asked for.`,
    "It is one transaction. Gateways that run meanwhile must be started again with the new one.",
  ],
  options: rotateOptions,
  async run(values, io) {
    const given = readSecretSetting(io.env, NEW);
    const wallets = await withDatabase(io, values, rotateOptions, async (opened) => {
      const present = await presentPassphrase(io, opened);
      return rotatePassphrase(opened.database, present, given ?? (await readNewSecret(io, "New wallet passphrase")));
    });
    printResult(io, values.json, { wallets }, `Sealed ${wallets} wallets under the new passphrase`);
    io.stderr.write(`Set ${PASSPHRASE} to the new one and start the gateway again.\n`);
  },
});
