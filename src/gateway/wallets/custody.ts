// Hosted wallets: made or imported here, kept sealed in the database, opened for one signature at a time. The passphrase is
// checked once, at start, against a sealed word; it stays in no field and no file.
import type { GatewayDatabase, HostedWallet, Vault as KeptVault, Wallets } from "../database/database.js";
import { createId } from "../database/ids.js";
import type { Custody, NewHostedWallet } from "../parts.js";
import { checkPassphrase, refused } from "./passphrase.js";
import { addressOf, newSecret, readSecret } from "./secrets.js";
import { createTransferSigner } from "./signers.js";
import { createVault, newSalt, opensWord, sealWord, type Vault } from "./vault.js";

/** What custody needs of the database. */
export type CustodyDatabase = Pick<GatewayDatabase, "wallets">;

/**
 * Opens the hosted wallets of a database, in about half a second; the first passphrase of a database is the one that it keeps.
 * Undefined without a passphrase.
 *
 * @throws PaywallConfigError where the passphrase is weak, or not the one with which this database was begun.
 * @example
 * const custody = await openCustody(settings.passphrase, database);
 * const wallet = await custody?.create({ account, mode: "test", family: "evm", name: "shop", limits });
 */
export async function openCustody(
  passphrase: string | undefined,
  database: CustodyDatabase,
): Promise<Custody | undefined> {
  if (passphrase === undefined) return undefined;
  checkPassphrase(passphrase);
  const opened = await openVault(passphrase, database.wallets);
  return {
    async create(wallet) {
      return lodge(database, opened, wallet, await newSecret(wallet.family));
    },
    async import({ secret, ...wallet }) {
      return lodge(database, opened, wallet, await readSecret(wallet.family, secret));
    },
    signer({ id, account, family, address, sealedKey }) {
      return createTransferSigner(family, address, () => opened.vault.open(sealedKey, { account, wallet: id }));
    },
  };
}

export interface OpenedVault {
  readonly vault: Vault;
  /** The sealed word as it stands in the database: another one means another passphrase. */
  readonly check: string;
}

/** @throws PaywallConfigError where the passphrase is not the database's. */
export async function openVault(
  passphrase: string,
  wallets: Pick<Wallets, "readVault" | "createVault">,
): Promise<OpenedVault> {
  const kept = (await wallets.readVault()) ?? (await beginVault(passphrase, wallets));
  const vault = await createVault(passphrase, kept.salt);
  if (opensWord(vault, kept.check)) return { vault, check: kept.check };
  throw refused(
    undefined,
    "expected the passphrase with which this database's wallets were sealed, got another one",
    "set that one; `tollgate wallets rotate-passphrase` changes it",
  );
}

/** The vault of a new database: this process's, or that of another one which was faster. */
async function beginVault(passphrase: string, wallets: Pick<Wallets, "readVault" | "createVault">): Promise<KeptVault> {
  const salt = newSalt();
  const check = sealWord(await createVault(passphrase, salt));
  await wallets.createVault({ salt, check });
  const kept = await wallets.readVault();
  if (!kept) throw new Error("The database does not keep the vault of hosted wallets that was written into it");
  return kept;
}

/** Undefined = the account has this address lodged already, or another account has shown that it is theirs. */
async function lodge(
  { wallets }: CustodyDatabase,
  { vault, check }: OpenedVault,
  { account, mode, family, name, limits }: NewHostedWallet,
  secret: Buffer,
): Promise<HostedWallet | undefined> {
  const id = createId("wal");
  try {
    const address = await addressOf(family, secret);
    if (address === undefined) throw new RangeError(`The bytes are no ${family} key`);
    const sealedKey = vault.seal(secret, { account, wallet: id });
    const wallet = await wallets.create({ id, account, mode, family, address, name, sealedKey, limits });
    // Invariant: a key that is sealed under a passphrase which was replaced meanwhile could never be opened again.
    if (!wallet || (await wallets.readVault())?.check === check) return wallet;
    await wallets.remove(account, id);
    const problem = "expected the present passphrase, got one that was replaced while this process ran";
    throw refused(undefined, problem, "start it again with the new one");
  } finally {
    secret.fill(0);
  }
}
