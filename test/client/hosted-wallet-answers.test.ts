// What a hosted wallet asks its gateway for, what it makes of each answer, and which offers it leaves to others: on a scripted
// gateway.
import { afterEach, describe, expect, it, vi } from "vitest";
import { createGatewayClient } from "../../src/client/gateway-client.js";
import type { SendRequest } from "../../src/client/gateway-client-shapes.js";
import { hostedWallet } from "../../src/client/hosted-wallet.js";
import type { Offer } from "../../src/client/offer.js";
import type { Signed, SignRequest, Wallet } from "../../src/client/wallet.js";
import { PaywallConfigError } from "../../src/errors.js";
import { findNetwork, type Network, tokenByAddress } from "../../src/networks.js";
import { API_KEY, fault, inTurn, movedClock, type Scripted, startScriptedGateway } from "./scripted-gateway.js";

const OWN = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const PAYEE = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const USDC = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
const SOLANA = "AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9";
const base = findNetwork("base-sepolia") as Network;
const devnet = findNetwork("solana-devnet") as Network;

const GIVEN = {
  ...{ scheme: "exact", network: base.id, asset: USDC, payTo: PAYEE, amount: "10000", maxTimeoutSeconds: 60 },
  extra: { name: "USDC", version: "2" },
  outputSchema: { long: "x".repeat(9_000) },
};
const tokenOffer: Offer = {
  ...{ index: 0, version: 2, network: base, method: "eip3009", flow: "authorization", asset: USDC, amount: 10_000n },
  token: tokenByAddress(base, USDC),
  ...{ payTo: PAYEE, maxTimeoutSeconds: 60, extra: GIVEN.extra, given: GIVEN },
};
const nativeOffer: Offer = {
  ...{
    ...tokenOffer,
    method: "transaction",
    flow: "upfront",
    asset: "native",
    token: undefined,
    amount: 2n * 10n ** 15n,
  },
  given: { ...GIVEN, asset: `0x${"0".repeat(40)}`, extra: { assetTransferMethod: "transaction" } },
};

const NOW = 1_800_000_000_000;
afterEach(() => {
  vi.useRealTimers();
});
const request = (more: Partial<SignRequest> = {}): SignRequest => ({
  ...{ resource: "https://shop.example/report", retryKey: "retry-key-0123456789", validUntil: NOW + 600_000 },
  signal: undefined,
  ...more,
});

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64");
const authorization = (validBefore: number) => ({
  signature: `0x${"11".repeat(65)}`,
  authorization: {
    ...{ from: OWN, to: PAYEE, value: "10000", validAfter: "0", nonce: `0x${"22".repeat(32)}` },
    validBefore: String(validBefore),
  },
});
const v1 = (payload: object) => encode({ x402Version: 1, scheme: "exact", network: "base-sepolia", payload });
const AUTHORIZED = authorization(NOW / 1000 + 50);
const TRANSFER = { transaction: "AgME", secret: `0x${"33".repeat(32)}` };

const answer = (more: object = {}): Scripted => ({
  body: {
    ...{ success: true, paymentId: "pay_1", status: "created", sender: OWN, timestamp: NOW / 1000 },
    ...{ paymentProof: v1(AUTHORIZED) },
    ...more,
  },
});
const transferred = answer({ status: "confirmed", paymentProof: v1(TRANSFER) });

async function open(...replies: readonly Scripted[]) {
  vi.useFakeTimers({ now: NOW, toFake: ["Date"] });
  const server = await startScriptedGateway(inTurn(...replies));
  const client = createGatewayClient({ baseUrl: server.url, apiKey: API_KEY, retries: 0 }, movedClock());
  const wallet = hostedWallet(client, OWN.toLowerCase());
  const bodies = () => server.asked.map(({ body }) => body as SendRequest);
  const keys = () => server.asked.map(({ headers }) => headers["idempotency-key"]);
  return { wallet, bodies, keys };
}

const sign = async (wallet: Wallet, offer: Offer = tokenOffer, more: Partial<SignRequest> = {}): Promise<Signed> =>
  wallet.sign(offer, request(more));

