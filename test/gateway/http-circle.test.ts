// The whole service over HTTP, on real chains and both databases: what one account sends another one receives, and every
// answer has exactly the members that the OpenAPI document has.

import { randomBytes } from "node:crypto";
import type { z } from "@hono/zod-openapi";
import { getAddress } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PROTECTED } from "../../src/gateway/http/endpoints.js";
import { createSandbox, createSolanaSandbox, type Sandbox, type SolanaSandbox } from "../../src/testing/index.js";
import { noPostgres } from "../support/postgres.js";
import { type Answer, detailsOf } from "./call.js";
import { outliveFirstSecond } from "./first-second.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

let evm: Sandbox;
let solana: SolanaSandbox;
beforeAll(async () => {
  [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
});
afterAll(async () => {
  await Promise.all([evm.close(), solana.close()]);
});

/** Members that no schema names would be a leak. */
function expectAnswer(name: string, { status, body, text }: Answer): void {
  expect([name, status, status === 200 ? "" : text]).toEqual([name, 200, ""]);
  const schema = PROTECTED.find((endpoint) => endpoint.name === name)?.answer as z.ZodObject;
  expect(schema.strict().safeParse(body).error).toBeUndefined();
}

for (const database of ["sqlite", "postgres"] as const) {
  describe.skipIf(database === "postgres" && noPostgres() !== undefined)(`the service on ${database}`, () => {
    let world: GatewayWorld;
    let sellerKey: string;
    beforeAll(async () => {
      world = await createGatewayWorld({ database, chains: { evm, solana } });
      sellerKey = await world.newKey({ account: await world.newAccount(), scopes: ["receive", "read"] });
      await outliveFirstSecond(solana);
    });
    afterAll(() => world.close());

    it.each([
      ["evm", 0.01, 10n ** 16n],
      ["solana", 0.01, 10n ** 7n],
    ] as const)("moves native money on %s from one account to another, once", async (family, amount, atomic) => {
      const payer = await world.newWallet({ family });
      const seller = family === "evm" ? getAddress(`0x${randomBytes(20).toString("hex")}`) : solana.seller;
      const before =
        family === "evm" ? await evm.native.balanceOf(seller as `0x${string}`) : await solana.native.balanceOf(seller);
      const order = { walletAddress: payer.address, recipientAddress: seller, amount, metadata: { order: "A-17" } };
      const headers = { "Idempotency-Key": `circle-${family}` };

      const sent = await world.call("POST", "/payment/send", order, { key: payer.apiKey, headers });
      expectAnswer("POST /payment/send", sent);
      const again = await world.call("POST", "/payment/send", order, { key: payer.apiKey, headers });
      expect(again.body).toEqual(sent.body);

      const claim = { walletAddress: seller, paymentProof: sent.body.paymentProof, expectedAmount: amount };
      const received = await world.call("POST", "/payment/receive", claim, { key: sellerKey });
      expectAnswer("POST /payment/receive", received);
      expect(received.body).toMatchObject({
        verified: true,
        amountAtomic: String(atomic),
        signature: sent.body.signature,
      });
      const twice = await world.call("POST", "/payment/receive", claim, { key: sellerKey });
      expect([twice.status, detailsOf(twice).map(({ path }) => path)]).toEqual([400, ["already_used"]]);

      const id = String(sent.body.paymentId);
      await expect
        .poll(
          async () => (await world.call("GET", `/payment/status/${id}`, undefined, { key: payer.apiKey })).body.status,
          {
            timeout: 20_000,
          },
        )
        .toMatch(/confirmed|finalized/);
      const status = await world.call("GET", `/payment/status/${id}`, undefined, { key: payer.apiKey });
      expectAnswer("GET /payment/status", status);
      expect(status.body).toMatchObject({ type: "sent", recipient: seller, metadata: { order: "A-17" } });
      expect((await world.call("GET", `/payment/status/${id}`, undefined, { key: sellerKey })).status).toBe(404);

      for (const [key, type] of [
        [payer.apiKey, "sent"],
        [sellerKey, "received"],
      ] as const) {
        const history = await world.call("GET", `/payment/history/${seller}`, undefined, { key });
        expectAnswer("GET /payment/history", history);
        expect(history.body).toMatchObject({ payments: [{ type }], pagination: { total: 1, hasMore: false } });
      }
      const now =
        family === "evm" ? await evm.native.balanceOf(seller as `0x${string}`) : await solana.native.balanceOf(seller);
      expect(now - before).toBe(atomic);
    });

    it("builds a transaction for a caller who keeps its key", async () => {
      const payer = await evm.newBuyer();
      await evm.native.setBalances([payer.address], 10n ** 18n);
      const built = await world.call("POST", "/transaction/send", {
        ...{ walletAddress: payer.address, recipientAddress: evm.seller, amount: 0.001 },
      });
      expectAnswer("POST /transaction/send", built);
      expect(Buffer.from(String(built.body.transaction), "base64").length).toBeGreaterThan(50);
    });

    it("counts the payments that it has moved, by type and status", async () => {
      const { text } = await world.call("GET", "/metrics", undefined, { key: null });
      expect(text).toContain('tollgate_payments_total{type="sent",status="confirmed"} 2');
      expect(text).toContain('tollgate_payments_total{type="sent",status="created"} 3');
      expect(text).toContain('tollgate_payments_total{type="received",status="created"} 2');
    });

    it("says what it supports", async () => {
      const { status, body } = await world.call("GET", "/supported", undefined, { key: null });
      expect(status).toBe(200);
      expect(body.kinds).toContainEqual(expect.objectContaining({ x402Version: 2, network: "eip155:84532" }));
      expect(body.kinds).toContainEqual(expect.objectContaining({ x402Version: 1, network: "base-sepolia" }));
    });
  });
}
