// What is wrong with a key or a URL, in kind: the value itself may be a secret, so no sentence holds any of it.

/** Why this is no private key. `undefined` counts as not given. */
export function keyProblem(value: unknown): string {
  const expected = 'expected a private key (0x and 64 hex digits, for example "0x4c08…f3a1") or a viem account';
  return `${expected}; got ${keyKind(value)}`;
}

function keyKind(value: unknown): string {
  if (typeof value !== "string") return kindOf(value, "an object that cannot sign transactions");
  if (value === "") return "an empty text";
  if (/^\s|\s$/.test(value)) return "a text with white space at an end";
  if (/^[0-9a-f]{64}$/i.test(value)) return "64 hex digits without the 0x in front";
  if (/^[1-9A-HJ-NP-Za-km-z]{86,88}$/.test(value)) return "a text of the form of a Solana secret key";
  if (!value.startsWith("0x")) return "a text that does not begin with 0x";
  if (value === "0x…" || value === "0x...") return "a text that stands for a key: put your own here";
  const digits = value.slice(2);
  if (/^[0-9a-f]*$/i.test(digits)) return `0x and ${digits.length} hex digits`;
  return "a text that has other signs than hex digits after 0x";
}

/** Why this is no key of a Solana fee payer. `undefined` counts as not given. */
export function solanaKeyProblem(value: unknown): string {
  const expected =
    "expected a Solana secret key (base58 of 64 bytes, or a 32-byte seed as 64 hex digits) or an account with address and " +
    "signMessage";
  return `${expected}; got ${solanaKeyKind(value)}`;
}

/** Key files hold bytes. One spelling of a key is enough to keep out of logs, so the seller writes the seed in hex himself. */
const FROM_FILE =
  "a list of bytes, as key files hold: write its first 32 in hex, as this prints them: " +
  `node -p "Buffer.from(require('./id.json').slice(0,32)).toString('hex')"`;

/** The bytes of a secret key as they are, which look like a list of several. */
export const isByteList = (value: unknown): boolean =>
  value instanceof Uint8Array || (Array.isArray(value) && value.length >= 32 && value.every(Number.isInteger));

function solanaKeyKind(value: unknown): string {
  if (isByteList(value)) return FROM_FILE;
  if (typeof value !== "string") return kindOf(value, solanaObject(Object(value)));
  if (value === "") return "an empty text";
  if (/^\s|\s$/.test(value)) return "a text with white space at an end";
  if (/^\[[\d\s,]*\]$/.test(value)) return `the text of ${FROM_FILE}`;
  if (value.endsWith("…") || value.endsWith("...")) return "a text that stands for a key: put your own here";
  if (/^(?:0x)?[0-9a-f]+$/i.test(value)) return hexKind(value.replace(/^0x/i, "").length);
  if (/[^1-9A-HJ-NP-Za-km-z]/.test(value)) return "a text with signs that base58 does not have";
  if (/^.{32,44}$/.test(value)) return "what may be a public key (an address), or half of a secret one";
  return /^.{86,88}$/.test(value)
    ? "base58 whose two halves do not fit, such as a transaction's signature"
    : `base58 of ${value.length} characters, where 64 bytes have 86 to 88`;
}

const solanaObject = (value: object): string =>
  "secretKey" in value
    ? "a pair of keys: write its secretKey in base58"
    : "an object that cannot sign messages for a Solana address";

const hexKind = (digits: number): string =>
  digits === 64
    ? "a seed in hex, whose address this runtime cannot tell: write the secret key in base58"
    : `${digits} hex digits`;

/** Why this is no wallet of either chain family. `undefined` counts as not given. */
export function walletProblem(value: unknown): string {
  const expected =
    "expected a wallet: a private key (0x and 64 hex digits), a Solana secret key (base58 of 64 bytes), an account that can " +
    "sign, or { evm, solana }";
  return `${expected}; got ${isByteList(value) ? FROM_FILE : keyKind(value)}`;
}

/** Why this is no http(s) URL. `what` says what it should lead to. */
export function urlProblem(value: unknown, what: string, example: string): string {
  return `expected the http(s) URL of ${what}, for example "${example}"; got ${urlKind(value)}`;
}

function urlKind(value: unknown): string {
  if (typeof value !== "string") return kindOf(value, "an object");
  if (value === "") return "an empty text";
  if (/\s/.test(value)) return "a text with white space in it";
  if (/^wss?:/i.test(value)) return "a WebSocket URL";
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return "a text without http:// or https:// in front";
  if (!/^https?:/i.test(value)) return "a URL that is neither http nor https";
  if (!URL.canParse(value)) return "a text that cannot be read as a URL";
  const { username, password } = new URL(value);
  if (username !== "" || password !== "") return "a URL with credentials in it";
  if (value.includes("?")) return "a URL with a query";
  return value.includes("#") ? "a URL with a fragment" : "a URL of another form";
}

function kindOf(value: unknown, object: string): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  return typeof value === "object" ? object : `a ${typeof value}`;
}
