// A compressor of the common kind, as the published ones work: it wraps writeHead, write, end and `on`, compresses as a
// stream, keeps `drain` listeners for that stream, and offers flush().
import type { EventEmitter } from "node:events";
import { constants, createGzip, type Gzip } from "node:zlib";
import type { NextFunction, Request, Response } from "express";

export function compress(_req: Request, res: Response & { flush?: () => void }, next: NextFunction): void {
  const { writeHead, write, end } = res;
  const on: EventEmitter["on"] = res.on;
  let gzip: Gzip | undefined;
  let waiting: Parameters<EventEmitter["on"]>[] = [];
  const begin = () => {
    const stream = createGzip();
    gzip = stream;
    res.setHeader("Content-Encoding", "gzip");
    res.removeHeader("Content-Length");
    for (const [event, listener] of waiting) stream.on(event, listener);
    waiting = [];
    stream.on("data", (chunk) => {
      if (Reflect.apply(write, res, [chunk]) === false) stream.pause();
    });
    stream.on("end", () => void Reflect.apply(end, res, []));
    Reflect.apply(on, res, ["drain", () => stream.resume()]);
  };
  const head = () => {
    if (!res.headersSent) res.writeHead(res.statusCode);
  };
  const wrapped = {
    flush: () => void gzip?.flush(constants.Z_SYNC_FLUSH),
    writeHead(...args: readonly unknown[]) {
      if (!gzip) begin();
      return Reflect.apply(writeHead, res, args);
    },
    write(chunk: string | Uint8Array) {
      head();
      return gzip?.write(chunk);
    },
    end(chunk?: string | Uint8Array) {
      head();
      if (chunk === undefined) gzip?.end();
      else gzip?.end(chunk);
      return res;
    },
    on(event: string, listener: Parameters<EventEmitter["on"]>[1]) {
      if (event !== "drain") return Reflect.apply(on, res, [event, listener]);
      if (gzip) gzip.on(event, listener);
      else waiting.push([event, listener]);
      return res;
    },
  };
  Object.assign(res, wrapped);
  next();
}
