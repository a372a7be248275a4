// Hosted wallets and the vault that their keys are sealed under. What comes here is sealed already: nothing in this folder can
// open a key.
import { checkKey } from "../../store/codec.js";
import { proveAddress } from "./accounts.js";
import type { GatewayConnection } from "./connection.js";
import type { HostedWallet, Vault, WalletLimit, Wallets } from "./database.js";
import { lockWallet, spentBy } from "./spending.js";
import type { GatewayWork, WalletRow } from "./tables.js";
import { fromWalletRow, toLimits } from "./wallet-row.js";

/** Wallets of one database. Every change names the account, so that nobody changes what is not his. */
export function createWallets(connection: GatewayConnection): Wallets {
  const { read, write, locks } = connection;
  return {
    create: createWallet(connection),
    resealAll: createResealAll(connection),
    async get(id) {
      return fromWalletRow(
        await read((db) => db.selectFrom("gateway_wallets").selectAll().where("id", "=", id).executeTakeFirst()),
      );
    },
    async byAddress(account, mode, address) {
      const row = await read((db) =>
        db
          .selectFrom("gateway_wallets")
          .selectAll()
          .where("account", "=", account)
          .where("mode", "=", mode)
          .where("address", "=", address)
          .where("removed_at", "is", null)
          .executeTakeFirst(),
      );
      return fromWalletRow(row);
    },
    async list(account) {
      const rows = await read((db) =>
        openWallets(db).where("account", "=", account).orderBy("created_at").orderBy("id").execute(),
      );
      return rows.flatMap((row) => fromWalletRow(row) ?? []);
    },
    setLimits: (account, id, limits) => write((db) => putLimits(db, account, id, limits)),
    setLimit: (account, id, limit, mayRaise) =>
      write(async (db) => {
        const before = await lockWallet(db, id, account, locks);
        const isSame = ({ network, asset }: WalletLimit) => network === limit.network && asset === limit.asset;
        const old = before.find(isSame);
        // Invariant: judged by what stands there now, so that two changes at once raise nothing together.
        const raises = !old || limit.perPayment > old.perPayment || limit.perDay > old.perDay;
        if (raises && !mayRaise) return "raises";
        const limits = [...before.filter((one) => !isSame(one)), limit];
        return (await putLimits(db, account, id, limits)) ? "set" : "missing";
      }),
    remove: (account, id) =>
      write(async (db, now) => {
        const removed = await db
          .updateTable("gateway_wallets")
          .set({ sealed_key: null, removed_at: now })
          .where("id", "=", id)
          .where("account", "=", account)
          .where("removed_at", "is", null)
          .executeTakeFirstOrThrow();
        return removed.numUpdatedRows === 1n;
      }),
    spent: (id) => write((db, now) => spentBy(db, id, now)),
    readVault: () => read((db) => selectVault(db).executeTakeFirst()),
    createVault: ({ salt, check }) =>
      write(async (db) => {
        const made = await db
          .insertInto("gateway_vault")
          .values({ id: 1, salt, word: check })
          .onConflict((on) => on.doNothing())
          .executeTakeFirstOrThrow();
        return made.numInsertedOrUpdatedRows === 1n;
      }),
  };
}

async function putLimits(
  db: GatewayWork,
  account: string,
  id: string,
  limits: readonly WalletLimit[],
): Promise<boolean> {
  const set = await db
    .updateTable("gateway_wallets")
    .set({ limits: toLimits(limits) })
    .where("id", "=", id)
    .where("account", "=", account)
    .where("removed_at", "is", null)
    .executeTakeFirstOrThrow();
  return set.numUpdatedRows === 1n;
}

function createWallet({ write, locks }: GatewayConnection): Wallets["create"] {
  return (wallet) =>
    write(async (db, now) => {
      // Invariant: no wallet comes in while others are sealed anew, or its key would stay behind under the old passphrase.
      await lockVault(db, locks, "share");
      if (!(await proveAddress(db, wallet.account, wallet.address, now))) return undefined;
      const row = toWalletRow({ ...wallet, createdAt: now });
      const { numInsertedOrUpdatedRows } = await db
        .insertInto("gateway_wallets")
        .values(row)
        .onConflict((on) => on.doNothing())
        .executeTakeFirstOrThrow();
      return numInsertedOrUpdatedRows === 1n ? fromWalletRow(row) : undefined;
    });
}

const toWalletRow = (wallet: HostedWallet): WalletRow => ({
  id: wallet.id,
  account: wallet.account,
  mode: wallet.mode,
  family: wallet.family,
  address: wallet.address,
  name: checkKey(wallet.name),
  sealed_key: wallet.sealedKey,
  limits: toLimits(wallet.limits),
  created_at: wallet.createdAt,
  removed_at: null,
});

function createResealAll({ write, locks }: GatewayConnection): Wallets["resealAll"] {
  return ({ salt, check }: Vault, reseal) =>
    write(async (db) => {
      await lockVault(db, locks, "update");
      // With the keys, or not at all: a crash never leaves a vault that opens none of them.
      const vault = { salt, word: check };
      await db
        .insertInto("gateway_vault")
        .values({ id: 1, ...vault })
        .onConflict((on) => on.column("id").doUpdateSet(vault))
        .execute();
      const wallets = (await openWallets(db).execute()).flatMap((row) => fromWalletRow(row) ?? []);
      for (const wallet of wallets) {
        // One that was removed meanwhile stays removed.
        await db
          .updateTable("gateway_wallets")
          .set({ sealed_key: reseal(wallet) })
          .where("id", "=", wallet.id)
          .where("removed_at", "is", null)
          .execute();
      }
      return wallets.length;
    });
}

const openWallets = (db: Pick<GatewayWork, "selectFrom">) =>
  db.selectFrom("gateway_wallets").selectAll().where("removed_at", "is", null);

const selectVault = (db: Pick<GatewayWork, "selectFrom">) =>
  db.selectFrom("gateway_vault").select(["salt", "word as check"]).where("id", "=", 1);

/** `share`: the vault stays as it is until the transaction ends; `update`: nobody else relies on it either. */
async function lockVault(db: GatewayWork, locks: boolean, how: "share" | "update"): Promise<void> {
  await selectVault(db)
    .$if(locks && how === "share", (query) => query.forShare())
    .$if(locks && how === "update", (query) => query.forUpdate())
    .execute();
}
