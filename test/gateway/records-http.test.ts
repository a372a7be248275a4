// Status, history and unsigned transactions over HTTP: one test for each row of the specification, on SQLite and on Postgres.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSandbox, createSolanaSandbox, type Sandbox, type SolanaSandbox } from "../../src/testing/index.js";
import { noPostgres } from "../support/postgres.js";
import { newPayment, newReceived, RECIPIENT, recordOf, SENDER } from "./database/payments-made.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

let evm: Sandbox;
let solana: SolanaSandbox;
beforeAll(async () => {
  [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
});
afterAll(async () => {
  await Promise.all([evm.close(), solana.close()]);
});

const HASH = `0x${"ab".repeat(32)}`;

describe.each(["sqlite", "postgres"] as const)("over HTTP on %s", (database) => {
  if (database === "postgres" && noPostgres() !== undefined) return;
  let world: GatewayWorld;
  beforeAll(async () => {
    world = await createGatewayWorld({ database, chains: { evm, solana }, watch: false });
  });
  afterAll(() => world?.close());

  const insert = async (more: Parameters<typeof newPayment>[1] = {}) =>
    recordOf(await world.gateway.database.payments.insert(newPayment(world.account, more)));
  const get = (path: string, key?: string) => world.call("GET", path, undefined, key === undefined ? {} : { key });
  const codeOf = ({ status, body }: Awaited<ReturnType<typeof get>>) => [status, body.error?.code];
  const idsOf = ({ body }: Awaited<ReturnType<typeof get>>) =>
    (body.payments as unknown as { paymentId: string }[]).map(({ paymentId }) => paymentId);

  describe("GET /payment/status/{paymentId}", () => {
    it("Response 200: status and details of the payment", async () => {
      const { id } = await insert({ signature: HASH });
      for (const named of [id, HASH]) {
        const answer = await get(`/payment/status/${named}`);
        expect(answer.status).toBe(200);
        expect(answer.body).toMatchObject({ success: true, paymentId: id, status: "created", type: "sent" });
      }
    });

    it("paymentId: an unknown one and one of another account are 404 NOT_FOUND alike", async () => {
      const account = await world.newAccount();
      const payment = newReceived(account, { proofId: "ef".repeat(32) });
      const other = recordOf(await world.gateway.database.payments.insert(payment));
      const bodies = await Promise.all(
        [other.id, "ef".repeat(32), "pay_1111111111111111111111"].map(async (id) => {
          const answer = await get(`/payment/status/${id}`);
          expect(codeOf(answer)).toEqual([404, "NOT_FOUND"]);
          return JSON.stringify({ ...answer.body, requestId: undefined });
        }),
      );
      expect(new Set(bodies).size).toBe(1);
    });

    it.each(["nonsense", "%252e%252e", "pay_1", "..%2f..%2fadmin"])("paymentId: %s is no id: 404", async (id) => {
      expect(codeOf(await get(`/payment/status/${id}`))).toEqual([404, "NOT_FOUND"]);
    });

    it("a key whose scopes do not permit it is 403 FORBIDDEN", async () => {
      const { id } = await insert();
      const key = await world.newKey({ scopes: ["events"] });
      expect(codeOf(await get(`/payment/status/${id}`, key))).toEqual([403, "FORBIDDEN"]);
      expect(codeOf(await get(`/payment/history/${SENDER}`, key))).toEqual([403, "FORBIDDEN"]);
    });
  });

  describe("GET /payment/history/{walletAddress}", () => {
    /** An account with its own records. */
    async function shop(sent: number, received: number) {
      const account = await world.newAccount();
      const ids: string[] = [];
      for (let n = 0; n < sent + received; n += 1) {
        const payment = n < sent ? newPayment(account) : newReceived(account);
        ids.push(recordOf(await world.gateway.database.payments.insert(payment)).id);
      }
      return { key: await world.newKey({ account }), ids };
    }

    it("type: one of sent, received, all; default all", async () => {
      const { key, ids } = await shop(2, 1);
      const path = `/payment/history/${SENDER}`;
      expect(idsOf(await get(path, key)).sort()).toEqual([...ids].sort());
      expect(idsOf(await get(`${path}?type=sent`, key)).sort()).toEqual(ids.slice(0, 2).sort());
      expect(idsOf(await get(`${path}?type=received`, key))).toEqual(ids.slice(2));
      expect(codeOf(await get(`${path}?type=both`, key))).toEqual([400, "INVALID_REQUEST"]);
    });

    it("limit: default 50", async () => {
      const { key } = await shop(51, 0);
      const { body } = await get(`/payment/history/${SENDER}`, key);
      expect(body.payments).toHaveLength(50);
      expect(body.pagination).toMatchObject({ type: "all", limit: 50, offset: 0, total: 51, hasMore: true });
    });

    it.each([
      ["500", 200],
      ["1", 200],
      ["501", 400],
      ["0", 400],
      ["-1", 400],
      ["ten", 400],
    ])("limit: %s is answered %i", async (limit, status) => {
      expect((await get(`/payment/history/${SENDER}?limit=${limit}`)).status).toBe(status);
    });

    it("offset: default 0; pages on", async () => {
      const { key, ids } = await shop(3, 0);
      const path = `/payment/history/${SENDER}?limit=2`;
      const pages = [await get(path, key), await get(`${path}&offset=2`, key)];
      expect(pages.flatMap(idsOf).sort()).toEqual([...ids].sort());
      expect(pages.map(({ body }) => body.pagination?.hasMore)).toEqual([true, false]);
      expect((await get(`${path}&offset=-1`, key)).status).toBe(400);
    });

    it("before: pages stably while payments are added", async () => {
      const { key, ids } = await shop(3, 0);
      const path = `/payment/history/${SENDER}?limit=2`;
      const first = await get(path, key);
      const second = await get(`${path}&before=${first.body.pagination?.before}`, key);
      expect([...idsOf(first), ...idsOf(second)].sort()).toEqual([...ids].sort());
    });

    it("walletAddress: an address without records of this account is an empty history; what is none is 400", async () => {
      const { body } = await get(`/payment/history/0x${"9".repeat(40)}`);
      expect(body).toMatchObject({ success: true, payments: [], pagination: { total: 0, hasMore: false } });
      expect(codeOf(await get("/payment/history/nonsense"))).toEqual([400, "INVALID_REQUEST"]);
    });
  });

  describe("POST /transaction/send", () => {
    it("transaction, lastValidBlockHeight, expiresAt: base64, a block height and Unix seconds, on both chains", async () => {
      const buyer = await evm.newBuyer();
      await evm.native.setBalances([buyer.address], 10n ** 18n);
      const payer = (await solana.newBuyer()).publicKey.toBase58();
      for (const [walletAddress, recipientAddress] of [
        [buyer.address, RECIPIENT],
        [payer, solana.seller],
      ]) {
        const { status, body } = await world.call("POST", "/transaction/send", {
          ...{ walletAddress, recipientAddress, amount: 0.01, priorityFee: 0.0001 },
          ...{ resource: "https://shop.example/a", metadata: { description: "a report", reference: 7 } },
        });
        expect([status, body.success]).toEqual([200, true]);
        expect(String(body.transaction)).toMatch(/^[A-Za-z0-9+/]+={0,2}$/);
        expect(Number.isInteger(body.lastValidBlockHeight)).toBe(true);
        expect(Math.abs(Number(body.expiresAt) - Date.now() / 1000 - 60)).toBeLessThan(10);
        const record = await get(`/payment/status/${body.paymentId}`);
        expect(record.body).toMatchObject({
          status: "created",
          resource: "https://shop.example/a",
          metadata: { description: "a report", reference: 7 },
        });
        expect(record.text).not.toContain(String(body.secret).slice(2));
      }
    });

    it.each(["walletAddress", "recipientAddress", "amount"])("%s: required", async (field) => {
      const body = { walletAddress: SENDER, recipientAddress: RECIPIENT, amount: 1, [field]: undefined };
      const answer = await world.call("POST", "/transaction/send", body);
      expect(codeOf(answer)).toEqual([400, "INVALID_REQUEST"]);
      expect(answer.text).toContain(field);
    });

    it("amount: the bounds of /payment/send do not hold here", async () => {
      const buyer = await evm.newBuyer();
      await evm.native.setBalances([buyer.address], 1_000n * 10n ** 18n);
      for (const amount of [0.000001, 250]) {
        const body = { walletAddress: buyer.address, recipientAddress: RECIPIENT, amount };
        expect((await world.call("POST", "/transaction/send", body)).status).toBe(200);
      }
    });

    it("Idempotency-Key: the same content gives the same transaction and secret", async () => {
      const buyer = await evm.newBuyer();
      await evm.native.setBalances([buyer.address], 10n ** 18n);
      const body = { walletAddress: buyer.address, recipientAddress: RECIPIENT, amount: 0.01 };
      const headers = { "Idempotency-Key": `key-of-${database}-00000000` };
      const [first, second] = [
        await world.call("POST", "/transaction/send", body, { headers }),
        await world.call("POST", "/transaction/send", body, { headers }),
      ];
      expect(first.status).toBe(200);
      expect(second.body).toEqual(first.body);
      const other = await world.call("POST", "/transaction/send", { ...body, amount: 0.02 }, { headers });
      expect(codeOf(other)).toEqual([409, "CONFLICT"]);
    });
  });
});
