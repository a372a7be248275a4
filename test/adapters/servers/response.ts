// A reply of a case as a Web response, for every framework that speaks it.
import type { Reply } from "../../../src/testing/index.js";

export function toResponse({ status, headers = {}, body }: Reply): Response {
  const head = { status, headers: { ...headers } };
  if (body === null || typeof body === "string") return new Response(body, head);
  if (body instanceof Uint8Array) return new Response(Buffer.from(body), head);
  if ("json" in body) return Response.json(body.json, head);
  return new Response(streamOf(body), head);
}

/** Pulled part by part, so that nothing is produced which nobody reads. */
function streamOf(source: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const parts = source[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await parts.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await parts.return?.();
    },
  });
}
