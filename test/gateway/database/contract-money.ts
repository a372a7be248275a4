// What every database of the gateway promises of money that is not there twice: limits of wallets, gas budgets.
import { describe, expect, it } from "vitest";
import type { MakeGround } from "./ground.js";
import {
  NETWORK,
  newAccount,
  newPayment,
  newReceived,
  newWallet,
  recordOf,
  SENDER,
  settling,
} from "./payments-made.js";

const HOUR = 3_600_000;
const spending = (wallet: string, amount: bigint, more: { asset?: string; network?: string } = {}) => ({
  spend: { wallet, network: NETWORK, asset: "native", amount, ...more },
});

export function describeLimits(name: string, make: MakeGround): void {
  describe(`limits of a wallet in ${name}`, () => {
    it("hold to the last unit, per payment and per day", async () => {
      const { database } = await make();
      const account = await newAccount(database);
      const wallet = await newWallet(database, account);
      const send = (amount: bigint) => database.payments.insert(newPayment(account), spending(wallet, amount));
      expect(await send(1_001n)).toEqual({ outcome: "over_limit", limit: "per_payment", allowed: 1_000n });
      expect(await send(1_000n)).toMatchObject({ outcome: "ok" });
      expect(await send(1_000n)).toMatchObject({ outcome: "ok" });
      expect(await send(501n)).toEqual({ outcome: "over_limit", limit: "per_day", allowed: 500n });
      expect(await send(500n)).toMatchObject({ outcome: "ok" });
      expect(await send(1n)).toEqual({ outcome: "over_limit", limit: "per_day", allowed: 0n });
    });

    it("are summed exactly where no number could", async () => {
      const { database } = await make();
      const account = await newAccount(database);
      const much = 10n ** 30n;
      const wallet = await newWallet(database, account, { perPayment: much, perDay: 2n * much + 1n });
      const send = (amount: bigint) => database.payments.insert(newPayment(account), spending(wallet, amount));
      for (const amount of [much, much]) expect(await send(amount)).toMatchObject({ outcome: "ok" });
      expect(await send(2n)).toEqual({ outcome: "over_limit", limit: "per_day", allowed: 1n });
      expect(await send(1n)).toMatchObject({ outcome: "ok" });
    });

    it("allow nothing of an asset, network or wallet that has none", async () => {
      const { database } = await make();
      const [account, stranger] = [await newAccount(database), await newAccount(database)];
      const wallet = await newWallet(database, account);
      const none = { outcome: "over_limit", limit: "per_payment", allowed: 0n };
      const send = (of: string, from: string, more = {}) =>
        database.payments.insert(newPayment(of), spending(from, 1n, more));
      expect(await send(account, wallet, { asset: "0xToken" })).toEqual(none);
      expect(await send(account, wallet, { network: "eip155:8453" })).toEqual(none);
      expect(await send(account, "wal_unknown")).toEqual(none);
      expect(await send(stranger, wallet)).toEqual(none);
      await database.wallets.remove(account, wallet);
      expect(await send(account, wallet)).toEqual(none);
    });

    it("let as many of 40 racing payments through as they allow, on two connections", async () => {
      const { database, another } = await make();
      const account = await newAccount(database);
      const wallet = await newWallet(database, account, { perDay: 7_000n });
      const both = [database, await another()];
      const results = await Promise.all(
        Array.from({ length: 40 }, (_, at) =>
          both[at % 2]!.payments.insert(newPayment(account), spending(wallet, 1_000n)),
        ),
      );
      expect(results.filter(({ outcome }) => outcome === "ok")).toHaveLength(7);
      expect(results.filter(({ outcome }) => outcome === "over_limit")).toHaveLength(33);
    });

    it("are asked after the request: a repeat is a repeat, however little is left", async () => {
      const { database, another } = await make();
      const account = await newAccount(database);
      const wallet = await newWallet(database, account, { perDay: 1_000n });
      const both = [database, await another()];
      const made = newPayment(account, { idempotency: "one" });
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, at) => both[at % 2]!.payments.insert(made, spending(wallet, 1_000n))),
      );
      expect(results.map(({ outcome }) => outcome).sort()).toEqual(["ok", ...Array(19).fill("repeated")]);
    });

    it("count a payment until it has failed, and again when it arrives after all", async () => {
      const { database } = await make();
      const account = await newAccount(database);
      const wallet = await newWallet(database, account, { perDay: 1_000n });
      const send = () => database.payments.insert(newPayment(account), spending(wallet, 1_000n));
      const first = recordOf(await send());
      const submitted = (await database.payments.change(first, "submitted", {}))!;
      expect(await send()).toMatchObject({ outcome: "over_limit" });
      const expired = (await database.payments.change(submitted, "expired", {}))!;
      const second = recordOf(await send());
      const late = (await database.payments.change(expired, "confirmed", { late: true }))!;
      await database.payments.change(second, "failed", {});
      expect(await send()).toMatchObject({ outcome: "over_limit", allowed: 0n });
      await database.payments.change(late, "failed", {});
      expect(await send()).toMatchObject({ outcome: "ok" });
    });

    it("are over 24 hours, whenever the day ends", async () => {
      const { database, advance } = await make();
      const account = await newAccount(database);
      const wallet = await newWallet(database, account, { perDay: 1_000n });
      const send = () => database.payments.insert(newPayment(account), spending(wallet, 1_000n));
      await send();
      await advance(24 * HOUR - 10_000);
      expect(await send()).toMatchObject({ outcome: "over_limit" });
      await advance(10_000);
      expect(await send()).toMatchObject({ outcome: "ok" });
    });

    it("change at once, and what was spent before counts", async () => {
      const { database } = await make();
      const account = await newAccount(database);
      const wallet = await newWallet(database, account);
      const send = (amount: bigint) => database.payments.insert(newPayment(account), spending(wallet, amount));
      await send(1_000n);
      const limit = { network: NETWORK, asset: "native", perPayment: 5_000n, perDay: 1_500n };
      expect(await database.wallets.setLimits(account, wallet, [limit])).toBe(true);
      expect(await send(501n)).toEqual({ outcome: "over_limit", limit: "per_day", allowed: 500n });
      await expect(database.wallets.setLimits(account, wallet, [limit, limit])).rejects.toThrow(RangeError);
    });

    it("are known with what counts against them, for as long as it does", async () => {
      const { database, advance } = await make();
      const account = await newAccount(database);
      const wallet = await newWallet(database, account);
      const spent = async () => (await database.wallets.spent(wallet)).map(({ asset, amount }) => [asset, amount]);
      expect(await spent()).toEqual([]);
      const failing = recordOf(await database.payments.insert(newPayment(account), spending(wallet, 7n)));
      await database.payments.insert(newPayment(account), spending(wallet, 30n));
      expect(await spent()).toEqual([["native", 37n]]);
      await database.payments.change(failing, "failed", {});
      expect(await spent()).toEqual([["native", 30n]]);
      await advance(24 * HOUR + 1_000);
      expect(await spent()).toEqual([]);
    });

    it("are changed one by one, and raised only where that is permitted, whatever is changed at once", async () => {
      const { database } = await make();
      const account = await newAccount(database);
      const wallet = await newWallet(database, account);
      const { wallets } = database;
      const limitOf = (perDay: bigint, asset = "native") => ({ network: NETWORK, asset, perPayment: 1n, perDay });
      const set = (limit: ReturnType<typeof limitOf>, mayRaise = false, by = account) =>
        wallets.setLimit(by, wallet, limit, mayRaise);
      expect([await set(limitOf(1n, "0xother")), await set(limitOf(10n ** 30n))]).toEqual(["raises", "raises"]);
      expect(await set(limitOf(5n), true, await newAccount(database))).toBe("missing");
      const assets = Array.from({ length: 6 }, (_, at) => `0x${at}`);
      await Promise.all(assets.map((asset) => set(limitOf(9n, asset), true)));
      await Promise.all([...assets.map((asset) => set(limitOf(3n, asset))), set(limitOf(2n))]);
      const limits = (await wallets.get(wallet))?.limits ?? [];
      expect(assets.map((asset) => limits.find((one) => one.asset === asset)?.perDay)).toEqual(Array(6).fill(3n));
      expect(limits.find(({ asset }) => asset === "native")?.perDay).toBe(2n);
    });
  });
}

