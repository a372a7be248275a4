// Plain node:http, as the HTTP cases see it.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createPaywall, type PaidMessage } from "../../../adapters/node.js";
import type { HttpFramework, Reply, SiteHandler } from "../../../src/testing/index.js";
import { listen } from "./listen.js";
import { textOf } from "./text.js";

export const nodeServer: HttpFramework = {
  name: "node:http",
  lacks: ["parser before", "parser after"],
  start({ settings, routes, headersBefore = {} }) {
    const pay = createPaywall(settings);
    const listeners = new Map(
      routes.map(({ path, price, options, handler }) => [path, pay(price, options)(toListener(handler))]),
    );
    const server = createServer((req, res) => {
      for (const [name, value] of Object.entries(headersBefore)) res.setHeader(name, value);
      const listener = listeners.get((req.url ?? "").split("?")[0] ?? "");
      if (listener) listener(req, res);
      else res.writeHead(404).end();
    });
    return listen(server, pay);
  },
};

const toListener = (handler: SiteHandler) => async (req: PaidMessage, res: ServerResponse) => {
  const header = (name: string) => headerOf(req, name);
  send(res, await handler({ payment: req.payment, header, body: () => textOf(req) }));
};

const headerOf = (req: IncomingMessage, name: string) => req.headers[name]?.toString();

function send(res: ServerResponse, { status, headers, body }: Reply): void {
  res.writeHead(status, { ...headers, ...(isJson(body) && { "Content-Type": "application/json" }) });
  if (body === null || typeof body === "string" || body instanceof Uint8Array) res.end(body ?? undefined);
  else if (isJson(body)) res.end(JSON.stringify(body.json));
  // The way for a handler that may lose its client: pipeline() ends the source with the response and the reverse.
  // An error of either is seen by the other; nobody else waits for it.
  else pipeline(Readable.from(body), res).catch(() => undefined);
}

const isJson = (body: Reply["body"]): body is { readonly json: object } =>
  typeof body === "object" && body !== null && "json" in body;
