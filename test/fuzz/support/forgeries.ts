// Authorizations that are each wrong in one thing: signed over a wrong value, altered after signing, signed for another
// domain, or with a damaged signature. Every field at every boundary. None of them may buy anything.
import { concatHex, type Hex, numberToHex, parseSignature, serializeErc6492Signature, size, slice } from "viem";
import type { AuthorizationMessage, SignPaymentOptions } from "../../../src/testing/index.js";

/** What the forger knows of the sale. */
export interface Sale {
  readonly amount: bigint;
  readonly buyer: Hex;
  readonly payTo: Hex;
  readonly token: Hex;
  readonly settler: Hex;
  /** An account with money, and one with code. */
  readonly stranger: Hex;
  readonly wallet: Hex;
  /** Unix seconds. */
  readonly now: bigint;
}

export interface Forgery {
  readonly name: string;
  readonly version: 1 | 2;
  readonly signing: Partial<Pick<SignPaymentOptions, "overrides" | "domain">>;
  /** Made to the payload after signing. */
  readonly alter: (payload: Payload) => void;
}

export interface Payload extends Record<string, unknown> {
  accepted?: Record<string, unknown> & { extra: Record<string, unknown> };
  payload: { signature: unknown; authorization: Record<string, unknown> };
}

type Kind = Omit<Forgery, "version">;
const keep = () => undefined;
const MAX = 2n ** 256n - 1n;
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** All of them, in both versions where both can say it. */
export function forgeries(sale: Sale): Forgery[] {
  const both = [...signedWrong(sale), ...altered(sale), ...otherDomains(sale), ...damaged()];
  return [
    ...both.map((kind) => ({ ...kind, version: 1 as const })),
    ...both.map((kind) => ({ ...kind, version: 2 as const })),
    ...misnamed(sale),
  ];
}

/** The payer's own signature over what was not offered. */
function signedWrong({ amount, payTo, buyer, token, settler, stranger, wallet, now }: Sale): Kind[] {
  const zero: Hex = `0x${"00".repeat(20)}`;
  const wrong: { [Field in keyof AuthorizationMessage]?: readonly AuthorizationMessage[Field][] } = {
    value: [0n, 1n, amount - 1n, amount + 1n, amount * 2n, amount * 1000n, amount / 2n, 2n ** 128n, MAX],
    to: [zero, buyer, token, settler, stranger, lastBit(payTo), `0x${"ff".repeat(20)}`],
    from: [zero, payTo, token, settler, stranger, wallet, lastBit(buyer), `0x${"ff".repeat(20)}`],
    // Far enough off to stay wrong for as long as the test runs.
    validAfter: [now + 300n, now + 3600n, 2n ** 64n, MAX],
    validBefore: [0n, 1n, now - 1n, now, now + 10n, now + 300n, now + 10_000n, 2n ** 64n, MAX],
  };
  return Object.entries(wrong).flatMap(([field, values]) =>
    values.map((value) => ({
      name: `signed over ${field} ${value}`,
      signing: { overrides: { [field]: value } as Partial<AuthorizationMessage> },
      alter: keep,
    })),
  );
}

const lastBit = (hex: Hex): Hex => numberToHex(BigInt(hex) ^ 1n, { size: size(hex) });