export function describeSponsored(name: string, make: MakeGround): void {
  const budget = { perAccount: 4, perPayer: 2 };

  describe(`the gas budget in ${name}`, () => {
    it("is counted by account and by payer, to the last of 30 that race", async () => {
      const { database, another } = await make();
      const both = [database, await another()];
      const results = await Promise.all(
        Array.from({ length: 30 }, (_, at) => both[at % 2]!.sponsored.reserve("acc_a", `payer ${at % 3}`, budget)),
      );
      expect(results.filter(({ ok }) => ok)).toHaveLength(4);
      expect(await database.sponsored.reserve("acc_b", "p", budget)).toEqual({ ok: true });
      expect(await database.sponsored.reserve("acc_c", "p", budget)).toEqual({ ok: true });
      expect(await database.sponsored.reserve("acc_d", "p", budget)).toMatchObject({ ok: false, over: "payer" });
      // What was refused has used nothing.
      for (let at = 0; at < 4; at += 1) {
        expect(await database.sponsored.reserve("acc_d", `q ${at}`, budget)).toEqual({ ok: true });
      }
    });

    it("gives back what was not sent, and takes three for what reverted", async () => {
      const { database } = await make();
      const account = await newAccount(database);
      const reserve = () => database.sponsored.reserve(account, SENDER, { perAccount: 4, perPayer: 4 });
      await reserve();
      await database.sponsored.giveBack(account, SENDER);
      await database.sponsored.giveBack(account, SENDER);
      await reserve();
      const payment = recordOf(await database.payments.insert(newReceived(account, { pursuit: settling() })));
      await database.payments.change(payment, "submitted", { pursuit: settling("0xa") });
      // Three are used, of the account and of the payer.
      expect(await reserve()).toEqual({ ok: true });
      expect(await reserve()).toMatchObject({ ok: false, over: "account" });
      expect(await database.sponsored.reserve("acc_b", SENDER, { perAccount: 4, perPayer: 4 })).toMatchObject({
        ok: false,
        over: "payer",
      });
    });

    it("counts what reverted with the write that says so first: once a transaction, and nothing where a write was too late", async () => {
      const { database, another } = await make();
      const both = [database, await another()];
      const account = await newAccount(database);
      const payment = recordOf(await database.payments.insert(newReceived(account, { pursuit: settling() })));
      // Everybody has seen it at the same moment.
      const written = await Promise.all(
        Array.from({ length: 8 }, (_, at) =>
          both[at % 2]!.payments.change(payment, "submitted", { pursuit: settling("0xa") }),
        ),
      );
      const [marked, ...others] = written.filter((one) => one !== undefined);
      expect(others).toEqual([]);
      const again = await database.payments.change(marked!, "submitted", { pursuit: settling("0xa") });
      const more = await database.payments.change(again!, "submitted", { pursuit: settling("0xa", "0xb"), dueAt: 1 });
      expect(await database.payments.change(more!, "submitted", { dueAt: 2 })).toBeDefined();
      // Two transactions have two each beside what each had reserved.
      const reserve = () => database.sponsored.reserve(account, "another payer", { perAccount: 5, perPayer: 9 });
      expect(await reserve()).toEqual({ ok: true });
      expect(await reserve()).toMatchObject({ ok: false, over: "account" });
    });

    it("begins anew with the UTC day, as it says", async () => {
      const { database, advance } = await make();
      const once = { perAccount: 1, perPayer: 1 };
      await database.sponsored.reserve("acc_a", "p", once);
      const refused = await database.sponsored.reserve("acc_a", "p", once);
      const now = await database.now();
      const resetAt = refused.ok ? 0 : refused.resetAt;
      expect(resetAt % (24 * HOUR)).toBe(0);
      expect(resetAt - now).toBeGreaterThan(0);
      expect(resetAt - now).toBeLessThanOrEqual(24 * HOUR);
      await advance(resetAt - now);
      expect(await database.sponsored.reserve("acc_a", "p", once)).toEqual({ ok: true });
    });
  });
}
