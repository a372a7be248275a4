import { createHash } from "node:crypto";
import fc from "fast-check";
import { keccak256, type TransactionSerializable } from "viem";
import { beforeAll, describe, expect, it } from "vitest";
import type { Offer } from "../../src/client/offer.js";
import { ether, FOREIGN, offerOf, PAYEE, plain, USDC } from "./challenges.js";
import { callToken, mismatch, PAYER, STRANGER, transact, transactToken } from "./signed.js";

let native: Offer;
let token: Offer;
beforeAll(async () => {
  [native, token] = await Promise.all([offerOf(ether()), offerOf(plain())]);
});

const SECRET = `0x${"5e".repeat(32)}`;
const REFERENCE = createHash("sha256")
  .update(Buffer.from(SECRET.slice(2), "hex"))
  .digest("hex");

describe("a transaction of one's own", () => {
  it("that is exactly the offer passes, in native currency and in a token", async () => {
    expect(await mismatch(native, await transact())).toBeUndefined();
    expect(await mismatch(token, await transactToken())).toBeUndefined();
  });

  it("may carry the hash of the secret beside it, and of no other one", async () => {
    const transaction = await transact({ data: `0x${REFERENCE}` });
    expect(await mismatch(native, { ...transaction, secret: SECRET })).toBeUndefined();
    const inToken = await transactToken({ data: `${callToken("transfer", PAYEE, 10_000n)}${REFERENCE}` });
    expect(await mismatch(token, { ...inToken, secret: SECRET })).toBeUndefined();
    for (const secret of [undefined, `0x${"5f".repeat(32)}`]) {
      expect(await mismatch(native, { ...transaction, secret })).toMatch(/another secret/);
    }
  });

  it.each([
    ["on another chain", { chainId: 8453 }, /chain id/],
    ["to somebody else", { to: STRANGER.address }, /to 0x7099.*got one to/],
    ["of one wei more", { value: 10_001n }, /transfer of 10000, got 10001/],
    ["of one wei less", { value: 9_999n }, /transfer of 10000, got 9999/],
    ["that calls the payee", { data: "0x12345678" as const }, /more, or something else/],
    ["that burns gas", { gas: 60_000_000n }, /gas may cost/],
    ["with gas at any price", { maxFeePerGas: 10n ** 13n }, /gas may cost/],
    ["that creates a contract", { to: null, data: "0x00" as const }, /creation/],
    ["with an access list", { accessList: [{ address: PAYEE, storageKeys: [] }] }, /access list/],
  ] as const)("%s does not", async (_what, parts, reason) => {
    expect(await mismatch(native, await transact(parts as never))).toMatch(reason);
  });

  it.each([
    ["of another token", { to: USDC }, /transfer of 0x5FbDB/],
    ["of native currency", { to: PAYEE, value: 10_000n, data: "0x" }, /got one of native/],
    ["with native currency beside it", { value: 1n }, /more, or something else/],
    ["that approves instead", { data: callToken("approve", PAYEE, 10_000n) }, /more, or something else/],
    ["to somebody else", { data: callToken("transfer", STRANGER.address, 10_000n) }, /to 0x7099.*got one to/],
    ["of one unit more", { data: callToken("transfer", PAYEE, 10_001n) }, /got 10001/],
    ["with something after it", { data: `${callToken("transfer", PAYEE, 10_000n)}00` }, /more, or something else/],
  ] as const)("in a token %s does not", async (_what, parts, reason) => {
    expect(await mismatch(token, await transactToken(parts as never))).toMatch(reason);
  });

  it("may cost more gas in a currency that is worth less, and there too not any amount", async () => {
    const polygon = await offerOf(ether({ network: "eip155:137" }));
    const costs = (pol: bigint) => transact({ chainId: 137, gas: 100_000n, maxFeePerGas: pol * 10n ** 13n });
    expect(await mismatch(polygon, await costs(10n))).toBeUndefined();
    expect(await mismatch(polygon, await costs(11n))).toMatch(/gas may cost/);
  });

  it("signed by another account than the wallet says does not", async () => {
    expect(await mismatch(native, await transact({}, STRANGER))).toMatch(/signed by/);
    expect(await mismatch(native, await transact(), { payer: STRANGER.address })).toMatch(/signed by/);
  });

  it("of another type does not, nor an id in the place of bytes", async () => {
    const old: TransactionSerializable = {
      type: "legacy",
      chainId: 84532,
      nonce: 7,
      gas: 21_000n,
      gasPrice: 1n,
      to: PAYEE,
      value: 10_000n,
    };
    const raw = await PAYER.signTransaction(old);
    const legacy = Buffer.from(raw.slice(2), "hex").toString("base64");
    expect(await mismatch(native, { transaction: legacy })).toMatch(/type 2/);
    expect(await mismatch(native, { transaction: keccak256(raw) })).toMatch(/an id/);
    expect(await mismatch(native, { transaction: raw })).toBeTypeOf("string");
    expect(await mismatch(native, { ...(await transact()), authorization: {} })).toMatch(/member authorization/);
  });

  it("of which any byte was changed does not", async () => {
    const bytes = Buffer.from((await transact()).transaction, "base64");
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ change;
        expect(await mismatch(native, { transaction: changed.toString("base64") })).toBeTypeOf("string");
      }),
      { seed: 402, numRuns: 300 },
    );
    expect(FOREIGN).toBe(token.asset);
  });
});
