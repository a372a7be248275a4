// What every database of the gateway promises of its outbox and of the history of a wallet.
import { describe, expect, it } from "vitest";
import type { GatewayDatabase } from "../../../src/gateway/database/database.js";
import type { Payment } from "../../../src/gateway/payment.js";
import type { MakeGround } from "./ground.js";
import { newAccount, newPayment, newReceived, RECIPIENT, recordOf, SENDER } from "./payments-made.js";

const DAY = 24 * 3_600_000;
const THIRD = "0x90F79bf6EB2c4f870365E785982E1f101E93b906";

async function eventsOf(database: GatewayDatabase, account: string, cursor = 0, limit = 1000) {
  const read = await database.events.since(account, "test", cursor, limit);
  if (read.outcome === "expired") throw new Error("the cursor is expired");
  return read;
}

export function describeEvents(name: string, make: MakeGround): void {
  describe(`events in ${name}`, () => {
    it("tell a payment that is sent from first to last, with its history so far", async () => {
      const { database } = await make();
      const account = await newAccount(database);
      const made = newPayment(account, { amount: 2n ** 90n, metadata: { order: 7 }, resource: "https://shop.example" });
      const created = recordOf(await database.payments.insert(made));
      const submitted = (await database.payments.change(created, "submitted", { fee: 3n }))!;
      const same = (await database.payments.change(submitted, "submitted", { confirmations: 1 }))!;
      await database.payments.change(same, "confirmed", { blockHeight: 5 });
      const { events, next } = await eventsOf(database, account);
      expect(events.map(({ cursor, kind, payment }) => [cursor, kind, payment.status])).toEqual([
        [1, "payment", "created"],
        [2, "payment", "submitted"],
        [3, "payment", "confirmed"],
      ]);
      expect(next).toBe(3);
      expect(events[2]).toMatchObject({
        id: expect.stringMatching(/^evt_[1-9A-HJ-NP-Za-km-z]{22}$/),
        at: expect.any(Number),
        payment: { id: created.id, amount: 2n ** 90n, fee: 3n, metadata: { order: 7 }, blockHeight: 5, late: false },
      });
      expect(events[2]?.payment.history).toEqual(await database.payments.historyOf(created.id));
      expect(await database.events.latest(account)).toBe(3);
    });

    it.each(["receive", "settle", "build_receive"] as const)("tell the proof of a %s, then its money", async (flow) => {
      const { database } = await make();
      const account = await newAccount(database);
      const created = recordOf(await database.payments.insert(newReceived(account, { flow })));
      const submitted = (await database.payments.change(created, "submitted", {}))!;
      await database.payments.change(submitted, "failed", {});
      const { events } = await eventsOf(database, account);
      expect(events.map(({ kind }) => kind)).toEqual(["verification", "settlement", "settlement"]);
    });

    it("hold nothing that opens or repeats a payment", async () => {
      const { database } = await make();
      const account = await newAccount(database);
      const secrets = { proofId: "secret1", sealed: "secret2", idempotency: "secret3", wallet: "secret4" };
      const raw = { kind: "evm", sender: SENDER, nonce: 0, reference: "secret5", raw: "secret6", hash: null } as const;
      const pursuit = { ...raw, block: 1, lastValidBlockHeight: 2 };
      recordOf(await database.payments.insert(newPayment(account, { ...secrets, pursuit })));
      const { events } = await eventsOf(database, account);
      expect(Object.keys(events[0]?.payment ?? {}).sort()).toEqual(
        (
          "account amount asset blockHeight confirmations createdAt error expiresAt fee flow history id late metadata mode " +
          "network recipient resource sender signature status type updatedAt"
        ).split(" "),
      );
      expect(JSON.stringify(events, (_, value) => (typeof value === "bigint" ? `${value}` : value))).not.toMatch(
        /secret/,
      );
    });

    it("count without a gap in each account, whoever races, and come in pages", async () => {
      const { database, another } = await make();
      const accounts = [await newAccount(database), await newAccount(database)];
      const both = [database, await another()];
      const results = await Promise.all(
        Array.from({ length: 60 }, async (_, at) => {
          const db = both[at % 2]!;
          const fails = at % 5 === 0;
          const complete = fails ? async () => Promise.reject(new Error("no")) : undefined;
          const made = newPayment(accounts[at % 3 === 0 ? 0 : 1]!, { resource: `${at}` });
          const result = await db.payments.insert(made, complete ? { complete } : {}).catch(() => undefined);
          if (result) await db.payments.change(recordOf(result), "submitted", {});
          return made.account;
        }),
      );
      expect(results).toHaveLength(60);
      for (const account of accounts) {
        const { events } = await eventsOf(database, account);
        expect(events.map(({ cursor }) => cursor)).toEqual(events.map((_, at) => at + 1));
        expect(events.map(({ at }) => at)).toEqual(events.map(({ at }) => at).sort((a, b) => a - b));
        expect(events.every(({ payment }) => payment.account === account)).toBe(true);
        const paged = [];
        for (let cursor = 0; ; ) {
          const page = await eventsOf(database, account, cursor, 7);
          paged.push(...page.events);
          if (page.events.length === 0) break;
          cursor = page.next;
        }
        expect(paged).toEqual(events);
        expect(await database.events.latest(account)).toBe(events.length);
      }
    });

    it("of one mode are not told to the other, which goes on behind them", async () => {
      const { database } = await make();
      const account = await newAccount(database);
      await database.payments.insert(newPayment(account));
      await database.payments.insert(newPayment(account, { mode: "live" }));
      const { events, next } = await eventsOf(database, account);
      expect(events.map(({ payment }) => payment.mode)).toEqual(["test"]);
      expect(next).toBe(2);
      expect(await database.events.since(account, "live", 1, 10)).toMatchObject({
        events: [{ payment: { mode: "live" } }],
      });
      expect(await eventsOf(database, account, next)).toEqual({ outcome: "ok", events: [], next: 2 });
    });

    it("are gone after a week, and a cursor from before then is told so", async () => {
      const { database, advance } = await make();
      const account = await newAccount(database);
      await database.payments.insert(newPayment(account));
      await advance(7 * DAY - 60_000);
      await database.payments.insert(newPayment(account));
      expect((await eventsOf(database, account)).events).toHaveLength(2);
      await advance(120_000);
      await database.payments.insert(newPayment(account));
      expect(await database.events.since(account, "test", 0, 10)).toEqual({ outcome: "expired" });
      expect((await eventsOf(database, account, 1)).events.map(({ cursor }) => cursor)).toEqual([2, 3]);
      await advance(8 * DAY);
      await database.payments.insert(newPayment(await newAccount(database)));
      expect(await database.events.since(account, "test", 2, 10)).toEqual({ outcome: "expired" });
      expect(await eventsOf(database, account, 3)).toEqual({ outcome: "ok", events: [], next: 3 });
      for (const cursor of [4, -1, 1.5, Number.NaN]) {
        expect(await database.events.since(account, "test", cursor, 10)).toEqual({ outcome: "expired" });
      }
      expect(await database.events.latest("acc_nobody")).toBe(0);
    });
  });
}

