import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { Offer } from "../../src/client/offer.js";
import { checksumAddress } from "../../src/networks.js";
import { ether, evm, FOREIGN, offerOf, USDC } from "./challenges.js";
import { authorize, mismatch, NOW, PAYER, STRANGER, transact } from "./signed.js";

let offer: Offer;
beforeAll(async () => {
  offer = await offerOf(evm());
});
const inSeconds = (seconds: number) => String(NOW / 1000 + seconds);

describe("an authorization", () => {
  it("that is exactly the offer passes, in whatever case its addresses are", async () => {
    expect(await mismatch(offer, await authorize(offer))).toBeUndefined();
    const { signature, authorization } = await authorize(offer);
    const lower = { ...authorization, from: PAYER.address.toLowerCase(), to: offer.payTo.toLowerCase() };
    expect(await mismatch(offer, { signature, authorization: lower })).toBeUndefined();
    const foreign = await offerOf(evm({ asset: FOREIGN, extra: { name: "Gold", version: "7" } }));
    expect(await mismatch(foreign, await authorize(foreign))).toBeUndefined();
  });

  it.each([
    ["from another payer", { from: STRANGER.address }, /^from/],
    ["to somebody else", { to: STRANGER.address }, /^to/],
    ["of one unit more", { value: "10001" }, /^value/],
    ["of one unit less", { value: "9999" }, /^value/],
    ["good for a second longer than asked", { validBefore: inSeconds(301) }, /^validBefore/],
    ["good for ten years", { validBefore: inSeconds(315_360_000) }, /^validBefore/],
    ["good for ever", { validBefore: String(2n ** 256n - 1n) }, /^validBefore/],
    ["that begins later than now", { validAfter: inSeconds(1) }, /^validAfter/],
  ])("%s does not", async (_what, message, reason) => {
    expect(await mismatch(offer, await authorize(offer, { message }))).toMatch(reason);
  });

  it("that outlives what its wallet says of it does not: the budget would forget it while it can be spent", async () => {
    expect(await mismatch(offer, await authorize(offer), { expiresAt: NOW + 299_999 })).toMatch(/as the wallet says/);
    expect(await mismatch(offer, await authorize(offer), { validUntil: NOW + 299_999 })).toMatch(/^validBefore/);
  });

  it.each([
    ["another chain", { chainId: 8453 }],
    ["another token", { verifyingContract: checksumAddress(FOREIGN) }],
    ["another domain", { name: "USD Coin" }],
  ])("that is signed for %s does not", async (_what, domain) => {
    expect(await mismatch(offer, await authorize(offer, { domain }))).toMatch(/signature is not/);
  });

  it("that another key signed, or of which a digit was changed, does not", async () => {
    expect(await mismatch(offer, await authorize(offer, { account: STRANGER }))).toMatch(/signature is not/);
    const { signature, authorization } = await authorize(offer);
    const other = { ...authorization, nonce: `0x${"12".repeat(32)}` };
    expect(await mismatch(offer, { signature, authorization: other })).toMatch(/signature is not/);
  });

  it("of a contract wallet passes by its fields: only the chain can tell about its signature", async () => {
    const { authorization } = await authorize(offer);
    const signature = `0x${"ab".repeat(96)}`;
    expect(await mismatch(offer, { signature, authorization })).toBeUndefined();
    expect(await mismatch(offer, { signature, authorization: { ...authorization, value: "10001" } })).toMatch(/^value/);
  });

  it("that cannot be read does not, nor one with anything beside it", async () => {
    const { signature, authorization } = await authorize(offer);
    for (const payload of [
      undefined,
      null,
      7,
      {},
      [],
      { signature },
      { authorization },
      { signature: "0x", authorization },
    ]) {
      expect(await mismatch(offer, payload)).toBeTypeOf("string");
    }
    const more = { signature, authorization, permit2Authorization: { amount: "1" } };
    expect(await mismatch(offer, more)).toMatch(/permit2Authorization/);
    expect(await mismatch(offer, { signature, authorization, ...(await transact()) })).toMatch(/member transaction/);
    const hidden = { signature, authorization: { ...authorization, relayer: STRANGER.address } };
    expect(await mismatch(offer, hidden)).toMatch(/relayer/);
    expect(await mismatch(offer, { signature, authorization: { ...authorization, value: 10_000 } })).toMatch(/value/);
  });

  it("does not pass for an offer that is paid by transaction, nor the reverse", async () => {
    expect(await mismatch(await offerOf(ether()), await authorize(offer))).toMatch(/member/);
    expect(await mismatch(offer, await transact())).toMatch(/member transaction/);
  });
});

describe("without an implementation of secp256k1", () => {
  afterEach(() => {
    vi.doUnmock("../../src/chains/evm/backend.js");
    vi.resetModules();
  });

  it("the fields alone decide", async () => {
    vi.resetModules();
    vi.doMock("../../src/chains/evm/backend.js", () => ({ loadBackend: () => Promise.reject(new Error("none")) }));
    const { findMismatch } = await import("../../src/client/inspect.js");
    const facts = { payer: PAYER.address, validUntil: NOW + 300_000, expiresAt: NOW + 300_000, now: NOW };
    const payload = await authorize(offer, { account: STRANGER });
    expect(await findMismatch(offer, payload, facts)).toBeUndefined();
    const dear = await authorize(offer, { message: { value: "10001" } });
    expect(await findMismatch(offer, dear, facts)).toMatch(/^value/);
  });
});

it("takes the clock for now unless it is told", async () => {
  const { findMismatch } = await import("../../src/client/inspect.js");
  const later = Math.floor(Date.now() / 1000) + 3_600;
  const payload = await authorize(offer, { message: { validAfter: String(later), validBefore: String(later + 60) } });
  const until = (later + 60) * 1000;
  const facts = { payer: PAYER.address, validUntil: until, expiresAt: until };
  expect(await findMismatch(offer, payload, facts)).toMatch(/^validAfter/);
  expect(offer.asset).toBe(USDC);
});
