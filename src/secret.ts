// What a message must never repeat: a key or a password that was put in the wrong place.

/** 32 bytes in hex: a private key of EVM, a seed of Solana. */
const HEX_KEY = "(?:0[xX])?[0-9a-fA-F]{64,}";
/** 64 bytes in base58: a secret key as Solana wallets export it. */
const BASE58_KEY = "[1-9A-HJ-NP-Za-km-z]{86,}";
/** The bytes of a key file, as Solana's own tools write it. */
const KEY_FILE = "(?:[0-9]{1,3}\\s*,\\s*){31,}[0-9]{1,3}";

const KEYS = `${HEX_KEY}|${BASE58_KEY}|${KEY_FILE}`;
const KEY = new RegExp(KEYS);
const EACH_KEY = new RegExp(KEYS, "g");

/** User and password of a URL. */
const USER_INFO = /\/\/[^/\s]*@/g;

/** Could this text hold a private key, or be a URL with a password or a query? */
export const mayBeSecret = (text: string): boolean => KEY.test(text) || /\/\/[^/]*@|:\/\/.*\?/.test(text);

/** Stands in its place. */
export const NOT_SHOWN = "a text that may hold a secret (not shown)";

/** The text without whatever may be a private key, or a user and a password in a URL. */
export const hideKeys = (text: string): string =>
  text.replace(EACH_KEY, "(not shown)").replace(USER_INFO, "//(not shown)@");
