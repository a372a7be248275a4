// Express, 4 and 5, as the HTTP cases see it.
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import express, { type Response } from "express";
import { createPaywall } from "../../../adapters/express.js";
import type { HttpFramework, Reply } from "../../../src/testing/index.js";
import { listen } from "./listen.js";
import { textOf } from "./text.js";

/** Express 4 has no types of its own here; what is used of it is the same. */
const express4 = createRequire(import.meta.url)("express4") as typeof express;

const framework = (name: string, create: typeof express): HttpFramework => ({
  name,
  start({ settings, routes, headersBefore, parser }) {
    const app = create().set("env", "test");
    const pay = createPaywall(settings);
    const parse = create.text({ type: () => true, limit: "8mb" });
    if (headersBefore) app.use((_req, res, next) => void next(res.set(headersBefore) && undefined));
    if (parser === "before") app.use(parse);
    for (const { path, price, options, handler } of routes) {
      app.all(path, pay(price, options), ...(parser === "after" ? [parse] : []), async (req, res, next) => {
        try {
          const body = async () => (parser ? String(req.body) : textOf(req));
          send(res, await handler({ payment: req.payment, header: (header) => req.get(header), body }));
        } catch (error) {
          next(error);
        }
      });
    }
    return listen(createServer(app), pay);
  },
});

function send(res: Response, { status, headers, body }: Reply): void {
  res.status(status).set({ ...headers });
  if (body === null) res.end();
  else if (typeof body === "string") res.send(body);
  else if (body instanceof Uint8Array) res.send(Buffer.from(body));
  else if ("json" in body) res.json(body.json);
  // The way for a handler that may lose its client: pipeline() ends the source with the response and the reverse.
  // An error of either is seen by the other; nobody else waits for it.
  else pipeline(Readable.from(body), res).catch(() => undefined);
}

export const express5Server = framework("Express 5", express);
export const express4Server = framework("Express 4", express4);