/** A good payment with one field changed on the way. */
function altered({ amount, payTo, buyer, token, stranger, now }: Sale): Kind[] {
  const numbers: readonly unknown[] = [
    ...["0", "1", "-1", "-0", "", " ", "1e4", "0x2710", "10000.0", "10,000", "10_000", "\u0661\u0660", "NaN", "null"],
    ...[2n ** 64n, 2n ** 128n, MAX, MAX + 1n, amount + 1n, amount - 1n, now + 59n].map(String),
    ...[`0${amount}`, ` ${amount}`, `${amount} `, `+${amount}`, `${amount}n`, `${amount}0`],
    ...[0, 10_000, 1.5, -1, Number.MAX_SAFE_INTEGER, null, true, [], {}, [`${amount}`]],
  ];
  const addresses = (own: Hex): readonly unknown[] => [
    ...[lastBit(own), token, stranger, `0x${"00".repeat(20)}`, `0x${"ff".repeat(20)}`],
    ...["", "0x", "0x0", own.slice(2), own.slice(0, -1), `${own}0`, `${own}\0`, ` ${own}`, `0X${own.slice(2)}`],
    ...[`0x${"00".repeat(12)}${own.slice(2)}`, 0, null, true, [own], {}],
  ];
  const nonces = [
    ...["0x", "0x0", `0x${"00".repeat(32)}`, `0x${"ff".repeat(32)}`, `0x${"11".repeat(31)}`, `0x${"11".repeat(33)}`],
    ...["11".repeat(32), `0x${"zz".repeat(32)}`, 0, null, [], {}],
  ];
  const wrong: Record<string, readonly unknown[]> = {
    value: numbers,
    validAfter: numbers,
    validBefore: numbers,
    to: addresses(payTo),
    from: addresses(buyer),
    nonce: nonces,
  };
  return Object.entries(wrong).flatMap(([field, values]) =>
    [...values, undefined].map((value) => ({
      name: `${field} altered to ${JSON.stringify(value)}`,
      signing: {},
      alter: ({ payload }: Payload) => {
        payload.authorization[field] = value;
      },
    })),
  );
}

/** The right message for another token, chain or edition of the token. */
function otherDomains({ payTo, buyer, stranger }: Sale): Kind[] {
  const domains: readonly NonNullable<SignPaymentOptions["domain"]>[] = [
    ...[0, 1, 8453, 84531, 84533, 137, 2 ** 40].map((chainId) => ({ chainId })),
    ...["", "USD Coin", "usdc", "USDC ", "USD", "\uff35SDC"].map((name) => ({ name })),
    ...["", "1", "3", "02", "2.0"].map((version) => ({ version })),
    ...[payTo, buyer, stranger, `0x${"00".repeat(20)}` as Hex].map((verifyingContract) => ({ verifyingContract })),
  ];
  return domains.map((domain) => ({ name: `signed for ${JSON.stringify(domain)}`, signing: { domain }, alter: keep }));
}

