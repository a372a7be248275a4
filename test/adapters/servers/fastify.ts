// Fastify, as the HTTP cases see it: the paywall before the body is parsed, or after.
import { Readable } from "node:stream";
import fastify, { type FastifyReply, type FastifyRequest, type HTTPMethods } from "fastify";
import { createPaywall } from "../../../adapters/fastify.js";
import type { HttpFramework, Reply } from "../../../src/testing/index.js";
import { listen } from "./listen.js";
import { textOf } from "./text.js";

const METHODS: HTTPMethods[] = ["GET", "POST", "PUT", "OPTIONS"];

export const fastifyServer: HttpFramework = {
  name: "Fastify",
  async start({ settings, routes, headersBefore, parser }) {
    const app = fastify({ bodyLimit: 8 * 1024 * 1024, forceCloseConnections: true });
    const pay = createPaywall(settings);
    app.removeAllContentTypeParsers();
    if (parser) app.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => done(null, body));
    else app.addContentTypeParser("*", (_request, payload, done) => done(null, payload));
    if (headersBefore) {
      app.addHook("onRequest", async (_request, reply) => {
        reply.headers(headersBefore);
      });
    }
    for (const { path, price, options, handler } of routes) {
      const hook = pay(price, options);
      app.route({
        method: METHODS,
        url: path,
        ...(parser === "before" ? { preHandler: hook } : { onRequest: hook }),
        handler: async (request, reply) => {
          const header = (name: string) => request.headers[name]?.toString();
          return send(reply, await handler({ payment: request.payment, header, body: () => bodyOf(request) }));
        },
      });
    }
    await app.ready();
    return listen(app.server, pay);
  },
};

async function bodyOf({ body }: FastifyRequest): Promise<string> {
  return typeof body === "string" ? body : textOf((body ?? []) as AsyncIterable<Uint8Array>);
}

function send(reply: FastifyReply, { status, headers = {}, body }: Reply): FastifyReply {
  reply.code(status).headers({ ...headers });
  if (body === null || typeof body === "string") return reply.send(body ?? undefined);
  if (body instanceof Uint8Array) return reply.send(Buffer.from(body));
  return reply.send("json" in body ? body.json : Readable.from(body));
}
