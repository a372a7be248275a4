// A request's body, so that it can be sent a second time exactly as it was: what can be read once only is copied while it is
// sent, up to a cap; everything else stays with the caller and becomes bytes when a 402 came.
import type { Body, CallRequest, FetchInit, FetchInput } from "./call-request.js";
import { toStableForm } from "./form-body.js";

/** What every paid try of a call sends. */
export interface SentBody {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Content-Type, where fetch would have set one by the kind of the body. */
  readonly type: string | undefined;
}

export interface CallBody {
  /** What the first request is made with: the caller's very own, unless its body had to be copied. */
  readonly input: FetchInput;
  readonly init: FetchInit | undefined;
  /** `none`: there is no body. `lost`: it was larger than the cap, or of a kind that cannot be read. Made once. */
  read(): Promise<SentBody | "none" | "lost">;
  /** Nobody will ask for it any more. */
  drop(): void;
}

/** @param maxBytes of a body that can be read once only */
export function openBody(call: CallRequest, maxBytes: number): CallBody {
  const { input, init, request } = call;
  const body = init?.body ?? undefined;
  const same = { input, init, drop: () => {} };
  if (body === undefined) {
    if (!request || !mayHaveBody(request)) return { ...same, read: async () => "none" };
    // One that was read already: the inner fetch refuses it.
    if (request.bodyUsed) return { ...same, read: async () => "lost" };
    const copy = request.clone();
    return { ...same, ...collect(copy.body ?? streamOf(once(() => copy.arrayBuffer())), maxBytes) };
  }
  const stream = toStream(body);
  if (stream === undefined) return { ...same, read: memo(serialise(body)) };
  if (stream.locked) return { ...same, read: async () => "lost" };
  const [sent, kept] = stream.tee();
  return { input, init: { ...init, body: sent } as FetchInit, ...collect(kept, maxBytes) };
}

/** Firefox does not show a Request's body. */
const mayHaveBody = ({ body, method }: Request): boolean =>
  body === undefined ? !/^(?:GET|HEAD)$/.test(method) : body !== null;

async function* once(read: () => Promise<ArrayBuffer>): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(await read());
}

/** The body as a stream, where it can be read once only. */
function toStream(body: NonNullable<Body>): ReadableStream<unknown> | undefined {
  if (typeof body !== "object") return undefined;
  if ("getReader" in body && typeof body.getReader === "function") return body as ReadableStream<unknown>;
  if (Symbol.asyncIterator in body) return streamOf(body as AsyncIterable<unknown>);
  return undefined;
}

function streamOf(parts: AsyncIterable<unknown>): ReadableStream<unknown> {
  const iterator = parts[Symbol.asyncIterator]();
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await iterator.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

/**
 * Reads a branch of the stream ahead of what is sent, but no further than the cap: from there on the other branch flows as if
 * nobody copied.
 */
function collect(stream: ReadableStream<unknown>, maxBytes: number): Pick<CallBody, "read" | "drop"> {
  const reader = stream.getReader();
  const drop = () => void reader.cancel().catch(() => {});
  const readAll = async (): Promise<SentBody | "lost"> => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return { bytes: concat(chunks, size), type: undefined };
      if (!isBytes(value) || size + value.length > maxBytes) break;
      size += value.length;
      // A copy, because a sender may use its memory anew.
      chunks.push(value.slice());
    }
    drop();
    return "lost";
  };
  const all = readAll().catch(() => "lost" as const);
  return { read: () => all, drop };
}

function concat(chunks: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}

/** The name of a class, because test runners have classes of their own. */
const kindOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);
const isBytes = (value: unknown): value is Uint8Array => kindOf(value) === "Uint8Array";

/** The type that fetch derives for each kind. */
const DERIVED: Readonly<Record<string, RegExp | undefined>> = {
  String: /^text\/plain/i,
  URLSearchParams: /^application\/x-www-form-urlencoded/i,
  FormData: /^multipart\/form-data/i,
};
const PLAIN = new Set(["Blob", "File", "ArrayBuffer", "SharedArrayBuffer"]);
const LASTING = new Set(["String", "Blob", "File"]);

/**
 * Bytes and type by fetch's own rules, as the body is now: what its owner changes later is not what was asked for. A foreign
 * class of a known name would come out as text: that is no body to pay for.
 */
function serialise(body: NonNullable<Body>): () => Promise<SentBody | "lost"> {
  const kind = kindOf(body);
  const derived = DERIVED[kind];
  if (!derived && !PLAIN.has(kind) && !ArrayBuffer.isView(body)) return async () => "lost";
  // Not a Response: @hono/node-server puts a class in its place that takes every body for text.
  const take = () => new Request("http://localhost", { method: "POST", body } as FetchInit);
  // What nobody can change is read when it is needed.
  const taken = LASTING.has(kind) ? undefined : take();
  return async () => {
    const made = taken ?? take();
    const type = made.headers.get("content-type") ?? undefined;
    if (derived ? !derived.test(type ?? "") : type !== typeOfBlob(body)) return "lost";
    const bytes = new Uint8Array(await made.arrayBuffer());
    const form = kind === "FormData" ? await toStableForm(bytes, type) : undefined;
    return form ?? { bytes, type };
  };
}

const typeOfBlob = (body: object | string): string | undefined =>
  (typeof body === "object" && "type" in body && typeof body.type === "string" && body.type) || undefined;

function memo<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
