// What every database of the gateway promises of payments: how they come in, change and are followed.
import { describe, expect, it } from "vitest";
import { NEXT_STATUSES, PAYMENT_STATUSES, type PaymentStatus } from "../../../src/gateway/payment.js";
import type { MakeGround } from "./ground.js";
import { NETWORK, newAccount, newPayment, newReceived, pursuit, RECIPIENT, recordOf, SENDER } from "./payments-made.js";

export function describePayments(name: string, make: MakeGround): void {
  describe(`payments in ${name}`, () => {
    it("come back as they were written, to the last unit", async () => {
      const { database } = await make();
      const account = await newAccount(database);
      const made = newPayment(account, {
        amount: 2n ** 255n + 1n,
        fee: 2n ** 64n,
        resource: "https://shop.example/a?b=\u{1F600}",
        metadata: { __proto__: { order: 7 }, text: "a\0b" },
        expiresAt: 1_900_000_000_000,
        proofId: "proof",
        idempotency: "request",
        sealed: "sealed",
        wallet: "wal_1",
        signature: "0x01",
        dueAt: 5,
      });
      const record = recordOf(await database.payments.insert(made));
      expect(record).toMatchObject({ ...made, version: 1, late: false, error: null, blockHeight: null });
      expect(record.id).toMatch(/^pay_[1-9A-HJ-NP-Za-km-z]{22}$/);
      expect(await database.payments.get(record.id)).toEqual(record);
      expect(await database.payments.byProof("proof")).toEqual(record);
      expect(await database.payments.byIdempotency("request")).toEqual(record);
      expect(await database.payments.get("pay_unknown")).toBeUndefined();
    });

    it("keep text out that a database would change: nothing is written", async () => {
      const { database } = await make();
      const account = await newAccount(database);
      for (const resource of ["a\0b", "\ud800"]) {
        await expect(database.payments.insert(newPayment(account, { resource }))).rejects.toThrow(TypeError);
      }
      await expect(database.payments.insert(newPayment(account, { amount: -1n }))).rejects.toThrow(RangeError);
      await expect(database.payments.insert(newPayment("acc_nobody"))).rejects.toThrow("there is no account");
      expect((await touching(database, account)).total).toBe(0);
    });

    it("make one record of 50 racing inserts of one request, on two connections; the others get it", async () => {
      const { database, another } = await make();
      const account = await newAccount(database);
      const both = [database, await another()];
      const results = await Promise.all(
        Array.from({ length: 50 }, (_, at) =>
          both[at % 2]!.payments.insert(newPayment(account, { idempotency: "one", amount: BigInt(at) })),
        ),
      );
      const [record, ...more] = results.flatMap((result) => (result.outcome === "ok" ? [result.payment] : []));
      expect(more).toEqual([]);
      for (const result of results.filter(({ outcome }) => outcome !== "ok")) {
        expect(result).toEqual({ outcome: "repeated", payment: record });
      }
      expect((await touching(database, account)).total).toBe(1);
    });

    it("make one record of 50 accounts that race for one proof; the others get the record of who was first", async () => {
      const { database, another } = await make();
      const both = [database, await another()];
      const accounts = [await newAccount(database), await newAccount(database)];
      const results = await Promise.all(
        Array.from({ length: 50 }, (_, at) =>
          both[at % 2]!.payments.insert(newReceived(accounts[at % 2]!, { proofId: "p", idempotency: `request ${at}` })),
        ),
      );
      const [record, ...more] = results.flatMap((result) => (result.outcome === "ok" ? [result.payment] : []));
      expect(more).toEqual([]);
      for (const result of results.filter(({ outcome }) => outcome !== "ok")) {
        expect(result).toEqual({ outcome: "proof_taken", payment: record });
      }
    });

    it("answer a repeat of the request that holds the proof as a repeat", async () => {
      const { database } = await make();
      const account = await newAccount(database);
      const made = newReceived(account, { proofId: "p", idempotency: "i" });
      const payment = recordOf(await database.payments.insert(made));
      expect(await database.payments.insert(made)).toEqual({ outcome: "repeated", payment });
    });

    it("are written with what `complete` made of the nonce, or not at all", async () => {
      const { database } = await make();
      const account = await newAccount(database);
      const nonce = { network: NETWORK, address: SENDER, next: 7 };
      const complete = async (taken: number | undefined) => ({
        signature: `0x${taken}`,
        pursuit: pursuit(taken),
        expiresAt: 9,
      });
      const payment = recordOf(await database.payments.insert(newPayment(account), { nonce, complete }));
      expect(payment).toMatchObject({ signature: "0x7", pursuit: { nonce: 7 }, expiresAt: 9 });
      expect(await database.payments.get(payment.id)).toEqual(payment);
      const failing = async () => Promise.reject(new Error("the key is gone"));
      await expect(
        database.payments.insert(newPayment(account, { idempotency: "i", proofId: "p" }), { nonce, complete: failing }),
      ).rejects.toThrow("the key is gone");
      expect(await database.payments.byIdempotency("i")).toBeUndefined();
      expect((await touching(database, account)).total).toBe(1);
      expect(await database.nonces.take(NETWORK, SENDER, 7)).toBe(8);
    });

    it("go along the allowed ways and no other", async () => {
      const { database } = await make();
      const account = await newAccount(database);
      for (const from of PAYMENT_STATUSES) {
        const payment = recordOf(await database.payments.insert(newPayment(account, { status: from })));
        for (const to of PAYMENT_STATUSES) {
          if (to === from || NEXT_STATUSES[from].includes(to)) continue;
          await expect(database.payments.change(payment, to, {})).rejects.toThrow(`${from} never becomes ${to}`);
        }
        const claimed: PaymentStatus = from === "created" ? "submitted" : "created";
        expect(
          await database.payments.change({ ...payment, status: claimed }, "failed", {}).catch(() => 0),
        ).toBeFalsy();
        expect(await database.payments.get(payment.id)).toEqual(payment);
        for (const to of NEXT_STATUSES[from]) {
          const another = recordOf(await database.payments.insert(newPayment(account, { status: from })));
          expect(await database.payments.change(another, to, {})).toMatchObject({ status: to, version: 2 });
        }
      }
    });

    it("change for one of many that read the same version", async () => {
      const { database, another } = await make();
      const account = await newAccount(database);
      const payment = recordOf(await database.payments.insert(newPayment(account)));
      const both = [database, await another()];
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, at) =>
          both[at % 2]!.payments.change(payment, "submitted", { blockHeight: at, dueAt: 1 }),
        ),
      );
      const won = results.filter((result) => result !== undefined);
      expect(won).toHaveLength(1);
      const facts = await Promise.all(
        Array.from({ length: 20 }, (_, at) =>
          both[at % 2]!.payments.change(won[0]!, "submitted", { confirmations: at }),
        ),
      );
      won.push(...facts.filter((result) => result !== undefined));
      expect(won).toHaveLength(2);
      expect(await database.payments.get(payment.id)).toEqual(won[1]);
      expect((await database.payments.historyOf(payment.id)).map(({ status }) => status)).toEqual([
        "created",
        "submitted",
      ]);
    });

    it("keep what a change does not name, and every field that it does", async () => {
      const { database, advance } = await make();
      const account = await newAccount(database);
      const payment = recordOf(await database.payments.insert(newPayment(account, { dueAt: 5, sealed: "s" })));
      await advance(1500);
      const same = await database.payments.change(payment, "created", {});
      expect(same).toMatchObject({ ...payment, version: 2, updatedAt: same?.updatedAt });
      expect(same?.updatedAt).toBeGreaterThanOrEqual(payment.createdAt + 1500);
      const facts = {
        signature: "0x09",
        fee: 3n,
        blockHeight: 12,
        confirmations: 2,
        sender: RECIPIENT,
        amount: 2n ** 100n,
        expiresAt: 77,
        error: { code: "INSUFFICIENT_BALANCE", message: "too little" },
        late: true,
        pursuit: pursuit(3),
        sealed: null,
        dueAt: null,
        proofId: "later",
      } as const;
      const changed = await database.payments.change(same!, "failed", facts);
      expect(changed).toMatchObject({ ...facts, status: "failed", version: 3 });
      expect(await database.payments.get(payment.id)).toEqual(changed);
    });

    it("let go of a proof when they have failed, and of nothing else", async () => {
      const { database } = await make();
      const account = await newAccount(database);
      const made = newReceived(account, { proofId: "p" });
      const payment = recordOf(await database.payments.insert(made));
      const expired = (await database.payments.change(payment, "expired", {}))!;
      expect(await database.payments.insert(made)).toMatchObject({ outcome: "proof_taken" });
      const late = (await database.payments.change(expired, "confirmed", {}))!;
      const failed = (await database.payments.change(late, "failed", {}))!;
      expect(failed.proofId).toBe("p");
      expect(await database.payments.byProof("p")).toBeUndefined();
      const again = recordOf(await database.payments.insert(made));
      expect(await database.payments.byProof("p")).toEqual(again);
    });

    it("take a proof later, unless another record holds it", async () => {
      const { database } = await make();
      const account = await newAccount(database);
      const payment = recordOf(await database.payments.insert(newReceived(account)));
      const holding = (await database.payments.change(payment, "submitted", { proofId: "p" }))!;
      expect(await database.payments.byProof("p")).toEqual(holding);
      const other = recordOf(await database.payments.insert(newReceived(account)));
      await expect(database.payments.change(other, "submitted", { proofId: "p" })).rejects.toThrow("another record");
      expect(await database.payments.get(other.id)).toEqual(other);
      expect(await database.payments.byProof("p")).toEqual(holding);
    });

    it("are found by their transaction in their own account, sent before received", async () => {
      const { database } = await make();
      const [account, stranger] = [await newAccount(database), await newAccount(database)];
      const received = recordOf(await database.payments.insert(newReceived(account, { signature: "0x1" })));
      const sent = recordOf(await database.payments.insert(newPayment(account, { signature: "0x1" })));
      expect(await database.payments.bySignature(account, "0x1")).toEqual([sent, received]);
      expect(await database.payments.bySignature(stranger, "0x1")).toEqual([]);
    });
  });

  describe(`what is due in ${name}`, () => {
    it("is given to one watcher, and again after its lease", async () => {
      const { database, another, advance } = await make();
      const account = await newAccount(database);
      const now = await database.now();
      const due = [];
      for (let at = 0; at < 6; at += 1) {
        due.push(recordOf(await database.payments.insert(newPayment(account, { dueAt: now - at }))));
      }
      recordOf(await database.payments.insert(newPayment(account, { dueAt: now + 60_000 })));
      recordOf(await database.payments.insert(newPayment(account)));
      const both = [database, await another(), await another()];
      const taken = (await Promise.all(both.map(({ payments }) => payments.takeDue(4, 30_000)))).flat();
      const rest = await database.payments.takeDue(10, 30_000);
      const ids = [...taken, ...rest].map(({ id }) => id);
      expect(ids.sort()).toEqual(due.map(({ id }) => id).sort());
      expect(await database.payments.takeDue(10, 30_000)).toEqual([]);
      // A lease disturbs nobody who works on the payment.
      expect(await database.payments.change(due[0]!, "submitted", { dueAt: null })).toBeDefined();
      await advance(31_000);
      expect(await database.payments.takeDue(10, 30_000)).toHaveLength(5);
    });

    it("is taken oldest first, as many as were asked for", async () => {
      const { database } = await make();
      const account = await newAccount(database);
      for (const dueAt of [300, 100, 200]) await database.payments.insert(newPayment(account, { dueAt }));
      const taken = await database.payments.takeDue(2, 1000);
      expect(taken).toHaveLength(2);
      const [left] = await database.payments.takeDue(5, 1000);
      expect(taken.some(({ id }) => id === left?.id)).toBe(false);
    });

    it("counts the settlements of an account that still run", async () => {
      const { database, advance } = await make();
      const [account, stranger] = [await newAccount(database), await newAccount(database)];
      for (const flow of ["receive", "settle", "build_receive"] as const) {
        await database.payments.insert(newReceived(account, { flow }));
      }
      await database.payments.insert(newPayment(account));
      await database.payments.insert(newReceived(stranger));
      const ended = recordOf(await database.payments.insert(newReceived(account)));
      expect(await database.payments.countRunning(account)).toBe(3);
      await database.payments.change(ended, "confirmed", {});
      expect(await database.payments.countRunning(account)).toBe(2);
      await advance(300_001);
      expect(await database.payments.countRunning(account)).toBe(0);
    });
  });
}

const touching = (database: Awaited<ReturnType<MakeGround>>["database"], account: string) =>
  database.payments.page(account, "test", SENDER, { type: "all", limit: 10, offset: 0 });
