// GET /payment/status and GET /payment/history, as the engine answers them: every row of the specification's tables, and that
// nobody learns anything of another account's payments.
import { afterAll, describe, expect, it } from "vitest";
import type { Payment } from "../../src/gateway/payment.js";
import { toRecord } from "../../src/gateway/records.js";
import { historyQuery, paymentRecord } from "../../src/gateway/schemas/index.js";
import { newPayment, newReceived, RECIPIENT, recordOf, SENDER } from "./database/payments-made.js";
import { answerOf, DATABASES, faultOf, openWatching, reasonAgainst, stopPostgres, type Watching } from "./watching.js";

afterAll(stopPostgres);

const HASH = `0x${"ab".repeat(32)}`;
const insert = async (world: Watching, more: Parameters<typeof newPayment>[1] = {}): Promise<Payment> =>
  recordOf(await world.parts.database.payments.insert(newPayment(world.account, more)));
const query = (text: Record<string, string> = {}) => historyQuery.parse(text);

describe.each(DATABASES)("GET /payment/status/{paymentId} on %s", (database) => {
  const skip = reasonAgainst(database) !== undefined;

  it.skipIf(skip)("paymentId: the payment's id gives its record with its history", async () => {
    const world = await openWatching({ database });
    const created = await insert(world, { resource: "https://shop.example", metadata: { order: 7 }, fee: 21_000n });
    await world.parts.database.payments.change(created, "submitted", { signature: HASH });
    const record = answerOf(await world.status(world.caller(), created.id));
    expect(paymentRecord.parse(record)).toEqual(record);
    expect(record).toMatchObject({
      paymentId: created.id,
      type: "sent",
      status: "submitted",
      network: "eip155:84532",
      asset: "ETH",
      amount: 1e-15,
      amountAtomic: "1000",
      sender: SENDER,
      recipient: RECIPIENT,
      signature: HASH,
      fee: 2.1e-14,
      resource: "https://shop.example",
      metadata: { order: 7 },
    });
    expect(record.history.map(({ status }) => status)).toEqual(["created", "submitted"]);
    for (const { at } of record.history) expect(Math.abs(at - Date.now() / 1000)).toBeLessThan(30);
    expect(Number.isInteger(record.createdAt) && Number.isInteger(record.updatedAt)).toBe(true);
  });

  it.skipIf(skip)(
    "paymentId: the transaction's id gives it too, in any case of its hex; the sent one first",
    async () => {
      const world = await openWatching({ database });
      const got = recordOf(await world.parts.database.payments.insert(newReceived(world.account, { signature: HASH })));
      expect(answerOf(await world.status(world.caller(), HASH)).paymentId).toBe(got.id);
      const sent = await insert(world, { signature: HASH });
      const upper = `0x${HASH.slice(2).toUpperCase()}`;
      expect(answerOf(await world.status(world.caller(), upper)).paymentId).toBe(sent.id);
    },
  );

  it.skipIf(skip)("paymentId: the proof's id gives the payment that it was granted for", async () => {
    const world = await openWatching({ database });
    const proofId = "ab".repeat(32);
    const made = recordOf(await world.parts.database.payments.insert(newReceived(world.account, { proofId })));
    expect(answerOf(await world.status(world.caller(), proofId)).paymentId).toBe(made.id);
  });

  it.skipIf(skip)("an unknown id, another account's and another mode's have one and the same answer", async () => {
    const world = await openWatching({ database });
    const proofId = "cd".repeat(32);
    const other = (await world.parts.database.accounts.create("other")).id;
    const made = recordOf(await world.parts.database.payments.insert(newReceived(other, { signature: HASH, proofId })));
    const outcomes = await Promise.all([
      ...["pay_1111111111111111111111", "nonsense", "../admin", "%2e%2e", "", `0x${"00".repeat(32)}`].map((id) =>
        world.status(world.caller(), id),
      ),
      ...[made.id, HASH, proofId].map((id) => world.status(world.caller(), id)),
      ...[made.id, HASH, proofId].map((id) => world.status(world.caller({ account: other, mode: "live" }), id)),
    ]);
    expect(new Set(outcomes.map((one) => JSON.stringify(one))).size).toBe(1);
    expect(faultOf(outcomes[0]!)).toBe("NOT_FOUND");
    expect(answerOf(await world.status(world.caller({ account: other }), made.id)).paymentId).toBe(made.id);
  });

  it.skipIf(skip)("a payment that was given up and arrived says `late`, one that failed why", async () => {
    const world = await openWatching({ database });
    const { payments } = world.parts.database;
    const late = await payments.change(await insert(world), "confirmed", { late: true });
    expect(answerOf(await world.status(world.caller(), late!.id)).late).toBe(true);
    const error = { code: "PAYMENT_VERIFICATION_FAILED", message: "it was reverted" } as const;
    const failed = await payments.change(await insert(world), "failed", { error });
    const record = answerOf(await world.status(world.caller(), failed!.id));
    expect(record).toMatchObject({ status: "failed", error });
    expect("late" in record || "expiresAt" in record).toBe(false);
  });
});