export function describeHistory(name: string, make: MakeGround): void {
  const page = (database: GatewayDatabase, account: string, address: string, more = {}) =>
    database.payments.page(account, "test", address, { type: "all", limit: 50, offset: 0, ...more });
  const idsOf = ({ payments }: { readonly payments: readonly Payment[] }) => payments.map(({ id }) => id);

  describe(`the history of a wallet in ${name}`, () => {
    it("has what touches it in its account and mode, newest first, each with its own history", async () => {
      const { database, advance } = await make();
      const [account, stranger] = [await newAccount(database), await newAccount(database)];
      const insert = async (made: Parameters<typeof database.payments.insert>[0]) => {
        await advance(5);
        return recordOf(await database.payments.insert(made));
      };
      const sent = await insert(newPayment(account));
      const received = await insert(newReceived(account, { sender: THIRD, recipient: SENDER }));
      const unknown = await insert(newReceived(account, { sender: null, recipient: SENDER }));
      const toItself = await insert(newPayment(account, { recipient: SENDER }));
      await insert(newPayment(account, { sender: THIRD }));
      await insert(newPayment(account, { mode: "live" }));
      await insert(newPayment(stranger));
      await database.payments.change(sent, "submitted", {});
      const all = await page(database, account, SENDER);
      expect(idsOf(all)).toEqual([toItself, unknown, received, sent].map(({ id }) => id));
      expect([all.total, all.before]).toEqual([4, undefined]);
      expect(all.payments[3]?.history.map(({ status }) => status)).toEqual(["created", "submitted"]);
      expect(idsOf(await page(database, account, SENDER, { type: "sent" }))).toEqual([toItself.id, sent.id]);
      const only = await page(database, account, SENDER, { type: "received" });
      expect([idsOf(only), only.total]).toEqual([[unknown.id, received.id], 2]);
      expect(await page(database, account, "0xNobody")).toEqual({ payments: [], total: 0, before: undefined });
      expect(idsOf(await page(database, account, RECIPIENT))).toHaveLength(2);
    });

    it("is paged by offset and by cursor; the cursor stays where it is while payments are added", async () => {
      const { database, advance } = await make();
      const account = await newAccount(database);
      const made = [];
      // Several of one millisecond, in an order that stays.
      for (let at = 0; at < 25; at += 1) {
        const both = { sender: at % 2 ? SENDER : THIRD, recipient: at % 2 ? THIRD : SENDER };
        made.push(recordOf(await database.payments.insert(newPayment(account, both))));
      }
      const whole = idsOf(await page(database, account, SENDER));
      expect([...whole].sort()).toEqual(made.map(({ id }) => id).sort());
      const byOffset = [];
      for (let offset = 0; offset < 25; offset += 10) {
        byOffset.push(...idsOf(await page(database, account, SENDER, { limit: 10, offset })));
      }
      expect(byOffset).toEqual(whole);
      await advance(1000);
      const byCursor = [];
      let before: string | undefined;
      do {
        const got = await page(database, account, SENDER, { limit: 10, ...(before && { before }) });
        byCursor.push(...idsOf(got));
        before = got.before;
        recordOf(await database.payments.insert(newPayment(account)));
      } while (before !== undefined);
      expect(byCursor).toEqual(expect.arrayContaining(whole));
      expect(byCursor.filter((id) => whole.includes(id))).toEqual(whole);
      const skipped = await page(database, account, SENDER, { limit: 3, offset: 2, before: placeOf(made[20]!) });
      const older = whole.slice(whole.indexOf(made[20]!.id) + 1);
      expect(idsOf(skipped)).toEqual(older.slice(2, 5));
    });

    it.each(["x", "1-pay_", "-1-pay_aaaaaaaaaaaaaaaaaaaaaa", "1-pay_' or 1=1 --aaaaaaaaaaaa"])(
      "has nothing before a cursor that was never given: %s",
      async (before) => {
        const { database } = await make();
        const account = await newAccount(database);
        await database.payments.insert(newPayment(account));
        expect(await page(database, account, SENDER, { before })).toEqual({
          payments: [],
          total: 1,
          before: undefined,
        });
      },
    );
  });
}

const placeOf = ({ createdAt, id }: Payment): string => `${createdAt}-${id}`;
