// What `evmWallet()` signs for EIP-3009: the window, whatever a seller asks for; the domain of our own table; an unpredictable
// nonce; and what it makes of accounts that fail, refuse, hang, or give something else than a signature.
import { recoverTypedDataAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { EvmAccount } from "../../src/client/evm-account.js";
import { AUTHORIZATION_TYPES } from "../../src/client/evm-account.js";
import { evmWallet } from "../../src/client/evm-wallet.js";
import type { Offer } from "../../src/client/offer.js";
import { exactEvmPayload } from "../../src/wire/payload.js";
import { made, offerOf, refusal, request } from "./wallet-world.js";

const USDC = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
const OTHER = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
const NOW = 1_800_000_000_000;
/** The first well-known development key. */
const account = privateKeyToAccount("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");
const wallet = evmWallet(account);
const usdc = (parts: Partial<Offer> = {}) => offerOf("base-sepolia", USDC, parts);

beforeEach(() => vi.useFakeTimers({ toFake: ["Date"], now: NOW }));
afterEach(() => vi.useRealTimers());

async function sign(offer = usdc(), parts: Parameters<typeof request>[0] = {}, by = wallet) {
  const signed = made(await by.sign(offer, request(parts)));
  const { authorization, signature } = exactEvmPayload.parse(signed.payload);
  return { ...signed, authorization, signature };
}

/** Whose signature it is, for a domain. */
function signerOf({ authorization, signature }: Awaited<ReturnType<typeof sign>>, domain: object) {
  const { value, validAfter, validBefore, ...rest } = authorization;
  const message = { ...rest, value: BigInt(value), validAfter: BigInt(validAfter), validBefore: BigInt(validBefore) };
  const typed = { types: AUTHORIZATION_TYPES, primaryType: "TransferWithAuthorization", domain, message, signature };
  return recoverTypedDataAddress(typed as never);
}

describe("the life of an authorization", () => {
  it("is the seller's time, from ten minutes ago", async () => {
    const { authorization, expiresAt } = await sign();
    expect([authorization.validAfter, authorization.validBefore]).toEqual(["1799999400", "1800000060"]);
    expect(expiresAt).toBe(NOW + 60_000);
  });

  it("is never longer than the buyer allows, and a seller may ask for ten years", async () => {
    const { authorization, expiresAt } = await sign(usdc({ maxTimeoutSeconds: 315_360_000 }));
    expect(authorization.validBefore).toBe("1800000600");
    expect(expiresAt).toBe(NOW + 600_000);
    const odd = await sign(usdc({ maxTimeoutSeconds: 1e300 }), { validUntil: NOW + 30_999 });
    expect([odd.authorization.validBefore, odd.expiresAt]).toEqual(["1800000030", NOW + 30_000]);
  });

  it("is ten seconds at least: with less, no seller could verify and settle it", async () => {
    expect((await sign(usdc({ maxTimeoutSeconds: 1 }))).authorization.validBefore).toBe("1800000010");
    expect(await refusal(wallet.sign(usdc(), request({ validUntil: NOW + 9_999 })))).toEqual([
      "signing_failed",
      "the proof would be good for 9 s only, and sellers need at least 10",
    ]);
    expect((await refusal(wallet.sign(usdc(), request({ validUntil: NOW - 1 }))))[1]).toMatch(/good for 0 s/);
  });
});

describe("the terms of an authorization", () => {
  it("are the offer's, as text, with addresses in their one spelling", async () => {
    const payTo = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
    const { payload, payer } = await sign(usdc({ payTo: payTo.toLowerCase(), amount: 2n ** 200n }));
    expect(payer).toBe(account.address);
    expect(payload).toEqual({
      signature: expect.stringMatching(/^0x[0-9a-f]{130}$/),
      authorization: {
        from: account.address,
        to: payTo,
        value: String(2n ** 200n),
        validAfter: expect.any(String),
        validBefore: expect.any(String),
        nonce: expect.any(String),
      },
    });
  });

  it("have a nonce of their own, of 32 bytes", async () => {
    const nonces = new Set<string>();
    for (let round = 0; round < 20; round++) nonces.add((await sign()).authorization.nonce);
    expect(nonces.size).toBe(20);
    expect([...nonces].every((nonce) => /^0x[0-9a-f]{64}$/.test(nonce))).toBe(true);
  });

  it("are signed over our own table's domain, whatever the seller calls the token", async () => {
    const signed = await sign(usdc({ extra: { name: "Bad Coin", version: "9" } }));
    const ours = { name: "USDC", version: "2", chainId: 84532, verifyingContract: USDC };
    expect(await signerOf(signed, ours)).toBe(account.address);
    expect(await signerOf(signed, { ...ours, name: "Bad Coin", version: "9" })).not.toBe(account.address);
  });

  it("of a token that is not in the table are signed over the seller's domain, or not at all", async () => {
    const unlisted = (extra: object) => offerOf("base-sepolia", OTHER, { extra: { ...extra } });
    const signed = await sign(unlisted({ name: "Coin", version: "1" }));
    const theirs = { name: "Coin", version: "1", chainId: 84532, verifyingContract: OTHER } as const;
    expect(await signerOf(signed, theirs)).toBe(account.address);
    for (const extra of [{}, { name: "Coin" }, { name: "", version: "1" }, { name: 5, version: "1" }]) {
      expect(wallet.takes(unlisted(extra))).toBe(`nobody names the EIP-712 domain of ${OTHER}`);
      expect((await refusal(wallet.sign(unlisted(extra), request())))[0]).toBe("signing_failed");
    }
  });
});

describe("an account", () => {
  const over = (signTypedData: () => unknown) => evmWallet({ address: account.address, signTypedData } as EvmAccount);
  const said = async (signTypedData: () => unknown, parts = {}) =>
    (await refusal(over(signTypedData).sign(usdc(), request(parts))))[1];

  it.each([
    ["rejects", () => Promise.reject(new Error("the device is locked"))],
    [
      "throws at once",
      () => {
        throw new Error("the device is locked");
      },
    ],
    ["wraps its reason", () => Promise.reject(Object.assign(new Error("x"), { shortMessage: "the device is locked" }))],
    ["writes on several lines", () => Promise.reject(new Error("the device\n\n  is\tlocked"))],
  ])("that %s is told in its own words", async (_, signTypedData) => {
    expect(await said(signTypedData)).toBe("the account did not sign: the device is locked");
  });

  it("whose words hold a key or control characters is told without them", async () => {
    const key = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
    const words = await said(() => Promise.reject(new Error(`\u001b[31mbad key 0x${key}`)));
    expect(words).toBe("the account did not sign: ?[31mbad key (not shown)");
    expect(await said(() => Promise.reject(undefined))).toBe("the account did not sign: undefined");
    expect(await said(() => Promise.reject({}))).toBe("the account did not sign: it gave no reason");
  });

  it("whose owner says no has declined, however deep the code 4001 stands", async () => {
    const rejected = Object.assign(new Error("User rejected the request."), { code: 4001 });
    expect(await said(() => Promise.reject(rejected))).toBe("declined");
    const wrapped = new Error("outer", { cause: new Error("inner", { cause: rejected }) });
    expect(await said(() => Promise.reject(wrapped))).toBe("declined");
    const ring = new Error("a ring");
    ring.cause = ring;
    expect(await said(() => Promise.reject(ring))).toBe("the account did not sign: a ring");
  });

  it.each([undefined, null, "", "0x", "0x12", `0x${"11".repeat(64)}`, `0x${"11".repeat(5000)}`, 5, "signed"])(
    "that gives %s gives no signature",
    async (value) => {
      expect(await said(async () => value)).toBe("the account gave something else than a signature");
    },
  );

  it("that writes 0 or 1 for the parity is understood, and a contract wallet's signature stays as it is", async () => {
    const signatureFor = async (text: string) =>
      (
        await sign(
          usdc(),
          {},
          over(async () => text),
        )
      ).signature;
    expect(await signatureFor(`0x${"11".repeat(64)}00`)).toBe(`0x${"11".repeat(64)}1b`);
    expect(await signatureFor(`0x${"11".repeat(64)}01`)).toBe(`0x${"11".repeat(64)}1c`);
    expect(await signatureFor(`0x${"11".repeat(64)}1c`)).toBe(`0x${"11".repeat(64)}1c`);
    expect(await signatureFor(`0x${"00".repeat(200)}01`)).toBe(`0x${"00".repeat(200)}01`);
  });

  it("that never answers is left when the caller gives up, with his reason; nobody is asked after that", async () => {
    const stop = new AbortController();
    const reason = new Error("enough");
    const asked = vi.fn(() => new Promise(() => {}));
    const signing = over(asked).sign(usdc(), request({ signal: stop.signal }));
    await vi.waitUntil(() => asked.mock.calls.length === 1, { timeout: 10_000 });
    stop.abort(reason);
    await expect(signing).rejects.toBe(reason);
    await expect(over(asked).sign(usdc(), request({ signal: stop.signal }))).rejects.toBe(reason);
    expect(asked).toHaveBeenCalledTimes(1);
  });
});
