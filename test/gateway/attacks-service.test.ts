// Attacks on the gateway's service side by callers who have something: another key of the account, another account's key, a page
// in a browser of the gateway's own machine.
import { randomBytes } from "node:crypto";
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MAX_FAILURES } from "../../src/gateway/http/flood.js";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { bodyOf } from "./facilitating.js";
import { onEvm } from "./receiving.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

const TOKEN = randomBytes(20).toString("hex");
const ADMIN = randomBytes(20).toString("hex");
let evm: Sandbox;
let world: GatewayWorld;
beforeAll(async () => {
  evm = await createSandbox();
  const options = { metricsToken: TOKEN, adminToken: ADMIN };
  world = await createGatewayWorld({ chains: { evm }, options });
});
afterAll(async () => {
  await world.close();
  await evm.close();
});

const newPayee = (): `0x${string}` => `0x${randomBytes(20).toString("hex")}`;
const newHeaders = () => ({ "Idempotency-Key": randomBytes(8).toString("hex") });

describe("what a seller's server says of the sale", () => {
  it("is refused in the protocol's words where no database could keep it, and cut where it is long", async () => {
    const usdc = onEvm(evm, "usdc", 2);
    const payTo = await usdc.newPayee();
    const payer = await usdc.newPayer();
    const { paymentPayload, ...rest } = await bodyOf(usdc, payTo, { payer });
    const about = (url: string) => ({ ...rest, paymentPayload: { ...paymentPayload, resource: { url } } });
    for (const url of ["https://shop.example/\u0000", "https://shop.example/\ud800"]) {
      for (const path of ["/verify", "/settle"]) {
        const { status, body } = await world.call("POST", path, about(url));
        expect([status, body.isValid ?? body.success]).toEqual([200, false]);
      }
    }
    // The cut falls into the middle of a character.
    const long = `${"x".repeat(2_047)}\u{1f600}${"x".repeat(1_000)}`;
    const settled = await world.call("POST", "/settle", about(long));
    expect([settled.status, settled.body.success]).toEqual([200, true]);
    const { body } = await world.call("GET", `/payment/status/${settled.body.transaction}`);
    expect(body.resource).toBe("x".repeat(2_047));
  });
});

describe("the kept answer of a payment", () => {
  it("is not repeated to a key of the same account that may not open the wallet", async () => {
    const wallet = await world.newWallet({ family: "evm" });
    const order = { walletAddress: wallet.address, recipientAddress: newPayee(), amount: 0.001 };
    const headers = newHeaders();
    const sent = await world.call("POST", "/payment/send", order, { key: wallet.apiKey, headers });
    expect([sent.status, typeof sent.body.paymentProof]).toEqual([200, "string"]);
    const others = [await world.newKey({ wallets: [] }), (await world.newWallet({ family: "evm" })).apiKey];
    for (const key of others) {
      const got = await world.call("POST", "/payment/send", order, { key, headers });
      expect([got.status, got.body.error?.code]).toEqual([403, "FORBIDDEN"]);
      expect(got.text).not.toContain(String(sent.body.paymentProof));
    }
    // A key that replaces the first one gets it: that is what rotation is.
    const next = await world.newKey({ wallets: [wallet.id] });
    const again = await world.call("POST", "/payment/send", order, { key: next, headers });
    expect([again.status, again.body]).toEqual([200, sent.body]);
  });

  it("is not repeated to another account, whatever it sends with the key", async () => {
    const wallet = await world.newWallet({ family: "evm" });
    const order = { walletAddress: wallet.address, recipientAddress: newPayee(), amount: 0.001 };
    const headers = newHeaders();
    const sent = await world.call("POST", "/payment/send", order, { key: wallet.apiKey, headers });
    const stranger = await world.newKey({ account: await world.newAccount(), wallets: [wallet.id] });
    const got = await world.call("POST", "/payment/send", order, { key: stranger, headers });
    expect([got.status, got.body.error?.code]).toEqual([403, "FORBIDDEN"]);
    for (const id of [sent.body.paymentId, sent.body.signature]) {
      const status = await world.call("GET", `/payment/status/${id}`, undefined, { key: stranger });
      const never = await world.call("GET", `/payment/status/0x${"00".repeat(32)}`, undefined, { key: stranger });
      expect([status.status, status.body.error]).toEqual([404, never.body.error]);
    }
    const history = await world.call("GET", `/payment/history/${wallet.address}`, undefined, { key: stranger });
    expect(history.body.pagination).toMatchObject({ total: 0 });
  });
});

/** A browser sends the Host of the page, wherever the name leads to by now. */
const asPage = (path: string, headers: Record<string, string>): Promise<number> =>
  new Promise((resolve, reject) => {
    const options = { port: world.server.port, host: "127.0.0.1", path, headers };
    request(options, (answer) => resolve(answer.resume().statusCode ?? 0))
      .on("error", reject)
      .end();
  });

describe("a page in a browser of this machine", () => {
  it("reads no figures by a name that was bound to this machine, nor from another page of it", async () => {
    for (const Host of [
      "evil.example",
      "evil.example:4020",
      "127.0.0.1.evil.example",
      "localhost.evil.example",
      "[::2]",
    ]) {
      expect([Host, await asPage("/metrics", { Host })]).toEqual([Host, 401]);
    }
    for (const Host of ["localhost", "LOCALHOST:9", "127.0.0.1", "127.0.0.2:80", "[::1]:4020"]) {
      expect([Host, await asPage("/metrics", { Host })]).toEqual([Host, 200]);
    }
    expect(await asPage("/metrics", { Host: "evil.example", Authorization: `Bearer ${TOKEN}` })).toBe(200);
  });

  it("does nothing in the operator's name", async () => {
    const Authorization = `Bearer ${ADMIN}`;
    for (const extra of [{ Origin: "null" }, { Origin: "http://127.0.0.1" }, { "Sec-Fetch-Site": "same-origin" }]) {
      expect(await asPage("/admin/accounts", { Authorization, ...extra })).toBe(403);
    }
    for (const wrong of [
      `Bearer ${ADMIN} `,
      `Bearer ${ADMIN}a`,
      `Bearer ${TOKEN}`,
      `Basic ${ADMIN}`,
      `Bearer ${world.apiKey}`,
    ]) {
      expect([wrong, await asPage("/admin/accounts", { Authorization: wrong.replace(/ $/, ",") })]).toEqual([
        wrong,
        401,
      ]);
    }
    expect(await asPage("/admin/accounts", { Authorization })).toBe(200);
  });
});

describe("a flood of wrong keys from one address", () => {
  it("takes the figures from nobody who may read them", async () => {
    const own = await createGatewayWorld({ options: { metricsToken: TOKEN } });
    const headers = { "X-Forwarded-For": "203.0.113.1", Authorization: "Bearer no" };
    for (let n = 0; n <= MAX_FAILURES; n += 1) await own.call("GET", "/metrics", undefined, { key: null, headers });
    expect((await own.call("GET", "/metrics", undefined, { key: null, headers })).status).toBe(429);
    expect((await own.call("GET", "/metrics", undefined, { key: null })).status).toBe(200);
    expect(
      (
        await own.call("GET", "/metrics", undefined, {
          key: null,
          headers: { ...headers, Authorization: `Bearer ${TOKEN}` },
        })
      ).status,
    ).toBe(200);
    await own.close();
  });
});
