// A node's words as they may stand in a log, an event or an answer: short, in ASCII, and without what a node may repeat of
// the bytes it was sent. Who reads a log must not find a payment there, nor a signature.

/** Base64, base58 or hex as long as a signature and more; an address is shorter. */
const BYTES = /[A-Za-z0-9+/=_-]{64,}/g;

/** A node's text. */
export const printable = (text: string): string =>
  text
    .replace(/[^\x20-\x7e]/g, "?")
    .replace(BYTES, "(bytes)")
    .slice(0, 200);

/** A transaction's error as a node writes it: a word, or an object. */
export const printError = (error: unknown): string => printable(JSON.stringify(error));
