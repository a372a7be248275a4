// A shop that people visit: priced routes whose content is of each kind a browser shows, and what reached the handlers.
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import express, { type Request } from "express";
import { Hono } from "hono";
import { createPaywall as onExpress } from "../../adapters/express.js";
import { createPaywall as onHono } from "../../adapters/hono.js";
import { silentLogger } from "../../src/logger.js";
import type { PaywallOptions } from "../../src/options.js";
import type { Price } from "../../src/price.js";
import { olderStore } from "../e2e/world.js";

/** Prices by route. */
export type Table = Readonly<Record<string, Price | (() => Price) | { readonly price: Price }>>;

export interface Run {
  readonly target: string;
  readonly cookie: string | undefined;
  readonly payer: string | undefined;
}

export interface Shop {
  readonly origin: string;
  /** What each handler saw, in order. */
  readonly runs: Run[];
  /** Stands in front of everything; true = it has seen to the request. */
  door: (request: Parameters<RequestListener>[0], response: Parameters<RequestListener>[1]) => boolean;
  close(): Promise<void>;
}

interface Content {
  readonly type: string;
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status?: number;
}

const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** One second of silence: 8,000 samples of a byte. */
const SILENCE = Buffer.concat([
  Buffer.from("UklGRmQfAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YUAfAAA=", "base64"),
  Buffer.alloc(8_000, 128),
]);

/** By path; whatever else is asked gets plain text. */
export const CONTENT: Readonly<Record<string, Content>> = {
  "/html": {
    type: "text/html; charset=utf-8",
    body: '<!doctype html><title>Bought</title><h1>The report</h1><p id="ran"></p><script>document.getElementById("ran").textContent = "own script ran"</script>',
  },
  "/json": { type: "application/json", body: '{"report":"Sales went up"}' },
  "/image": { type: "image/png", body: PIXEL },
  "/sound": { type: "audio/wav", body: SILENCE },
  "/download": {
    type: "application/octet-stream",
    body: Buffer.from("a file"),
    headers: { "Content-Disposition": 'attachment; filename="report.bin"' },
  },
  "/strange": { type: "application/x-nobody-knows", body: Buffer.from([0, 1, 2, 3]) },
  "/broken": { type: "text/plain", body: "no such report", status: 404 },
};

const contentOf = (path: string): Content => CONTENT[path] ?? { type: "text/plain; charset=utf-8", body: "the goods" };

export const FRAMEWORKS = ["Express", "Hono"] as const;

/** Opens it with one table of prices. */
export async function openShop(
  framework: (typeof FRAMEWORKS)[number],
  options: PaywallOptions,
  table: Table,
  unready = false,
): Promise<Shop> {
  const runs: Run[] = [];
  // Wallets send transfers before the shop is shown them: those of its first seconds would be too old for a memory as young.
  const all = { logger: silentLogger, store: olderStore(), ...options };
  const opened = framework === "Express" ? byExpress(all, table, runs) : byHono(all, table, runs);
  await opened.ready().catch((error: unknown) => {
    if (!unready) throw error;
  });
  const shop = { runs, door: () => false } as unknown as Shop & { origin: string };
  const server = createServer((request, response) => {
    if (!shop.door(request, response)) opened.listener(request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return Object.assign(shop, {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await opened.close();
    },
  });
}

function byExpress(options: PaywallOptions, table: Table, runs: Run[]) {
  const pay = onExpress(options);
  const app = express();
  app.use(pay.routes(table));
  app.use((req: Request, res) => {
    runs.push({ target: req.originalUrl, cookie: req.headers.cookie, payer: req.payment?.payer });
    const { type, body, headers = {}, status = 200 } = contentOf(req.path);
    res
      .status(status)
      .set({ "Content-Type": type, ...headers })
      .end(body);
  });
  return { ready: pay.ready, close: pay.close, listener: app as RequestListener };
}

function byHono(options: PaywallOptions, table: Table, runs: Run[]) {
  const pay = onHono(options);
  const app = new Hono<{ Variables: { payment?: { readonly payer: string } } }>();
  app.use(pay.routes(table));
  app.all("*", (c) => {
    const { pathname, search } = new URL(c.req.url);
    runs.push({ target: pathname + search, cookie: c.req.header("cookie"), payer: c.get("payment")?.payer });
    const { type, body, headers = {}, status = 200 } = contentOf(pathname);
    return c.body(typeof body === "string" ? body : new Uint8Array(body), status as 200, {
      "Content-Type": type,
      ...headers,
    });
  });
  return { ready: pay.ready, close: pay.close, listener: getRequestListener(app.fetch) as RequestListener };
}
