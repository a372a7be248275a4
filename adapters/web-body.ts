// Reads the body of a Web request from a copy, so that the handler still finds all of it.

/**
 * The raw body, up to `limit` bytes; undefined when it has been read already, it is longer, or it broke off.
 * Asked again before the handler reads, it gives the same bytes.
 */
export async function peekBody(request: Request, limit: number): Promise<Uint8Array | undefined> {
  // On Node already to ask for the body makes the runtime build a second, whole Request around it.
  if (announcesNone(request)) return new Uint8Array(0);
  if (request.bodyUsed) return undefined;
  // A copy that is not read to its end makes the runtime buffer the rest for it, so a long body is not even begun.
  if (Number(request.headers.get("Content-Length") ?? 0) > limit) return undefined;
  if (!request.body) return new Uint8Array(0);
  if (request.body.locked) return undefined;
  const copy = request.clone().body;
  if (!copy) return new Uint8Array(0);
  const reader = copy.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return concat(chunks, size);
      chunks.push(value);
      size += value.byteLength;
      if (size <= limit) continue;
      // Not awaited: half of a copied stream is cancelled only when the other half is.
      reader.cancel().catch(() => undefined);
      return undefined;
    }
  } catch {
    // The upload broke off: there is no whole body to speak of, and the handler will see the same.
    return undefined;
  }
}

/** A GET or HEAD whose head speaks of no body: the Fetch standard gives it none. */
export function announcesNone({ method, headers }: Request): boolean {
  return (method === "GET" || method === "HEAD") && !headers.has("Content-Length") && !headers.has("Transfer-Encoding");
}

/** The chunks as one array. */
export function concat(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const [only] = chunks;
  if (only && chunks.length === 1) return only;
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}
