// Reads a request body and puts it back: the guard needs its digest before the handler runs, and whoever reads the
// request afterwards (a parser, a pipe, an async iteration) must still find every byte of it.
import type { IncomingMessage } from "node:http";

const EMPTY = new Uint8Array(0);
const peeked = new WeakMap<IncomingMessage, Promise<Uint8Array | undefined>>();

/**
 * The raw body, up to `limit` bytes; undefined when someone has read from it already, it is longer, or it broke off.
 * Asked again, it gives the same bytes.
 */
export async function peekBody(req: IncomingMessage, limit: number): Promise<Uint8Array | undefined> {
  if (announcesNone(req)) return EMPTY;
  if (!isChunked(req) && Number(req.headers["content-length"]) > limit) return undefined;
  const known = peeked.get(req);
  if (known) {
    const body = await known;
    return body && body.byteLength <= limit ? body : undefined;
  }
  const reading = readAndPutBack(req, limit);
  peeked.set(req, reading);
  return reading;
}

/** The head speaks of no body, and then HTTP/1.1 has none. */
export function announcesNone(req: IncomingMessage): boolean {
  const declared = req.headers["content-length"];
  return !isChunked(req) && (declared === undefined || Number(declared) === 0);
}

const isChunked = (req: IncomingMessage): boolean => req.headers["transfer-encoding"] !== undefined;

/** A parser has read it, is reading it, or has turned its bytes into text. */
function isTaken(req: IncomingMessage): boolean {
  return (
    req.destroyed ||
    req.readableDidRead ||
    req.readableEnded ||
    req.readableFlowing === true ||
    req.readableEncoding !== null ||
    req.listenerCount("data") > 0
  );
}

async function readAndPutBack(req: IncomingMessage, limit: number): Promise<Uint8Array | undefined> {
  // A listener on a stream that has ended with nothing in it makes it emit `end`, to nobody. One turn later the parser
  // has read to the end of the packet that brought the head, so an end that came with it is known.
  await undefined;
  if (isTaken(req)) return undefined;
  if (req.complete && req.readableLength === 0) return EMPTY;
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;

    const finish = (body: Uint8Array | undefined) => {
      req.off("readable", onReadable);
      req.off("close", onClose);
      resolve(body);
    };
    const onReadable = () => {
      // Invariant: the bytes go back in the tick in which the last of them was read. `end` is emitted one tick later
      // and only when nothing is buffered, so it waits for the next reader.
      while (req.readableLength > 0) {
        const chunk: unknown = req.read();
        if (!Buffer.isBuffer(chunk)) break;
        chunks.push(chunk);
        size += chunk.length;
      }
      if (!req.complete && size <= limit) return;
      const body = Buffer.concat(chunks, size);
      finish(size <= limit ? body : undefined);
      if (size > 0) req.unshift(body);
    };
    const onClose = () => finish(undefined);

    req.on("readable", onReadable);
    req.on("close", onClose);
  });
}