describe.each(DATABASES)("GET /payment/history/{walletAddress} on %s", (database) => {
  const skip = reasonAgainst(database) !== undefined;

  it.skipIf(skip)(
    "walletAddress: lists what the address sent and received, newest first, in any case of its hex",
    async () => {
      const world = await openWatching({ database });
      const sent = await insert(world);
      const received = recordOf(
        await world.parts.database.payments.insert(
          newReceived(world.account, { sender: RECIPIENT, recipient: SENDER }),
        ),
      );
      await insert(world, { sender: `0x${"1".repeat(40)}` });
      const answer = answerOf(await world.history(world.caller(), SENDER.toLowerCase(), query()));
      expect(answer.walletAddress).toBe(SENDER);
      expect(new Set(answer.payments.map(({ paymentId }) => paymentId))).toEqual(new Set([received.id, sent.id]));
      const times = answer.payments.map(({ createdAt }) => createdAt);
      expect(times).toEqual([...times].sort((a, b) => b - a));
    },
  );

  it.skipIf(skip)(
    "walletAddress: one that is no address is INVALID_REQUEST; of another account's nothing is shown",
    async () => {
      const world = await openWatching({ database });
      for (const wrong of ["0x12", "nonsense!", SENDER.replace("7099", "7o99"), SENDER.replace("C7", "c7")]) {
        expect(faultOf(await world.history(world.caller(), wrong, query()))).toBe("INVALID_REQUEST walletAddress");
      }
      await insert(world);
      const other = (await world.parts.database.accounts.create("other")).id;
      for (const caller of [world.caller({ account: other }), world.caller({ mode: "live" })]) {
        const { payments, pagination } = answerOf(await world.history(caller, SENDER, query()));
        expect([payments, pagination.total, pagination.hasMore]).toEqual([[], 0, false]);
      }
    },
  );

  it.skipIf(skip)("type: sent, received or all; default all", async () => {
    const world = await openWatching({ database });
    const sent = await insert(world);
    const received = recordOf(await world.parts.database.payments.insert(newReceived(world.account)));
    const idsOf = async (text: Record<string, string>) => {
      const answer = answerOf(await world.history(world.caller(), SENDER, query(text)));
      return [answer.pagination.type, answer.payments.map(({ paymentId }) => paymentId).sort()];
    };
    expect(await idsOf({ type: "sent" })).toEqual(["sent", [sent.id]]);
    expect(await idsOf({ type: "received" })).toEqual(["received", [received.id]]);
    expect(await idsOf({})).toEqual(["all", [sent.id, received.id].sort()]);
  });

  it.skipIf(skip)(
    "limit and offset: pages without a gap; hasMore until nothing is left; `before` stays with new payments",
    async () => {
      const world = await openWatching({ database });
      const made = new Set<string>();
      for (let n = 0; n < 7; n += 1) made.add((await insert(world)).id);
      const page = async (text: Record<string, string>) =>
        answerOf(await world.history(world.caller(), SENDER, query(text)));
      const pages = [
        await page({ limit: "3" }),
        await page({ limit: "3", offset: "3" }),
        await page({ limit: "3", offset: "6" }),
      ];
      expect(
        pages.map(({ pagination }) => [pagination.limit, pagination.offset, pagination.total, pagination.hasMore]),
      ).toEqual([
        [3, 0, 7, true],
        [3, 3, 7, true],
        [3, 6, 7, false],
      ]);
      const listed = pages.flatMap(({ payments }) => payments.map(({ paymentId }) => paymentId));
      expect(new Set(listed)).toEqual(made);

      await insert(world);
      const before = String(pages[0]?.pagination.before);
      const second = await page({ limit: "4", before });
      expect(second.payments.map(({ paymentId }) => paymentId)).toEqual(listed.slice(3));
      // The page is full, and yet nothing is left behind it.
      expect(second.pagination.hasMore).toBe(false);
      expect(second.pagination.before).toBeUndefined();
      expect((await page({ limit: "2", before })).pagination.hasMore).toBe(true);
    },
  );
});

describe("the history query", () => {
  it("limit: default 50, maximum 500; 0 and 501 are refused", () => {
    expect(query().limit).toBe(50);
    expect([query({ limit: "1" }).limit, query({ limit: "500" }).limit]).toEqual([1, 500]);
    for (const limit of ["0", "501", "-1", "1.5", "1e2", "", " 5"]) {
      expect(historyQuery.safeParse({ limit }).success, limit).toBe(false);
    }
  });

  it("offset: default 0; a whole number", () => {
    expect([query().offset, query({ offset: "7" }).offset]).toEqual([0, 7]);
    for (const offset of ["-1", "x", "1.5"]) expect(historyQuery.safeParse({ offset }).success, offset).toBe(false);
  });

  it("type: anything but sent, received and all is refused", () => {
    for (const type of ["", "SENT", "both"]) expect(historyQuery.safeParse({ type }).success, type).toBe(false);
  });
});

describe("a record", () => {
  const made: Payment = {
    ...newPayment("acc", { amount: 1_234_567n }),
    ...{ id: "pay_1111111111111111111111", createdAt: 1_999, updatedAt: 2_000, version: 1, late: false, error: null },
    ...{ blockHeight: null, confirmations: null },
  };

  it("of an asset that is configured no more is told by the table of networks", () => {
    const usdc = toRecord({ ...made, asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e" }, [], undefined);
    expect(usdc).toMatchObject({ amount: 1.234567, amountAtomic: "1234567", createdAt: 1, updatedAt: 2 });
  });

  it("of an asset that nobody knows any more has its exact amount, and no number that would be wrong", () => {
    const unknown = toRecord({ ...made, asset: `0x${"5".repeat(40)}` }, [], undefined);
    expect(unknown).toMatchObject({ amount: null, amountAtomic: "1234567" });
  });

  it("shows nothing of how it is pursued, of its proof or of what is sealed", () => {
    const secrets = {
      ...made,
      sealed: "sealed words",
      proofId: "ab".repeat(32),
      idempotency: "request",
      wallet: "wal_1",
    };
    const text = JSON.stringify(toRecord(secrets, [], undefined));
    for (const word of ["sealed words", "abab", "request", "wal_1", "nonce", "acc"]) expect(text).not.toContain(word);
  });
});
