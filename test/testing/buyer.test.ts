import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { hashTypedData } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod/mini";
import { authorizationTypes } from "../../src/testing/authorization.js";
import { pay, signPayment } from "../../src/testing/buyer.js";
import { type Offer, readReceipt } from "../../src/testing/challenge.js";

// The vector of protocol §3.1: the first well-known dev key.
const account = privateKeyToAccount("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");
const vector = {
  to: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  value: 10_000n,
  validAfter: 0n,
  validBefore: 1_893_456_000n,
  nonce: `0x${"11".repeat(32)}`,
} as const;
const digest = "0x7418c5730e5b1d28b3a3b5616f476479526a4668612cb2deb15e58e8cce0956b";
const signature =
  "0xbc72909f94e2cebee2d4b1375df79e97871474f959804e254bef016d0dca67f576cd8a65a6505cc16668db796372ed51e1bbf10efe7988803ab21ad1a2e697a01c";

const asset = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
const offer: Offer = {
  scheme: "exact",
  network: "eip155:84532",
  amount: "10000",
  asset,
  payTo: vector.to,
  maxTimeoutSeconds: 300,
  extra: { name: "USDC", version: "2" },
};
const { amount: _, ...shared } = offer;
const v1Offer: Offer = {
  ...shared,
  network: "base-sepolia",
  maxAmountRequired: "10000",
  resource: "https://shop.example/",
};
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");
const decode = (text: string): unknown => JSON.parse(Buffer.from(text, "base64").toString());

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

describe("signPayment", () => {
  it("reproduces the digest and the signature of the protocol's vector, in both versions", async () => {
    const domain = { name: "USDC", version: "2", chainId: 84532, verifyingContract: asset } as const;
    const message = { from: account.address, ...vector };
    const types = authorizationTypes;
    expect(hashTypedData({ domain, types, primaryType: "TransferWithAuthorization", message })).toBe(digest);
    const v2 = await signPayment({ account, offer, version: 2, overrides: vector });
    const v1 = await signPayment({ account, offer: v1Offer, version: 1, overrides: vector });
    expect([v2.signature, v1.signature]).toEqual([signature, signature]);
    expect(decode(v1.value)).toEqual({
      x402Version: 1,
      scheme: "exact",
      network: "base-sepolia",
      payload: {
        signature,
        authorization: {
          from: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
          to: vector.to,
          value: "10000",
          validAfter: "0",
          validBefore: "1893456000",
          nonce: vector.nonce,
        },
      },
    });
  });

  it("opens ten minutes ago, closes after the offer's deadline and draws a new nonce each time", async () => {
    const before = BigInt(Math.floor(Date.now() / 1000));
    const [one, two] = await Promise.all([1, 2].map(() => signPayment({ account, offer, version: 2 })));
    const after = BigInt(Math.floor(Date.now() / 1000));
    const { validAfter, validBefore, nonce } = one!.message;
    expect(validAfter >= before - 600n && validAfter <= after - 600n).toBe(true);
    expect(validBefore - validAfter).toBe(900n);
    expect(nonce).toMatch(/^0x[0-9a-f]{64}$/);
    expect(two!.message.nonce).not.toBe(nonce);
  });

  it("sends a v2 offer back unchanged, unknown members too, with resource and extensions", async () => {
    const unusual = { ...offer, extra: { ...offer.extra, paymentFlow: "upfront" }, novelty: [1, { a: null }] };
    const resource = { url: "https://shop.example/ü" };
    const extensions = { bazaar: { info: { input: 1 }, schema: {} } };
    const payment = await signPayment({ account, offer: unusual, version: 2, challenge: { resource, extensions } });
    expect(payment.name).toBe("PAYMENT-SIGNATURE");
    expect(decode(payment.value)).toMatchObject({ x402Version: 2, accepted: unusual, resource, extensions });
  });

  it("carries the retry key inside a v2 payload and beside a v1 one", async () => {
    const retryKey = "order-0123456789abcdef";
    const schema = { type: "object" };
    const extensions = { "payment-identifier": { info: { required: false }, schema } };
    const v2 = await signPayment({ account, offer, version: 2, challenge: { extensions }, retryKey });
    expect(decode(v2.value)).toMatchObject({
      extensions: { "payment-identifier": { info: { required: false, id: retryKey }, schema } },
    });
    expect(Object.keys(v2.headers)).toEqual(["PAYMENT-SIGNATURE"]);
    const v1 = await signPayment({ account, offer: v1Offer, version: 1, retryKey });
    expect(v1.headers).toEqual({ "X-PAYMENT": v1.value, "Idempotency-Key": retryKey });
    expect(JSON.stringify(v1.payload)).not.toContain(retryKey);
  });

  it("signs one requirement for either version, and the wrong thing when told to", async () => {
    const requirement = { ...offer, amount: 10_000n };
    const v1 = await signPayment({ account, offer: requirement, version: 1, overrides: vector });
    const v2 = await signPayment({ account, offer: requirement, version: 2, overrides: vector });
    expect([v1.signature, v2.signature]).toEqual([signature, signature]);
    expect(decode(v2.value)).toMatchObject({ accepted: offer });
    const wrongChain = { chainId: 1 };
    const wrong = await signPayment({ account, offer, version: 2, overrides: vector, domain: wrongChain });
    expect(wrong.signature).not.toBe(signature);
    const forged = await signPayment({ account, offer, version: 2, overrides: { value: 1n }, signature });
    expect(decode(forged.value)).toMatchObject({ payload: { signature, authorization: { value: "1" } } });
  });
});

