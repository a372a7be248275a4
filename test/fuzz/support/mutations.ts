// Wrong payment headers made from right ones: JSON edited at any member, then written in a right or a wrong encoding.
// The edits work on JSON text, because much of what is wrong (twin keys, 1e999, __proto__) cannot be held by a value.
import fc from "fast-check";

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** JSON texts that stand where something else is expected. */
const TOKENS: readonly string[] = [
  ...["null", "true", "false", "0", "1", "-1", "-0", "0.1", "1e999", "1e-7", "10000", "9007199254740993"],
  ...["[]", "{}", "[[]]", '[{"a":1}]', '{"length":0}', '{"toString":1,"valueOf":2}'],
  ...['{"__proto__":{"polluted":true}}', '{"constructor":{"prototype":{"polluted":true}}}', '{"then":1}'],
  ...['""', '" "', '"0"', '"1"', '"-1"', '"00"', '"010000"', '" 10000"', '"10000 "', '"1e4"', '"0x2710"', '"+10000"'],
  ...['"10000.0"', '"10_000"', '"9999"', '"10001"', '"NaN"', '"Infinity"', '"\\u0661\\u0660"', '"\uff11\uff10"'],
  ...['"0x"', '"0x0"', '"0X00"', `"0x${"0".repeat(40)}"`, `"0x${"f".repeat(64)}"`, `"0x${"ab".repeat(65)}"`],
  ...[
    `"0x${"cd".repeat(4096)}"`,
    `"0x${"00".repeat(32)}${"6492".repeat(16)}"`,
    `"0x${"ff".repeat(96)}${"6492".repeat(16)}"`,
  ],
  ...['"\\u0000"', '"\\ud800"', '"\\u202e"', '"\u{1f4b8}"', '"</script>"', '"\\r\\nX-Evil: 1"', '"__proto__"'],
  ...['"constructor"', '"hasOwnProperty"', '"EXACT"', '"exact "', '"upto"', '"base"', '"base-sepolia"', '"solana"'],
  ...['"eip155:1"', '"eip155:084532"', '"EIP155:84532"', '"eip155:84532"', '"*"', '"2"', "2", "3", "60", "59.9"],
  ...[2n ** 53n, 2n ** 128n, 2n ** 256n - 1n, 2n ** 256n].flatMap((big) => [`${big}`, `"${big}"`, `"-${big}"`]),
  ...[`1${"0".repeat(400)}`, `"${"9".repeat(5000)}"`, `"${"x".repeat(9000)}"`, `"${"\u00e9".repeat(300)}"`],
  ...[
    `${"[".repeat(33)}${"]".repeat(33)}`,
    `${"[".repeat(4000)}${"]".repeat(4000)}`,
    `${'{"a":'.repeat(60)}1${"}".repeat(60)}`,
  ],
];

const KEYS = [
  "__proto__",
  "constructor",
  "toString",
  "authorization",
  "permit2Authorization",
  "transaction",
  "X",
  "",
  "\u202e",
];

const KINDS = [
  "replace",
  "remove",
  "twinBefore",
  "twinAfter",
  "rename",
  "add",
  "wrap",
  "number",
  "upper",
  "cut",
  "flip",
  "near",
] as const;
export interface Edit {
  readonly kind: (typeof KINDS)[number];
  readonly at: number;
  readonly pick: number;
}

export const edit: fc.Arbitrary<Edit> = fc.record({
  // What keeps its shape gets furthest.
  kind: fc.constantFrom(...KINDS, "replace", "replace", "flip", "flip", "flip", "flip", "near", "near", "near"),
  at: fc.nat(10_000),
  pick: fc.nat(10_000),
});

const of = <T>(list: readonly T[], pick: number): T => list[pick % list.length] as T;

/** Every member of a JSON value, as paths. */
function placesOf(value: Json, path = ""): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [`${path}/${key}`, ...placesOf(member, `${path}/${key}`)]);
}

/** The JSON text of a payload with its edits made; edits that meet at one member: the first counts. */
export function editJson(payload: object, edits: readonly Edit[]): string {
  const value = payload as Json;
  const places = placesOf(value);
  const byPlace = new Map(edits.map((one) => [of(places, one.at), one] as const).reverse());
  const write = (member: Json, path: string): string => {
    if (typeof member !== "object" || member === null) return JSON.stringify(member);
    if (Array.isArray(member)) return `[${member.map((item, at) => write(item, `${path}/${at}`)).join(",")}]`;
    const members = Object.entries(member).flatMap(([key, inner]) => {
      const made = byPlace.get(`${path}/${key}`);
      return made
        ? editMember(key, inner, write(inner, `${path}/${key}`), made)
        : [named(key, write(inner, `${path}/${key}`))];
    });
    return `{${members.join(",")}}`;
  };
  return write(value, "");
}

const named = (key: string, text: string): string => `${JSON.stringify(key)}:${text}`;

