// A response's body read with a bound on bytes and on time: a stranger may send without end, or a byte an hour. What is not
// wanted any more is cancelled, so that no connection is left open.

export interface BodyBounds {
  /** Counted as they come out of decompression. */
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export type BoundedText =
  | { readonly ok: true; readonly text: string }
  /** `broken`: it ended in an error, or somebody else has read it. */
  | { readonly ok: false; readonly problem: "large" | "late" | "broken" };

/** The body as UTF-8 text. Rejects only with the reason of an aborted signal. */
export async function readBodyText(
  response: Response,
  { maxBytes, timeoutMs, signal }: BodyBounds,
): Promise<BoundedText> {
  signal?.throwIfAborted();
  if (response.body === null) return { ok: true, text: "" };
  if (response.body.locked || response.bodyUsed) return { ok: false, problem: "broken" };
  const reader = response.body.getReader();
  // A cancelled stream ends for its reader at once, whatever its sender does.
  const stop = () => void reader.cancel().catch(ignore);
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    stop();
  }, timeoutMs);
  signal?.addEventListener("abort", stop, { once: true });
  try {
    const read = await readAll(reader, maxBytes);
    signal?.throwIfAborted();
    return late ? { ok: false, problem: "late" } : read;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
    // After the end this does nothing; before it, the sender is told to stop.
    stop();
  }
}

async function readAll(reader: ReadableStreamDefaultReader<Uint8Array>, maxBytes: number): Promise<BoundedText> {
  // Not fatal: one broken letter in a description is no reason not to read a price.
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for (;;) {
    const read = await reader.read().catch(ignore);
    if (!read) return { ok: false, problem: "broken" };
    if (read.done) return { ok: true, text: text + decoder.decode() };
    bytes += read.value.length;
    if (bytes > maxBytes) return { ok: false, problem: "large" };
    text += decoder.decode(read.value, { stream: true });
  }
}

/** What a body has to send before its connection is given up. */
const DRAIN: BodyBounds = { maxBytes: 64 * 1024, timeoutMs: 1_000 };

/** Reads a body that nobody wants, as far as that is cheaper than a new connection. Never rejects. */
export const drainBody = async (response: Response): Promise<void> => {
  await readBodyText(response, DRAIN).catch(ignore);
};

/** Gives up a body. Never throws; one that somebody else reads is his. */
export function cancelBody(response: Response): void {
  if (response.body && !response.body.locked) response.body.cancel().catch(ignore);
}

const ignore = (_error: unknown): undefined => undefined;
