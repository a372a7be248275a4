// The ways in which a handler streams: one list, for every framework. Each is more than the gate holds, or slower.
import { closeSync, createReadStream, ftruncateSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Request, Response } from "express";
import type { Context } from "hono";
import { stream, streamSSE, streamText } from "hono/streaming";

/** One more than the cap, so that the gate cannot hold it whole. */
export const BIG_BYTES = 3 * 1024 * 1024 + 1;
const CHUNK = Buffer.from("goods---".repeat(8 * 1024));

/** What a style may wait for: the test says when the stream goes on. */
export interface Steps {
  /** Resolves when the decision has been asked for. */
  readonly decided: Promise<void>;
}

export interface StreamStyle {
  readonly name: string;
  readonly body: string;
  readonly headers?: Record<string, string>;
  readonly express: (req: Request, res: Response, steps: Steps) => void | Promise<void>;
  readonly hono: (c: Context, steps: Steps) => globalThis.Response | Promise<globalThis.Response>;
}

const BIG = "goods---".repeat(Math.ceil(BIG_BYTES / 8)).slice(0, BIG_BYTES);
const yes = { "X-Goods": "yes" };
const events = (texts: readonly string[]) => texts.map((text) => `data: ${text}\n\n`).join("");

/** BIG in chunks. */
export function* chunks(): Generator<Buffer> {
  for (let left = BIG_BYTES; left > 0; left -= CHUNK.length) yield CHUNK.subarray(0, Math.min(left, CHUNK.length));
}

/** A file that has this size and nothing on the disk; it starts with the word goods. Removed by `remove`. */
export function sparseFile(bytes: number): { readonly path: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-"));
  const path = join(folder, "goods.bin");
  const file = openSync(path, "w");
  writeSync(file, "goods");
  ftruncateSync(file, bytes);
  closeSync(file);
  return { path, remove: () => rmSync(folder, { recursive: true }) };
}

/** Not by `Readable.toWeb`: Node 20's throws where nobody can catch it when it is cancelled while a chunk is on its way. */
export function toWeb(source: Readable): ReadableStream<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]() as AsyncIterableIterator<Uint8Array>;
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await chunks.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

let path = "";

/** Makes the file that one of the styles sends; what it gives takes it away again. */
export function openStyles(): () => void {
  const file = sparseFile(BIG_BYTES);
  path = file.path;
  return file.remove;
}

export const STREAM_STYLES: readonly StreamStyle[] = [
  {
    name: "server-sent events",
    body: events(["goods", "more goods"]),
    express: async (_, res, { decided }) => {
      res.set({ ...yes, "Content-Type": "text/event-stream" }).write(events(["goods"]));
      await decided;
      res.end(events(["more goods"]));
    },
    hono: (c, { decided }) => {
      c.header("X-Goods", "yes");
      return streamSSE(c, async (out) => {
        await out.writeSSE({ data: "goods" });
        await decided;
        await out.writeSSE({ data: "more goods" });
      });
    },
  },
  {
    name: "token by token, slower than the gate waits",
    body: "goods and more goods",
    express: async (_, res, { decided }) => {
      res.set(yes).type("text").write("goods");
      await decided;
      for (const token of [" and", " more", " goods"]) res.write(token);
      res.end();
    },
    hono: (c, { decided }) => {
      c.header("X-Goods", "yes");
      return streamText(c, async (out) => {
        await out.write("goods");
        await decided;
        for (const token of [" and", " more", " goods"]) await out.write(token);
      });
    },
  },
  {
    name: "an answer over the cap in one piece",
    body: BIG,
    headers: { "content-length": String(BIG_BYTES) },
    express: (_, res) => void res.set(yes).send(Buffer.from(BIG)),
    hono: (c) => c.body(BIG, 200, { ...yes, "Content-Length": String(BIG_BYTES) }),
  },
  {
    name: "a pipe over the cap",
    body: BIG,
    express: (_, res) => void Readable.from(chunks()).pipe(res.set(yes)),
    hono: () => new Response(toWeb(Readable.from(chunks())), { headers: yes }),
  },
  {
    name: "a pipeline over the cap",
    body: BIG,
    express: async (_, res) => {
      res.set(yes);
      pipeline(Readable.from(chunks()), res).catch(() => undefined);
    },
    hono: (c) => {
      c.header("X-Goods", "yes");
      return stream(c, (out) => out.pipe(toWeb(Readable.from(chunks()))));
    },
  },
  {
    name: "a loop that waits for drain",
    body: BIG,
    express: async (_, res) => {
      res.set(yes);
      for (const chunk of chunks()) {
        if (!res.write(chunk)) await new Promise<void>((go) => res.once("drain", () => go()));
      }
      res.end();
    },
    hono: (c) => {
      c.header("X-Goods", "yes");
      return stream(c, async (out) => {
        for (const chunk of chunks()) await out.write(chunk);
      });
    },
  },
  {
    name: "a loop that waits for nothing",
    body: BIG,
    express: (_, res) => {
      res.set(yes);
      for (const chunk of chunks()) res.write(chunk);
      res.end();
    },
    hono: () =>
      new Response(
        new ReadableStream({
          start(controller) {
            for (const chunk of chunks()) controller.enqueue(new Uint8Array(chunk));
            controller.close();
          },
        }),
        { headers: yes },
      ),
  },
  {
    name: "a file over the cap",
    body: `goods${"\0".repeat(BIG_BYTES - 5)}`,
    headers: { "content-length": String(BIG_BYTES) },
    express: (_, res) => res.set(yes).sendFile(path),
    hono: (c) => c.body(toWeb(createReadStream(path)), 200, { ...yes, "Content-Length": String(BIG_BYTES) }),
  },
];
