// The goods as they came, and word of it where they break off: what was paid for is not served before its last byte.
// What the caller does not want to read any further is his own affair.

/** The same response; `broken` is awaited before its body fails. Without a body, or of a fetch that has no streams, itself. */
export function watchBody(response: Response, broken: () => Promise<void>): Response {
  const { body, status, statusText, headers, url, redirected, type } = response;
  if (!body || response.bodyUsed || typeof body.getReader !== "function") return response;
  const reader = body.getReader();
  const watched = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          await broken();
          throw error;
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    // Invariant: no byte is taken from the connection before the caller asks for it.
    { highWaterMark: 0 },
  );
  const same = new Response(watched, { status, statusText, headers });
  // What a constructor cannot be given, a caller may still ask for.
  for (const [name, value] of Object.entries({ url, redirected, type })) Object.defineProperty(same, name, { value });
  return same;
}
