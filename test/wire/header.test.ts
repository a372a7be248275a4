import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { asciiToBase64, decodeHeader, encodeHeader, MAX_HEADER_LENGTH, toAsciiJson } from "../../src/wire/header.js";
import { paymentV2 } from "./fixtures.js";

const base64 = (text: string) => Buffer.from(text, "utf8").toString("base64");
const texts = fc.string({ unit: "binary", maxLength: 40 });
const objects = fc.dictionary(
  texts.filter((key) => key !== "__proto__"),
  fc.oneof(texts, fc.integer(), fc.boolean(), fc.constant(null), fc.array(texts, { maxLength: 3 })),
  { maxKeys: 6 },
);
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe("encodeHeader", () => {
  it("writes standard padded base64 of ASCII-only JSON, whatever the text", () => {
    fc.assert(
      fc.property(objects, (value) => {
        const header = encodeHeader(value);
        expect(header).toMatch(/^[A-Za-z0-9+/]+={0,2}$/);
        expect(header.length % 4).toBe(0);
        const json = Buffer.from(header, "base64").toString("latin1");
        // biome-ignore lint/suspicious/noControlCharactersInRegex: the point is that nothing outside ASCII is left
        expect(json).toMatch(/^[\u0000-\u007f]*$/);
        expect(JSON.parse(json)).toEqual(plain(value));
      }),
      { seed: 402, numRuns: 1_000 },
    );
  });

  it("is read alike by a client that takes the bytes for Latin-1", () => {
    const value = { description: "Café — 報告 🧾", name: "USD₮0" };
    expect(JSON.parse(atob(encodeHeader(value)))).toEqual(value);
    expect(toAsciiJson({ name: "USD₮0" })).toBe('{"name":"USD\\u20ae0"}');
  });

  it("refuses what JSON cannot say", () => {
    for (const value of [undefined, () => 1, { amount: 1n }]) expect(() => encodeHeader(value)).toThrow(TypeError);
  });
});

describe("decodeHeader", () => {
  it("reads the same value from base64 and base64url, padded or not, with spaces around it", () => {
    fc.assert(
      fc.property(objects, fc.boolean(), (value, ascii) => {
        const padded = ascii ? encodeHeader(value) : base64(JSON.stringify(value));
        const url = padded.replaceAll("+", "-").replaceAll("/", "_");
        const bare = (text: string) => text.replaceAll("=", "");
        for (const text of [padded, bare(padded), url, bare(url), `  ${padded}\t`]) {
          expect(decodeHeader(text)).toEqual({ ok: true, value: plain(value) });
        }
      }),
      { seed: 402, numRuns: 1_000 },
    );
  });

  it("never throws and never accepts anything but an object, on random text", () => {
    const any = fc.oneof(
      fc.string({ maxLength: 200 }),
      fc.base64String({ maxLength: 200 }),
      fc.json({ maxDepth: 5 }).map((json) => base64(json)),
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString("base64url")),
    );
    fc.assert(
      fc.property(any, (text) => {
        const decoded = decodeHeader(text);
        if (decoded.ok) expect(Object.prototype.toString.call(decoded.value)).toBe("[object Object]");
        else expect(decoded).toMatchObject({ code: "payment_malformed", problem: expect.any(String) });
      }),
      { seed: 402, numRuns: 10_000 },
    );
  });

  const good = encodeHeader(paymentV2);
  it.each([
    ["nothing", ""],
    ["two headers joined", `${good}, ${good}`],
    ["a space inside", `${good.slice(0, 8)} ${good.slice(8)}`],
    ["a line break inside", `${good.slice(0, 8)}\n${good.slice(8)}`],
    ["both alphabets at once", "ey+-"],
    ["too much padding", `${base64("{}")}=`],
    ["false padding", "e30" + "=="],
    ["padding alone", "=="],
    ["padding inside", "e3=0"],
    ["a single digit left over", `${base64("{} ")}A`],
    ["two unused bits that are set, so that the text has a twin", "e31="],
    ["four unused bits that are set", base64('{"a":1}').replace("Q==", "R==")],
    ["text that is not base64", "not base64!"],
    ["base64 of no JSON", base64("{")],
    ["a byte order mark", base64("\ufeff{}")],
    ["bytes that are neither JSON nor text", Buffer.from([0xff, 0xfe, 0x00, 0x7b]).toString("base64")],
    ["an array", base64("[]")],
    ["null", base64("null")],
    ["a number", base64("1")],
    ["a text", base64('"x"')],
    ["a member named __proto__", base64('{"a":{"__proto__":{"x402Version":2}}}')],
  ])("refuses %s", (_what, text) => {
    expect(decodeHeader(text)).toMatchObject({ ok: false, code: "payment_malformed" });
  });

  it("accepts 32 levels of nesting and refuses 33, and ten thousand", () => {
    const nested = (levels: number) => base64(`${'{"a":'.repeat(levels - 1)}{}${"}".repeat(levels - 1)}`);
    expect(decodeHeader(nested(32)).ok).toBe(true);
    expect(decodeHeader(nested(33))).toMatchObject({ ok: false, code: "payment_malformed" });
    expect(decodeHeader(base64(`{"a":${"[".repeat(6_000)}${"]".repeat(6_000)}}`)).ok).toBe(false);
  });

  it("refuses more than 16 KiB before it decodes anything", () => {
    const filled = (length: number) => {
      const text = base64(JSON.stringify({ a: "" }).padEnd((length / 4) * 3, " "));
      expect(text.length).toBe(length);
      return text;
    };
    expect(decodeHeader(filled(MAX_HEADER_LENGTH)).ok).toBe(true);
    expect(decodeHeader(filled(MAX_HEADER_LENGTH + 4))).toMatchObject({ ok: false, code: "payment_header_too_large" });
    expect(decodeHeader(" ".repeat(1_000_000))).toMatchObject({ ok: false, code: "payment_header_too_large" });
  });
});

describe("without Node's Buffer", () => {
  afterEach(() => vi.resetModules());

  it("writes and reads the same headers", async () => {
    const expected = [paymentV2, { text: "Café 🧾" }].map((value) => encodeHeader(value));
    const utf8Header = base64('{"text":"Café 🧾"}');
    const kept = globalThis.Buffer;
    vi.resetModules();
    Reflect.set(globalThis, "Buffer", undefined);
    let bare: typeof import("../../src/wire/header.js");
    try {
      bare = await import("../../src/wire/header.js");
    } finally {
      Reflect.set(globalThis, "Buffer", kept);
    }
    expect(bare.encodeHeader).not.toBe(encodeHeader);
    expect([paymentV2, { text: "Café 🧾" }].map((value) => bare.encodeHeader(value))).toEqual(expected);
    expect(bare.decodeHeader(utf8Header)).toEqual({ ok: true, value: { text: "Café 🧾" } });
    const url = Buffer.from('{"a":"?>?>~~~"}').toString("base64url");
    expect(url).toMatch(/-.*_|_.*-/);
    expect(bare.decodeHeader(url)).toEqual({ ok: true, value: { a: "?>?>~~~" } });
    expect(bare.asciiToBase64("{}")).toBe(asciiToBase64("{}"));
  });
});

it("reads a header in Latin-1, as clients write it that take a description's characters for bytes", () => {
  const header = Buffer.from('{"description":"Café"}', "latin1").toString("base64");
  expect(decodeHeader(header)).toEqual({ ok: true, value: { description: "Café" } });
});
