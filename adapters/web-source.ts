// The body of a Web response, taken from its source: whole where it is small and quick, else as a stream whose first part
// is held. Nothing is read ahead: a chunk is asked for when there is a place for it.
import type { Capture } from "../src/request.js";
import { STREAM_AFTER_MS } from "../src/request.js";
import { concat } from "./web-body.js";

/** What is still to come of a body. */
export interface Source {
  /** The next chunk; undefined at the end. Rejects when the source breaks. */
  next(): Promise<Uint8Array | undefined>;
  /** Nobody reads on. */
  cancel(reason?: unknown): void;
}

export type Taken =
  | { readonly kind: "whole"; readonly body: Uint8Array }
  /** `length` where it is known although nothing was read. */
  | { readonly kind: "stream"; readonly source: Source; readonly length?: number }
  /** It broke off, was stopped, or gave what is no bytes. */
  | { readonly kind: "broken" };

type Reader = ReadableStreamDefaultReader<Uint8Array>;
type Read = ReturnType<Reader["read"]>;

/** Reads until the end, or until it shows that the body is a stream. `capture` counts what is held; `stop` ends it. */
export async function takeBody(
  stream: ReadableStream<Uint8Array>,
  capture: Pick<Capture, "hold" | "flushed">,
  stop: AbortSignal,
): Promise<Taken> {
  if (stream.locked) return { kind: "broken" };
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let timeIsUp = () => {};
  const late = new Promise<"late">((resolve) => {
    timeIsUp = () => resolve("late");
  });
  const stopped = new Promise<"stopped">((resolve) => {
    if (stop.aborted) resolve("stopped");
    else stop.addEventListener("abort", () => resolve("stopped"), { once: true });
  });
  try {
    for (;;) {
      const reading = reader.read();
      const first = await Promise.race([reading, late, stopped]);
      if (first === "late") return { kind: "stream", source: toSource(reader, capture, chunks, reading) };
      if (first !== "stopped" && first.done) return { kind: "whole", body: concat(chunks, size) };
      if (first === "stopped" || !ArrayBuffer.isView(first.value)) {
        cancelSource(reader);
        return { kind: "broken" };
      }
      chunks.push(first.value);
      size += first.value.byteLength;
      if (!capture.hold(first.value.byteLength)) return { kind: "stream", source: toSource(reader, capture, chunks) };
      timer ??= setTimeout(timeIsUp, STREAM_AFTER_MS);
    }
  } catch {
    // The source broke: the handler has no answer, and the app cannot be told of it here.
    return { kind: "broken" };
  } finally {
    clearTimeout(timer);
  }
}

/** A body that is a stream from its first byte on. */
export function sourceOf(stream: ReadableStream<Uint8Array>, capture: Pick<Capture, "flushed">): Source | undefined {
  return stream.locked ? undefined : toSource(stream.getReader(), capture, []);
}

/** A body that is all there. */
export function sourceOfBytes(body: Uint8Array): Source {
  let left: Uint8Array | undefined = body.byteLength > 0 ? body : undefined;
  return {
    async next() {
      const chunk = left;
      left = undefined;
      return chunk;
    },
    cancel() {
      left = undefined;
    },
  };
}

function toSource(reader: Reader, capture: Pick<Capture, "flushed">, held: Uint8Array[], reading?: Read): Source {
  let pending = reading;
  // Safe because `next` meets the same rejection; until then nobody may be listening.
  pending?.catch(() => undefined);
  return {
    async next() {
      const first = held.shift();
      if (first) return first;
      capture.flushed();
      const read = pending ?? reader.read();
      pending = undefined;
      return (await read).value;
    },
    cancel(reason) {
      held.length = 0;
      capture.flushed();
      cancelSource(reader, reason);
    },
  };
}

/** Tells the source that nobody reads on. It may refuse to stop; that is the handler's affair. */
export function cancelSource(source: { cancel(reason?: unknown): Promise<void> }, reason?: unknown): void {
  source.cancel(reason).catch(() => undefined);
}