/** The right message under a signature that is no longer one, or no longer the one that tokens take. */
function damaged(): Kind[] {
  const change = (name: string, make: (signature: Hex) => unknown): Kind => ({
    name: `signature: ${name}`,
    signing: {},
    alter: ({ payload }) => {
      payload.signature = make(payload.signature as Hex);
    },
  });
  const parts =
    (make: (rs: { r: Hex; s: Hex; v: number }) => { r?: bigint | Hex; s?: bigint | Hex; v?: number }) =>
    (signature: Hex) => {
      const { r, s, yParity } = parseSignature(signature);
      const own = { r, s, v: 27 + yParity };
      const { r: newR, s: newS, v } = { ...own, ...make(own) };
      return concatHex([
        numberToHex(BigInt(newR), { size: 32 }),
        numberToHex(BigInt(newS), { size: 32 }),
        numberToHex(v, { size: 1 }),
      ]);
    };
  const edges = [0n, 1n, ORDER / 2n + 1n, ORDER - 1n, ORDER, ORDER + 1n, MAX];
  return [
    change(
      "the high-s twin",
      parts(({ s, v }) => ({ s: ORDER - BigInt(s), v: 55 - v })),
    ),
    change(
      "high s with the old v",
      parts(({ s }) => ({ s: ORDER - BigInt(s) })),
    ),
    change(
      "the high-s twin with v of 0 or 1",
      parts(({ s, v }) => ({ s: ORDER - BigInt(s), v: 28 - v })),
    ),
    change(
      "r and s swapped",
      parts(({ r, s }) => ({ r: s, s: r })),
    ),
    change(
      "the other v",
      parts(({ v }) => ({ v: 55 - v })),
    ),
    ...[2, 3, 4, 26, 29, 30, 31, 32, 35, 36, 127, 255].map((v) =>
      change(
        `v of ${v}`,
        parts(() => ({ v })),
      ),
    ),
    ...edges.map((r) =>
      change(
        `r of ${r}`,
        parts(() => ({ r })),
      ),
    ),
    ...edges.map((s) =>
      change(
        `s of ${s}`,
        parts(() => ({ s })),
      ),
    ),
    ...Array.from({ length: 32 }, (_, at) =>
      change(`bit ${at * 16} flipped`, (signature) => flipBit(signature, at * 16)),
    ),
    ...[0, 1, 32, 63, 64].map((length) =>
      change(`${length} bytes of it`, (signature) => (length ? slice(signature, 0, length) : "0x")),
    ),
    change("with a byte before it", (signature) => concatHex(["0x00", signature])),
    change("with a byte after it", (signature) => concatHex([signature, "0x00"])),
    change("twice", (signature) => concatHex([signature, signature])),
    change("v first", (signature) => concatHex([slice(signature, 64), slice(signature, 0, 64)])),
    change("compact (EIP-2098)", (signature) => {
      const { r, s, yParity } = parseSignature(signature);
      return concatHex([r, numberToHex(BigInt(s) | (BigInt(yParity) << 255n), { size: 32 })]);
    }),
    change("wrapped (ERC-6492)", (signature) =>
      serializeErc6492Signature({ address: `0x${"11".repeat(20)}`, data: "0x", signature }),
    ),
    change("zeros", () => `0x${"00".repeat(65)}`),
    change("ones", () => `0x${"ff".repeat(65)}`),
    change("8 KiB", () => `0x${"ab".repeat(4096)}`),
    change("not hex", (signature) => signature.replace(/.$/, "g")),
    ...[null, 0, true, [], {}, ""].map((value) => change(`${JSON.stringify(value)} in its place`, () => value)),
  ];
}

const flipBit = (hex: Hex, bit: number): Hex =>
  numberToHex(BigInt(hex) ^ (1n << BigInt(size(hex) * 8 - 1 - bit)), { size: size(hex) });

/** A good signature beside terms that were not offered, or a version that is not the header's. */
function misnamed({ amount, stranger }: Sale): Forgery[] {
  const terms: Record<string, readonly unknown[]> = {
    scheme: ["", "upto", "EXACT", "exact ", null, 1],
    network: [
      "",
      "base-sepolia",
      "eip155:1",
      "eip155:8453",
      "EIP155:84532",
      "eip155:084532",
      "eip155:84532 ",
      null,
      84532,
    ],
    amount: ["0", "1", `${amount - 1n}`, `${amount + 1n}`, `0${amount}`, `${amount} `, "1e4", Number(amount), null],
    asset: [stranger, "", "USDC", `0x${"00".repeat(20)}`, null],
    payTo: [stranger, "", `0x${"00".repeat(20)}`, null],
    maxTimeoutSeconds: [0, -1, 59, 61, 1e9, "60", null],
    extra: [null, {}, [], "USDC", { name: "USDC" }, { name: "USD Coin", version: "2" }, { name: "USDC", version: 2 }],
  };
  const accepted = Object.entries(terms).flatMap(([field, values]) =>
    values.map((value) => ({
      name: `accepted.${field} ${JSON.stringify(value)}`,
      version: 2 as const,
      signing: {},
      alter: (payload: Payload) => {
        payload.accepted![field] = value;
      },
    })),
  );
  const outer = (["scheme", "network", "x402Version"] as const).flatMap((field) =>
    [...(field === "network" ? ["base", "solana", "84532", ""] : ["upto", "", 2, 0, "1"]), null, {}].map((value) => ({
      name: `${field} ${JSON.stringify(value)}`,
      version: 1 as const,
      signing: {},
      alter: (payload: Payload) => {
        payload[field] = value;
      },
    })),
  );
  return [...accepted, ...outer];
}
