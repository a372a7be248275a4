// What every database of the gateway promises of accounts, keys and hosted wallets.
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { GatewayDatabase, HostedWallet, NewKey } from "../../../src/gateway/database/database.js";
import type { MakeGround } from "./ground.js";
import { NETWORK, newAccount, newWallet, RECIPIENT, SENDER } from "./payments-made.js";

const keyOf = (account: string, more: Partial<NewKey> = {}): NewKey => ({
  account,
  name: "server",
  mode: "test",
  plan: "standard",
  scopes: ["send", "read"],
  ...more,
});

export function describeAccounts(name: string, make: MakeGround): void {
  describe(`accounts in ${name}`, () => {
    it("are made, found and listed in the order in which they were made", async () => {
      const { database, advance } = await make();
      const first = await database.accounts.create("shop");
      await advance(10);
      const second = await database.accounts.create("shop");
      expect(first).toMatchObject({ name: "shop", id: expect.stringMatching(/^acc_[1-9A-HJ-NP-Za-km-z]{22}$/) });
      expect(await database.accounts.get(second.id)).toEqual(second);
      expect(await database.accounts.get("acc_nobody")).toBeUndefined();
      expect(await database.accounts.list()).toEqual([first, second]);
    });

    it("have one first account, however many instances begin at once", async () => {
      const { database, another } = await make();
      const both = [database, await another()];
      const made = await Promise.all(
        Array.from({ length: 20 }, (_, at) => both[at % 2]!.accounts.createFirst("default")),
      );
      expect(made.filter((account) => account !== undefined)).toHaveLength(1);
      expect(await database.accounts.list()).toEqual(made.filter((account) => account !== undefined));
    });

    it("own an address that they showed first, in whatever letters it is written", async () => {
      const { database, another } = await make();
      const accounts = [await newAccount(database), await newAccount(database)];
      const both = [database, await another()];
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, at) => {
          const address = at % 3 === 0 ? SENDER.toLowerCase() : SENDER;
          return both[at % 2]!.accounts.prove(accounts[at % 2]!, address);
        }),
      );
      const owner = await database.accounts.ownerOf(SENDER.toLowerCase());
      expect(accounts).toContain(owner);
      expect(results).toEqual(results.map((_, at) => accounts[at % 2] === owner));
      expect(await database.accounts.ownerOf(SENDER)).toBe(owner);
      expect(await database.accounts.ownerOf(RECIPIENT)).toBeUndefined();
      await expect(database.accounts.prove("acc_nobody", RECIPIENT)).rejects.toThrow("there is no account");
      // The letters of a Solana address are the address.
      const solana = "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin";
      expect(await database.accounts.prove(accounts[0]!, solana)).toBe(true);
      expect(await database.accounts.ownerOf(solana.toLowerCase())).toBeUndefined();
    });

    it("use a nonce of a message once, for its purpose, before it expires", async () => {
      const { database, another, advance } = await make();
      const now = await database.now();
      for (const nonce of ["a", "b", "c"]) await database.accounts.rememberNonce(nonce, "sign-in", now + 50_000);
      expect(await database.accounts.useNonce("a", "prove")).toBe(false);
      expect(await database.accounts.useNonce("unknown", "sign-in")).toBe(false);
      const both = [database, await another()];
      const used = await Promise.all(
        Array.from({ length: 20 }, (_, at) => both[at % 2]!.accounts.useNonce("a", "sign-in")),
      );
      expect(used.filter(Boolean)).toHaveLength(1);
      await advance(40_000);
      expect(await database.accounts.useNonce("b", "sign-in")).toBe(true);
      await advance(10_000);
      expect(await database.accounts.useNonce("c", "sign-in")).toBe(false);
    });
  });
}

