// Text of a node or of a contract, made fit for logs, events and buyers: short, printable, and without bytes. Nodes like to
// repeat what they were sent, and the bytes of a payment are nobody else's business.

const LONGEST = 160;
/** Hex or base64 of 48 bytes and more, or 32 in hex: transactions, signatures, secrets, keys. */
const BYTES = /(?:0x)?[0-9a-zA-Z+/_-]{64,}={0,2}/g;

/** The text without whatever may be bytes. */
export const withoutBytes = (text: string): string => text.replace(BYTES, "(bytes)");

/** At most 160 characters of printable ASCII, without bytes. */
export const printable = (text: string): string =>
  // Cut last: a run that is cut first may be too short to be known for what it is.
  withoutBytes(text)
    .slice(0, LONGEST)
    .replace(/[^\x20-\x7e]/g, "?");