describe("what a hosted wallet asks for", () => {
  it("is the offer as it was read, of its members those that decide, under the retry key", async () => {
    const { wallet, bodies, keys } = await open(answer());
    expect(await sign(wallet)).toEqual({ ok: true, payload: AUTHORIZED, payer: OWN, expiresAt: NOW + 50_000 });
    const { scheme, network, asset, payTo, amount, extra } = GIVEN;
    expect(bodies()).toEqual([
      {
        ...{ walletAddress: OWN, recipientAddress: PAYEE, amount: "0.01", network: base.id },
        resource: "https://shop.example/report",
        requirements: { scheme, network, asset, payTo, amount, extra, maxTimeoutSeconds: 60 },
      },
    ]);
    expect(keys()).toEqual(["retry-key-0123456789"]);
    expect([wallet.address, wallet.sends, wallet.balance]).toEqual([OWN, true, undefined]);
  });

  it("is in the words of the offer's own version", async () => {
    const { wallet, bodies } = await open(answer());
    const given = { ...GIVEN, network: "base-sepolia", maxAmountRequired: "10000" };
    await sign(wallet, { ...tokenOffer, version: 1, given });
    expect(bodies()[0]?.requirements).toMatchObject({ network: "base-sepolia", maxAmountRequired: "10000" });
    expect(bodies()[0]?.requirements).not.toHaveProperty("amount");
  });

  it.each([
    ["an offer of ten years", { maxTimeoutSeconds: 315_360_000 }, NOW + 600_000, 590],
    ["a proof that has to end soon", { maxTimeoutSeconds: 60 }, NOW + 30_000, 20],
    ["an offer that ends sooner still", { maxTimeoutSeconds: 15.9 }, NOW + 600_000, 15],
  ])("ends in time: %s", async (_, more, validUntil, seconds) => {
    const { wallet, bodies } = await open(answer());
    await sign(wallet, { ...tokenOffer, ...more }, { validUntil });
    expect(bodies()[0]?.requirements?.maxTimeoutSeconds).toBe(seconds);
  });

  it("is the same for the same key, whenever it is asked for: a transfer has no end of its own", async () => {
    const { wallet, bodies } = await open(transferred);
    await sign(wallet, nativeOffer, { validUntil: NOW + 600_000 });
    await sign(wallet, nativeOffer, { validUntil: NOW + 20_000 });
    expect(bodies()[0]).toEqual(bodies()[1]);
  });

  it("names no resource that the gateway would not take", async () => {
    const { wallet, bodies } = await open(answer());
    await sign(wallet, tokenOffer, { resource: `https://shop.example/${"x".repeat(2_100)}` });
    expect(bodies()[0]).not.toHaveProperty("resource");
  });
});