export function describeKeys(name: string, make: MakeGround): void {
  describe(`keys in ${name}`, () => {
    it("are shown once, and kept as their public part and a hash", async () => {
      const { database } = await make();
      const account = await newAccount(database);
      const more = { wallets: ["wal_1"], rateLimit: 5000, expiresAt: 1_900_000_000_000, plan: "enterprise" };
      const { key, secret } = await database.keys.create(keyOf(account, { ...more, mode: "live" }));
      expect(secret).toMatch(/^tg_live_[1-9A-HJ-NP-Za-km-z]{40,44}$/);
      expect(key).toMatchObject({ ...keyOf(account, { ...more, mode: "live" }), lastUsedAt: null, revokedAt: null });
      expect(key.prefix).toBe(secret.slice(0, "tg_live_".length + 8));
      const hash = createHash("sha256").update(secret).digest("hex");
      expect(await database.keys.find(key.prefix)).toEqual({ key, hash });
      expect(JSON.stringify([await database.keys.list(account), await database.keys.get(key.id)])).not.toContain(
        secret.slice(key.prefix.length),
      );
      expect(await database.keys.find("tg_live_unknown1")).toBeUndefined();
      expect(await database.keys.find(secret)).toBeUndefined();
      const plain = (await database.keys.create(keyOf(account))).key;
      expect(plain).toMatchObject({ wallets: [], rateLimit: null, expiresAt: null });
      expect(plain.prefix).toMatch(/^tg_test_/);
      await expect(database.keys.create(keyOf("acc_nobody"))).rejects.toThrow("there is no account");
    });

    it("are listed, found and revoked in their own account only", async () => {
      const { database, advance } = await make();
      const [account, stranger] = [await newAccount(database), await newAccount(database)];
      const first = (await database.keys.create(keyOf(account))).key;
      await advance(10);
      const second = (await database.keys.create(keyOf(account, { name: "next" }))).key;
      expect(await database.keys.list(account)).toEqual([first, second]);
      expect(await database.keys.list(stranger)).toEqual([]);
      expect(await database.keys.revoke(stranger, first.id)).toBe(false);
      expect((await database.keys.get(first.id))?.revokedAt).toBeNull();
      expect(await database.keys.revoke(account, first.id)).toBe(true);
      expect(await database.keys.revoke(account, first.id)).toBe(false);
      expect((await database.keys.find(first.prefix))?.key.revokedAt).toBeGreaterThan(0);
      expect((await database.keys.get(second.id))?.revokedAt).toBeNull();
    });

    it("remember their last use once a minute", async () => {
      const { database, advance } = await make();
      const { key } = await database.keys.create(keyOf(await newAccount(database)));
      const lastUse = async () => (await database.keys.get(key.id))?.lastUsedAt;
      await database.keys.used(key.id);
      const first = await lastUse();
      expect(first).toBeGreaterThanOrEqual(key.createdAt);
      await advance(50_000);
      await database.keys.used(key.id);
      expect(await lastUse()).toBe(first);
      await advance(10_000);
      await database.keys.used(key.id);
      expect(await lastUse()).toBeGreaterThanOrEqual((first ?? 0) + 60_000);
      await database.keys.used("key_unknown");
    });
  });
}

