// Signatures are judged alike by Node's crypto and by WebCrypto, and as strictly as the chain judges them.
import * as nodeCrypto from "node:crypto";
import { afterEach, describe, expect, it, vi } from "vitest";
import { isSmallOrder } from "../../../src/chains/solana/curve.js";
import { createNodeVerifier, createWebVerifier, type NodeCrypto } from "../../../src/chains/solana/ed25519.js";
import { verifyStatic } from "../../../src/chains/solana/verify-static.js";
import { PAYER, pay, STRANGER, TERMS } from "./payment.js";

const VERIFIERS = Object.entries({
  "Node's crypto": createNodeVerifier(nodeCrypto as NodeCrypto),
  WebCrypto: createWebVerifier(),
});
const MESSAGE = new TextEncoder().encode("a message");
const KEY = PAYER.key.toBytes();
const SIGNATURE = Uint8Array.from(nodeCrypto.sign(null, MESSAGE, PAYER.secret));
/** The neutral point and zero: what everyone can write down. */
const CONSTANT = new Uint8Array(64).with(0, 1);
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

/** `y` of the points of small order, also spelled as `y + p` where that has room; the sign of `x` comes on top. */
const SMALL_Y = [
  "00".repeat(32),
  `01${"00".repeat(31)}`,
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  ...["ec", "ed", "ee"].map((first) => `${first}${"ff".repeat(30)}7f`),
];
const weakKeys = (y: string): Uint8Array[] =>
  [0, 0x80].map((sign) => {
    const key = Uint8Array.from(Buffer.from(y, "hex"));
    return key.with(31, key[31]! | sign);
  });

/** The payer's secret as a number, and a number as 32 bytes: what a buyer can calculate with. */
const SCALAR = (() => {
  const half = nodeCrypto.createHash("sha512").update(Buffer.alloc(32, 1)).digest().subarray(0, 32);
  half[0] = half[0]! & 248;
  half[31] = (half[31]! & 127) | 64;
  return fromLittleEndian(half);
})();
function fromLittleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`);
}
const littleEndian = (value: bigint) => Buffer.from(value.toString(16).padStart(64, "0"), "hex").reverse();

function acceptedByOpenSsl(key: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const spki = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), key]);
  const imported = nodeCrypto.createPublicKey({ key: spki, format: "der", type: "spki" });
  return nodeCrypto.verify(null, message, imported, signature);
}

/** A message for which OpenSSL takes a constant for a signature under the key. */
function findForgery(key: Uint8Array): Uint8Array | undefined {
  const messages = Array.from({ length: 200 }, (_, i) => Uint8Array.of(i));
  return messages.find((message) => acceptedByOpenSsl(key, message, CONSTANT));
}

/** The same signature with `s` raised by the group order: the same equation, another spelling. */
function withHighS(signature: Uint8Array): Uint8Array {
  const s = BigInt(`0x${Buffer.from(signature.subarray(32)).reverse().toString("hex")}`) + ORDER;
  const high = Buffer.from(s.toString(16).padStart(64, "0"), "hex").reverse();
  return Uint8Array.from([...signature.subarray(0, 32), ...high]);
}

describe.each(VERIFIERS)("%s", (_, verify) => {
  it("accepts a real signature, also a second time with the key kept", async () => {
    expect(await verify(KEY, MESSAGE, SIGNATURE)).toBe(true);
    expect(await verify(KEY, MESSAGE, SIGNATURE)).toBe(true);
  });

  it("refuses another key, message or signature, and each single changed byte of one", async () => {
    expect(await verify(STRANGER.key.toBytes(), MESSAGE, SIGNATURE)).toBe(false);
    expect(await verify(KEY, MESSAGE.subarray(1), SIGNATURE)).toBe(false);
    expect(await verify(KEY, MESSAGE, new Uint8Array(64))).toBe(false);
    for (let at = 0; at < 64; at++) {
      expect(await verify(KEY, MESSAGE, SIGNATURE.with(at, SIGNATURE[at]! ^ 4))).toBe(false);
    }
  });

  it("refuses lengths that are not ed25519's", async () => {
    expect(await verify(KEY.subarray(1), MESSAGE, SIGNATURE)).toBe(false);
    expect(await verify(KEY, MESSAGE, SIGNATURE.subarray(1))).toBe(false);
    expect(await verify(KEY, MESSAGE, Uint8Array.from([...SIGNATURE, 0]))).toBe(false);
  });

  it("refuses the second spelling of a signature", async () => {
    expect(await verify(KEY, MESSAGE, withHighS(SIGNATURE))).toBe(false);
  });

  it.each(SMALL_Y)("refuses the key %s, under which OpenSSL takes a constant for a signature", async (y) => {
    const forgeries = weakKeys(y).map((key) => ({ key, message: findForgery(key) }));
    expect(forgeries.filter(({ message }) => message)).not.toEqual([]);
    for (const { key, message = MESSAGE } of forgeries) {
      expect(await verify(key, message, CONSTANT)).toBe(false);
      expect(await verify(KEY, MESSAGE, Uint8Array.from([...key, ...SIGNATURE.subarray(32)]))).toBe(false);
    }
  });

  it("refuses a weak key with an ordinary first half, and the payer's key with a weak one", async () => {
    const neutral = CONSTANT.subarray(0, 32);
    const ordinary = Uint8Array.from([...KEY, ...littleEndian(SCALAR % ORDER)]);
    const hash = nodeCrypto.createHash("sha512").update(neutral).update(KEY).update(MESSAGE).digest();
    const weak = Uint8Array.from([...neutral, ...littleEndian((fromLittleEndian(hash) * SCALAR) % ORDER)]);
    expect(acceptedByOpenSsl(neutral, MESSAGE, ordinary)).toBe(true);
    expect(acceptedByOpenSsl(KEY, MESSAGE, weak)).toBe(true);
    expect(await verify(neutral, MESSAGE, ordinary)).toBe(false);
    expect(await verify(KEY, MESSAGE, weak)).toBe(false);
  });
});

it("takes no other key for a point of small order", () => {
  expect(SMALL_Y.flatMap(weakKeys).every(isSmallOrder)).toBe(true);
  expect([KEY, STRANGER.key.toBytes(), new Uint8Array(32).with(0, 2)].some(isSmallOrder)).toBe(false);
});

describe("on a runtime without Node's modules", () => {
  afterEach(() => {
    vi.unstubAllGlobals();
    vi.resetModules();
  });

  async function load(): Promise<typeof verifyStatic> {
    vi.resetModules();
    vi.stubGlobal("process", { ...process, getBuiltinModule: undefined });
    return (await import("../../../src/chains/solana/verify-static.js")).verifyStatic;
  }

  it("the same payment has the same verdict", async () => {
    const portable = await load();
    expect(await portable(pay(), TERMS)).toEqual(await verifyStatic(pay(), TERMS));
    expect(await portable(pay(), TERMS)).toMatchObject({ ok: true });
    expect(await portable(pay(), { ...TERMS, amount: 1n })).toMatchObject({ ok: false, reason: "amount_mismatch" });
  });

  it("and without ed25519 nothing is accepted, and the reason is the runtime's", async () => {
    const portable = await load();
    const importKey = () => Promise.reject(new DOMException("Unrecognized algorithm name", "NotSupportedError"));
    vi.stubGlobal("crypto", { subtle: { digest: crypto.subtle.digest.bind(crypto.subtle), importKey } });
    expect(await portable(pay(), TERMS)).toMatchObject({
      ok: false,
      reason: "verification_failed",
      got: "NotSupportedError: Unrecognized algorithm name",
    });
  });
});