/** The members that stand in a member's place. */
function editMember(key: string, value: Json, text: string, { kind, pick }: Edit): string[] {
  const token = of(TOKENS, pick);
  switch (kind) {
    case "remove":
      return [];
    case "replace":
      return [named(key, token)];
    case "twinBefore":
      return [named(key, token), named(key, text)];
    case "twinAfter":
      return [named(key, text), named(key, token)];
    case "rename":
      return [named(of(KEYS, pick), text)];
    case "add":
      return [named(key, text), named(of(KEYS, pick), token)];
    case "wrap":
      return [named(key, pick % 2 ? `[${text}]` : `{"value":${text}}`)];
    case "number":
      return [named(key, typeof value === "string" && /^\d+$/.test(value) ? value : token)];
    case "upper":
      return [named(key, text.toUpperCase().replace(/\\U/g, "\\u").replace(/"0X/, '"0x'))];
    case "flip":
      return [named(key, typeof value === "string" ? JSON.stringify(flip(value, pick)) : token)];
    case "near":
      return [named(key, typeof value === "string" && /^\d+$/.test(value) ? near(value, pick) : flip(text, pick))];
    case "cut":
      return [
        named(key, typeof value === "string" ? JSON.stringify(value.slice(0, pick % (value.length + 1))) : token),
      ];
  }
}

/** Another digit in the place of one: hex stays hex and decimal stays decimal, unless it is the x of 0x. */
function flip(text: string, pick: number): string {
  const at = pick % text.length;
  const digits = /^\d+$/.test(text) ? "0123456789" : "0123456789abcdef";
  return text.slice(0, at) + digits[(pick >> 4) % digits.length] + text.slice(at + 1);
}

const near = (digits: string, pick: number): string =>
  `"${BigInt(digits) + (of([-1n, 1n, -100n, 100n, 60n], pick) ?? 1n)}"`;

const base64 = (text: string, encoding: BufferEncoding = "utf8") => Buffer.from(text, encoding).toString("base64");

/** Ways to write a payload's JSON into a header, the right ones first. */
const ENCODINGS: readonly ((json: string, pick: number) => string)[] = [
  (json) => base64(json),
  (json) => Buffer.from(json).toString("base64url"),
  (json) => base64(json).replace(/=+$/, ""),
  (json) => `  ${base64(json)} `,
  (json) => base64(json, "latin1"),
  (json) => base64(json, "utf16le"),
  (json) => base64(`\ufeff${json}`),
  (json) => base64(base64(json)),
  (json) => json,
  (json) => encodeURIComponent(base64(json)),
  (json) => Buffer.from(json).toString("hex"),
  (json) => `${base64(json)}=`,
  (json) => `${base64(json)}, ${base64(json)}`,
  (json) => `Bearer ${base64(json)}`,
  (json, pick) => base64(json).slice(0, pick % (base64(json).length + 1)),
  (json, pick) => insert(base64(json), pick, of(["-_", "+/", " ", "\n", "=", "\0", "%", "\u00e9", "A"], pick)),
  (json, pick) => swapDigit(base64(json), pick),
  (json, pick) => base64(json.slice(0, pick % (json.length + 1))),
  (json) => base64(`${json}${json}`),
  (json) => base64(`[${json}]`),
  (json) => base64(JSON.stringify(json)),
  (json) => base64(json.replaceAll('"', "'")),
  (json) => base64(json).repeat(30),
  (json) => base64(json + " ".repeat(20_000)),
];
const RIGHT = 4;

const insert = (text: string, at: number, extra: string) =>
  text.slice(0, at % (text.length + 1)) + extra + text.slice(at % (text.length + 1));

function swapDigit(text: string, pick: number): string {
  const at = pick % text.length;
  const digit = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[(pick >> 3) % 64];
  return text.slice(0, at) + digit + text.slice(at + 1);
}

export interface Disguise {
  readonly encoding: number;
  readonly pick: number;
}

/** Most are right, so that most edits are seen by what stands behind the decoder. */
export const disguise: fc.Arbitrary<Disguise> = fc.record({
  encoding: fc.oneof(
    { weight: 5, arbitrary: fc.nat(RIGHT - 1) },
    { weight: 1, arbitrary: fc.integer({ min: RIGHT, max: ENCODINGS.length - 1 }) },
  ),
  pick: fc.nat(100_000),
});

/** The header text of a JSON text. */
export const encode = (json: string, { encoding, pick }: Disguise): string => of(ENCODINGS, encoding)(json, pick);

/** Header texts that were never a payment. */
export const noise: fc.Arbitrary<string> = fc.oneof(
  fc.string({ maxLength: 300 }),
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes).toString("latin1")),
  fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes).toString("base64")),
  fc.json({ maxDepth: 6 }).map((json) => base64(json)),
  fc.constantFrom(...TOKENS).map((token) => base64(token)),
  fc.constantFrom(...TOKENS).map((token) => base64(`{"x402Version":2,"accepted":${token},"payload":${token}}`)),
  fc.nat(40_000).map((length) => "A".repeat(length)),
);