export function describeWallets(name: string, make: MakeGround): void {
  const wallet = (account: string, more: Partial<HostedWallet> = {}) => ({
    id: `wal_${more.mode ?? "test"}${account.slice(4)}`,
    account,
    mode: "test" as const,
    family: "evm" as const,
    address: SENDER,
    name: "till",
    sealedKey: "sealed",
    limits: [{ network: NETWORK, asset: "native", perPayment: 1n, perDay: 2n ** 200n }],
    ...more,
  });
  const lodge = (database: GatewayDatabase, account: string, more: Partial<HostedWallet> = {}) =>
    database.wallets.create(wallet(account, more));

  describe(`wallets in ${name}`, () => {
    it("come back as they were lodged, once per account and mode, and show whose the address is", async () => {
      const { database } = await make();
      const [account, stranger] = [await newAccount(database), await newAccount(database)];
      const lodged = await lodge(database, account);
      expect(lodged).toMatchObject(wallet(account));
      expect(await database.wallets.get(lodged!.id)).toEqual(lodged);
      expect(await database.wallets.byAddress(account, "test", SENDER)).toEqual(lodged);
      expect(await database.wallets.byAddress(account, "live", SENDER)).toBeUndefined();
      expect(await database.wallets.byAddress(stranger, "test", SENDER)).toBeUndefined();
      expect(await lodge(database, account, { id: "wal_again" })).toBeUndefined();
      const live = await lodge(database, account, { mode: "live" });
      expect(live).toMatchObject({ mode: "live" });
      expect(await database.wallets.list(account)).toEqual(expect.arrayContaining([lodged, live]));
      expect(await database.wallets.list(stranger)).toEqual([]);
      expect(await database.accounts.ownerOf(SENDER)).toBe(account);
      expect(await lodge(database, stranger)).toBeUndefined();
      expect(await database.wallets.list(stranger)).toEqual([]);
    });

    it("are not lodged by who has not shown that the address is his", async () => {
      const { database } = await make();
      const [account, stranger] = [await newAccount(database), await newAccount(database)];
      await database.accounts.prove(account, SENDER);
      expect(await lodge(database, stranger)).toBeUndefined();
      expect(await lodge(database, account)).toBeDefined();
    });

    it("are limited and removed by their account only; a removed one has forgotten its key", async () => {
      const { database } = await make();
      const [account, stranger] = [await newAccount(database), await newAccount(database)];
      const id = await newWallet(database, account);
      const limits = [{ network: NETWORK, asset: "native", perPayment: 5n, perDay: 6n }];
      expect(await database.wallets.setLimits(stranger, id, limits)).toBe(false);
      expect(await database.wallets.remove(stranger, id)).toBe(false);
      expect(await database.wallets.setLimits(account, id, limits)).toBe(true);
      expect((await database.wallets.get(id))?.limits).toEqual(limits);
      expect(await database.wallets.remove(account, id)).toBe(true);
      expect(await database.wallets.remove(account, id)).toBe(false);
      expect(await database.wallets.setLimits(account, id, limits)).toBe(false);
      expect([await database.wallets.get(id), await database.wallets.byAddress(account, "test", SENDER)]).toEqual([
        undefined,
        undefined,
      ]);
      expect(await database.wallets.list(account)).toEqual([]);
      expect(await lodge(database, account, { id: "wal_new" })).toBeDefined();
    });

    it("are sealed anew all at once with their vault, or none of them", async () => {
      const { database } = await make();
      const accounts = [await newAccount(database), await newAccount(database)];
      const ids: string[] = [];
      for (const [at, account] of accounts.entries()) {
        const address = [SENDER, RECIPIENT][at]!;
        ids.push((await lodge(database, account, { address, sealedKey: `old ${at}` }))!.id);
      }
      const removed = (await lodge(database, accounts[0]!, { id: "wal_gone", mode: "live", sealedKey: "gone" }))!.id;
      await database.wallets.remove(accounts[0]!, removed);
      expect(await database.wallets.readVault()).toBeUndefined();
      expect(await database.wallets.createVault({ salt: "a", check: "b" })).toBe(true);
      expect(await database.wallets.createVault({ salt: "c", check: "d" })).toBe(false);
      const keys = async () => Promise.all(ids.map(async (id) => (await database.wallets.get(id))?.sealedKey));
      const fails = database.wallets.resealAll({ salt: "e", check: "f" }, ({ id, sealedKey }) => {
        if (id === ids[1]) throw new Error("the second does not open");
        return `new ${sealedKey}`;
      });
      await expect(fails).rejects.toThrow("the second does not open");
      expect(await keys()).toEqual(["old 0", "old 1"]);
      expect(await database.wallets.readVault()).toEqual({ salt: "a", check: "b" });
      expect(await database.wallets.resealAll({ salt: "e", check: "f" }, (one) => `new ${one.sealedKey}`)).toBe(2);
      expect(await keys()).toEqual(["new old 0", "new old 1"]);
      expect(await database.wallets.readVault()).toEqual({ salt: "e", check: "f" });
      expect(await database.wallets.get(removed)).toBeUndefined();
    });

    it("have one vault, whichever of two processes is first", async () => {
      const { database, another } = await make();
      const both = [database, await another()];
      const made = await Promise.all(
        Array.from({ length: 10 }, (_, at) => both[at % 2]!.wallets.createVault({ salt: `${at}`, check: `${at}` })),
      );
      expect(made.filter(Boolean)).toHaveLength(1);
      const first = String(made.indexOf(true));
      expect(await database.wallets.readVault()).toEqual({ salt: first, check: first });
    });
  });
}
