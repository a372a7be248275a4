// The kinds of answer that a handler gives: each must arrive whole when it is paid, and not with one byte when it is not.
import type { Reply } from "./framework.js";
import { GOODS } from "./shop.js";

export interface ReplyStyle {
  readonly name: string;
  readonly reply: () => Reply;
  /** What a buyer must find in the body. */
  readonly body: string;
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

async function* inParts(...parts: string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield bytes(part);
}

const LONG = Array.from({ length: 40 }, (_, at) => `${GOODS} ${at} `.repeat(600));
/** Over every cap on what is held. */
const MANY = Array.from({ length: 48 }, (_, at) => `${GOODS} ${at} `.padEnd(64 * 1024, "."));
const EVENTS = [`data: ${GOODS}\n\n`, "data: more\n\n"];
/** Every answer has it, so that a header alone would show that something of the goods got out. */
const MARK = { "X-Goods": GOODS };
const PLAIN = { ...MARK, "Content-Type": "text/plain" };

export const REPLY_STYLES: readonly ReplyStyle[] = [
  { name: "text", reply: () => ({ status: 200, headers: PLAIN, body: GOODS }), body: GOODS },
  {
    name: "JSON",
    reply: () => ({ status: 200, headers: MARK, body: { json: { report: GOODS } } }),
    body: JSON.stringify({ report: GOODS }),
  },
  {
    name: "bytes",
    reply: () => ({
      status: 201,
      headers: { ...MARK, "Content-Type": "application/octet-stream" },
      body: bytes(GOODS),
    }),
    body: GOODS,
  },
  {
    name: "a short stream",
    reply: () => ({ status: 200, headers: PLAIN, body: inParts("the ", "goods") }),
    body: GOODS,
  },
  {
    name: "a long stream",
    reply: () => ({ status: 200, headers: PLAIN, body: inParts(...LONG) }),
    body: LONG.join(""),
  },
  {
    name: "an event stream",
    reply: () => ({ status: 200, headers: { ...MARK, "Content-Type": "text/event-stream" }, body: inParts(...EVENTS) }),
    body: EVENTS.join(""),
  },
  {
    name: "a stream of 3 MiB",
    reply: () => ({ status: 200, headers: PLAIN, body: inParts(...MANY) }),
    body: MANY.join(""),
  },
  { name: "a long text", reply: () => ({ status: 200, headers: PLAIN, body: LONG.join("") }), body: LONG.join("") },
  { name: "an empty 200", reply: () => ({ status: 200, headers: MARK, body: "" }), body: "" },
  { name: "no content", reply: () => ({ status: 204, headers: MARK, body: null }), body: "" },
  {
    name: "a redirect",
    reply: () => ({ status: 302, headers: { ...MARK, Location: "/elsewhere" }, body: null }),
    body: "",
  },
];