/** A seller that shows both challenges, counts requests and grants whoever sends any payment header. */
async function seller() {
  const requests: { headers: Record<string, unknown>; body: string }[] = [];
  const resource = { url: "http://seller.example/" };
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    requests.push({ headers: request.headers, body });
    if (request.url === "/free") return response.end("free");
    if (request.headers["payment-signature"] || request.headers["x-payment"]) {
      const receipt = { success: true, transaction: "0x01", network: "eip155:84532" };
      return response.setHeader("PAYMENT-RESPONSE", encode(receipt)).end("goods");
    }
    response.statusCode = 402;
    response.setHeader("PAYMENT-REQUIRED", encode({ x402Version: 2, resource, accepts: [offer] }));
    return response.end(JSON.stringify({ x402Version: 1, error: "pay", accepts: [v1Offer] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => server.close());
  const { port } = z.object({ port: z.number() }).parse(server.address() satisfies AddressInfo | string | null);
  return { url: `http://127.0.0.1:${port}`, requests };
}

describe("pay", () => {
  it.each([1, 2] as const)(
    "reads a version %i challenge, signs it and sends the same request again once",
    async (version) => {
      const { url, requests } = await seller();
      const init = { method: "POST", body: "order", headers: { "x-own": "kept" } };
      const { response, challenge, payment, header } = await pay(url, init, { account, version });
      expect(await response.text()).toBe("goods");
      expect(challenge?.x402Version).toBe(version);
      expect(requests).toHaveLength(2);
      expect(requests[1]).toMatchObject({
        body: "order",
        headers: { "x-own": "kept", [payment!.name.toLowerCase()]: payment!.value },
      });
      expect(header).toEqual({ [payment!.name]: payment!.value });
      expect(readReceipt(response)).toMatchObject({ success: true, transaction: "0x01" });
    },
  );

  it("signs nothing for an answer that is not a 402", async () => {
    const { url, requests } = await seller();
    const { response, payment } = await pay(`${url}/free`, {}, { account, version: 2 });
    expect(await response.text()).toBe("free");
    expect(payment).toBeUndefined();
    expect(requests).toHaveLength(1);
  });

  it("says what it found where nothing is for it, and where to look for the rest", async () => {
    const { url } = await seller();
    const payer = { takes: () => false, sign: () => Promise.reject(new Error("not asked")) };
    const v2 = pay(url, {}, { payer, version: 2 });
    await expect(v2).rejects.toThrow(`no offer that this buyer signs. Its offers: ${asset} on eip155:84532`);
    await expect(v2).rejects.not.toThrow("version 2 only");
    const v1 = pay(url, {}, { payer, version: 1 });
    await expect(v1).rejects.toThrow(
      `${asset} on base-sepolia. Beside other offers, those in the chain's own currency`,
    );
  });

  it("uses the fetch it is given and the offer that is chosen", async () => {
    const { url } = await seller();
    let calls = 0;
    const counted: typeof fetch = (input, init) => {
      calls += 1;
      return fetch(input, init);
    };
    const paying = pay(url, {}, { account, version: 2, fetch: counted, choose: () => undefined });
    await expect(paying).rejects.toThrow("no offer");
    expect(calls).toBe(1);
  });
});