describe("what a hosted wallet makes of an answer", () => {
  const spent = fault(400, "INSUFFICIENT_BALANCE");
  const lost = fault(500, "INTERNAL_ERROR", { retryable: true });
  const CASES: readonly (readonly [string, Scripted, Offer, object])[] = [
    ["too little money", spent, nativeOffer, { code: "insufficient_funds", sent: false }],
    ["a limit", fault(403, "FORBIDDEN"), nativeOffer, { code: "signing_failed", sent: false }],
    ["a lost answer to a transfer", lost, nativeOffer, { code: "signing_failed", sent: undefined }],
    ["a connection that breaks", "reset", nativeOffer, { code: "signing_failed", sent: undefined }],
    ["a lost answer to a proof that waits for its seller", lost, tokenOffer, { code: "signing_failed", sent: false }],
    ["no proof", answer({ paymentProof: null }), nativeOffer, { sent: undefined }],
    ["a proof that is none", answer({ paymentProof: "bm9uZQ==" }), nativeOffer, { sent: undefined }],
    ["another payer", answer({ sender: PAYEE }), nativeOffer, { sent: undefined }],
    ["a proof that is over", answer({ paymentProof: v1(authorization(NOW / 1000)) }), tokenOffer, { sent: false }],
    [
      "a transfer of long ago",
      answer({ paymentProof: v1(TRANSFER), timestamp: NOW / 1000 - 900 }),
      nativeOffer,
      { sent: false },
    ],
  ];
  it.each(CASES)("is a refusal in words: %s", async (_, reply, offer, expected) => {
    const { wallet } = await open(reply);
    const signed = await sign(wallet, offer);
    expect({ sent: undefined, ...signed }).toMatchObject({ ok: false, ...expected });
    expect(signed.ok ? "" : signed.message).toMatch(/\w{3,}/);
    expect(JSON.stringify(signed)).not.toContain(API_KEY);
  });

  it("is the payload of either version's envelope, good as long as sellers take it", async () => {
    const envelope = { x402Version: 2, accepted: { ...GIVEN, outputSchema: undefined }, payload: TRANSFER };
    const { wallet } = await open(answer({ status: "confirmed", paymentProof: encode(envelope) }));
    expect(await sign(wallet, nativeOffer)).toEqual({
      ok: true,
      payload: TRANSFER,
      payer: OWN,
      expiresAt: NOW + 900_000,
    });
    const waiting = { transaction: "AgME" };
    const { wallet: other } = await open(answer({ paymentProof: v1(waiting) }));
    expect(await sign(other)).toMatchObject({ payload: waiting, expiresAt: NOW + 150_000 });
  });

  it("is asked for again under the first key while nobody knows how it ended, and then not any more", async () => {
    const { wallet, keys } = await open("reset", transferred, transferred);
    const [first, second, third] = ["first-key-0123456789", "second-key-012345678", "third-key-0123456789"];
    expect((await sign(wallet, nativeOffer, { retryKey: first })).ok).toBe(false);
    // Another order is another payment.
    expect((await sign(wallet, { ...nativeOffer, amount: 10n ** 15n }, { retryKey: second })).ok).toBe(true);
    expect((await sign(wallet, nativeOffer, { retryKey: third })).ok).toBe(true);
    expect((await sign(wallet, nativeOffer, { retryKey: third })).ok).toBe(true);
    expect(keys()).toEqual([first, second, first, third]);
  });

  it("is a new payment where the first one is known to have moved nothing, or is a quarter of an hour old", async () => {
    const { wallet, keys } = await open("reset", fault(400, "INSUFFICIENT_BALANCE"), transferred);
    await sign(wallet, nativeOffer, { retryKey: "first-key-0123456789" });
    expect((await sign(wallet, nativeOffer, { retryKey: "second-key-012345678" })).ok).toBe(true);
    expect(keys()).toEqual(["first-key-0123456789", "first-key-0123456789", "second-key-012345678"]);

    const old = await open("reset", answer({ paymentProof: v1(TRANSFER), timestamp: NOW / 1000 + 900 }));
    await sign(old.wallet, nativeOffer, { retryKey: "first-key-0123456789" });
    vi.setSystemTime(NOW + 900_001);
    await sign(old.wallet, nativeOffer, { retryKey: "second-key-012345678" });
    expect(old.keys()).toEqual(["first-key-0123456789", "second-key-012345678"]);
  });
});

describe("an offer that a hosted wallet leaves to others", () => {
  const wallet = hostedWallet(createGatewayClient({ baseUrl: "https://pay.example", apiKey: API_KEY }), OWN, {
    networks: ["base-sepolia", "base"],
  });
  it.each([
    ["of the other family", { network: devnet }, "cannot pay on"],
    [
      "on a network that is not among its own",
      { network: findNetwork("polygon") as Network },
      'add "polygon" to networks',
    ],
    ["that pays itself", { payTo: OWN }, "this very wallet"],
    ["of an unknown token", { token: undefined }, "is not in the built-in table"],
    ["below what the endpoint takes", { amount: 999n }, "from 0.001 to 100 USDC at once, and this is 0.000999"],
    ["above what the endpoint takes", { amount: 100_000_001n }, "and this is 100.000001"],
  ])("is one %s", async (_, more, words) => {
    expect(wallet.takes({ ...tokenOffer, ...more })).toContain(words);
  });

  it("is none at the very bounds", () => {
    for (const amount of [1_000n, 100_000_000n]) expect(wallet.takes({ ...tokenOffer, amount })).toBe(true);
    expect(wallet.takes(nativeOffer)).toBe(true);
  });
});

describe("the options of a hosted wallet", () => {
  it("are refused in words", () => {
    const client = createGatewayClient({ baseUrl: "https://pay.example", apiKey: API_KEY });
    expect(() => hostedWallet(client, "0x123")).toThrow(PaywallConfigError);
    expect(() => hostedWallet(client, OWN, { networks: ["solana"] })).toThrow(/another chain family/);
    expect(() => hostedWallet(client, SOLANA, { networks: ["bse" as "base"] })).toThrow(
      /expected the name of a network/,
    );
    expect(hostedWallet(client, SOLANA).address).toBe(SOLANA);
  });
});
