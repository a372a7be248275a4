// The ways in which a handler answers: one list, for every framework.
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Request, Response } from "express";
import type { Context } from "hono";
import { stream } from "hono/streaming";

export interface Style {
  readonly name: string;
  readonly status: number;
  readonly body: string;
  readonly headers?: Record<string, string>;
  /** What an Express handler comes to that answers to a client who has gone; else it is judged like any other. */
  readonly gone?: string;
  /** Left out where the framework has no such way. */
  readonly express: (req: Request, res: Response) => void | Promise<void>;
  readonly hono: (c: Context) => globalThis.Response | Promise<globalThis.Response>;
}

const BIG = "goods ".repeat(50_000);
const goods = { headers: { "X-Goods": "yes" } };
const parts = (text: string): string[] => text.match(/.{1,20000}/g) ?? [];
const streamOf = (text: string) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (const part of parts(text)) controller.enqueue(new TextEncoder().encode(part));
      controller.close();
    },
  });

export const STYLES: readonly Style[] = [
  {
    name: "json",
    status: 200,
    body: '{"report":"goods"}',
    express: (_, res) => void res.set("X-Goods", "yes").json({ report: "goods" }),
    hono: (c) => c.json({ report: "goods" }, 200, { "X-Goods": "yes" }),
  },
  {
    name: "text after an await",
    status: 203,
    body: "goods",
    express: async (_, res) => {
      await new Promise(setImmediate);
      res.status(203).set("X-Goods", "yes").send("goods");
    },
    hono: async (c) => {
      await new Promise(setImmediate);
      c.header("X-Goods", "yes");
      return c.text("goods", 203);
    },
  },
  {
    name: "a status alone",
    status: 201,
    body: "Created",
    express: (_, res) => void res.set("X-Goods", "yes").sendStatus(201),
    hono: (c) => c.body("Created", 201, { "X-Goods": "yes" }),
  },
  {
    name: "bytes",
    status: 200,
    body: "goods",
    headers: { "content-type": "application/octet-stream" },
    express: (_, res) => void res.set("X-Goods", "yes").send(Buffer.from("goods")),
    hono: (c) =>
      c.body(new TextEncoder().encode("goods"), 200, { "Content-Type": "application/octet-stream", "X-Goods": "yes" }),
  },
  {
    name: "several writes and an end",
    status: 200,
    body: "goods in parts",
    express: (_, res) => {
      res.setHeader("X-Goods", "yes");
      res.write("goods ");
      res.write(Buffer.from("in "));
      res.end("parts", "utf8");
    },
    hono: (c) => {
      c.header("X-Goods", "yes");
      return stream(c, async (out) => {
        await out.write("goods ");
        await out.write("in ");
        await out.write("parts");
      });
    },
  },
  {
    name: "writeHead with an object",
    status: 202,
    body: "goods",
    headers: { "x-more": "1" },
    express: (_, res) => void res.writeHead(202, { "X-Goods": "yes", "X-More": 1 }).end("goods"),
    hono: () => new Response("goods", { status: 202, headers: { "X-Goods": "yes", "X-More": "1" } }),
  },
  {
    name: "writeHead with a reason and a flat array",
    status: 200,
    body: "goods",
    headers: { "set-cookie": "a=1\nb=2" },
    express: (_, res) =>
      void res.writeHead(200, "Fine", ["X-Goods", "yes", "Set-Cookie", "a=1", "Set-Cookie", "b=2"]).end("goods"),
    hono: () =>
      new Response("goods", {
        headers: [
          ["X-Goods", "yes"],
          ["Set-Cookie", "a=1"],
          ["Set-Cookie", "b=2"],
        ],
      }),
  },
  {
    name: "a redirect",
    status: 302,
    body: "",
    headers: { location: "/goods" },
    express: (_, res) => void res.set("X-Goods", "yes").status(302).location("/goods").end(),
    hono: (c) => {
      c.header("X-Goods", "yes");
      return c.redirect("/goods");
    },
  },
  {
    name: "no content",
    status: 204,
    body: "",
    express: (_, res) => void res.status(204).set("X-Goods", "yes").send("dropped"),
    hono: (c) => c.body(null, 204, { "X-Goods": "yes" }),
  },
  {
    name: "an empty 200",
    status: 200,
    body: "",
    express: (_, res) => void res.set("X-Goods", "yes").end(() => undefined),
    hono: () => new Response(null, goods),
  },
  {
    name: "a piped stream",
    status: 200,
    body: "goods from a stream",
    express: (_, res) => {
      res.set("X-Goods", "yes");
      Readable.from(["goods ", "from ", "a stream"]).pipe(res);
    },
    hono: () => new Response(streamOf("goods from a stream"), goods),
  },
  {
    name: "a long stream with back-pressure",
    status: 200,
    body: BIG,
    // pipeline() gives up on a response whose connection is closed.
    gone: "failed",
    express: async (_, res) => {
      res.set("X-Goods", "yes");
      // Not awaited to its end: that comes when the answer has been sent.
      pipeline(Readable.from(parts(BIG)), res).catch(() => undefined);
    },
    hono: () => new Response(streamOf(BIG), goods),
  },
  {
    name: "chunked by the handler's own header",
    status: 200,
    body: "goods",
    express: (_, res) => {
      res.set({ "X-Goods": "yes", "Transfer-Encoding": "chunked" });
      res.write("goo");
      res.end("ds");
    },
    hono: () => new Response(streamOf("goods"), { headers: { "X-Goods": "yes", "Transfer-Encoding": "chunked" } }),
  },
  {
    name: "a wrong length of the handler's",
    status: 200,
    body: "goods",
    express: (_, res) => void res.set({ "X-Goods": "yes", "Content-Length": "3" }).end("goods"),
    hono: () => new Response("goods", { headers: { "X-Goods": "yes", "Content-Length": "3" } }),
  },
];
