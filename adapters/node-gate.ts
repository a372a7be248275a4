// Holds a handler's answer on a node:http response: nothing of it leaves before the capture has decided.
// The handler sees an ordinary response. What the decision means for money is the capture's business, not the gate's.
//
//   holding --end()--------------------------------> deciding --deliver | replace--> closed
//           --too large | stream | abandoned-------> deciding --replace------------> closed
//           --timedOut-----------------------------------------------------------> closed
//
// In `closed` the real answer is on its way through the original methods, and whatever the handler still does is dropped.
import { ServerResponse, STATUS_CODES } from "node:http";
import type { Answer, Capture, Delivery, HandlerFailure, HeaderList, Outcome } from "../src/request.js";
import { applyHeaders, isBodyless, ownHeaders } from "./headers.js";
import { INTERNAL_ERROR } from "./internal-error.js";
import { headersOf, isGone, listHeaders, type Sender, sendAnswer, trackDelivery } from "./node-answer.js";
import { type Callback, checkHead, type HeadFields, headerPairs, readArguments, toBytes } from "./node-arguments.js";
import { keepOpen } from "./node-socket.js";

/** An answer that has not ended this long after its first byte is a stream. */
export const STREAM_AFTER_MS = 250;

/** Stands in Node's own field for the serialized head, so that Node itself refuses late headers with its own error. */
const HELD_HEAD = "held";

/** The two fields in which Node keeps how far a response is. Both are old, and read by half the ecosystem. */
interface Progress {
  _header: string | null;
  finished: boolean;
}

/** Holds whatever is written to `res` from now on and reports it to `capture`. Call it before the handler runs. */
export function holdAnswer(res: ServerResponse, capture: Capture): void {
  new NodeGate(res, capture).install();
}

class NodeGate {
  readonly #res: ServerResponse;
  readonly #capture: Capture;
  readonly #before: HeaderList;
  readonly #sender: Sender;
  readonly #destroy: ServerResponse["destroy"];
  readonly #release: () => void;
  #state: "holding" | "deciding" | "closed" = "holding";
  #head: { status: number; message: string } | undefined;
  #chunks: Uint8Array[] = [];
  #trailers: Parameters<ServerResponse["addTrailers"]>[0] | undefined;
  #answer: Answer | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Bytes taken since the event loop last turned: beyond the high-water mark the writer is asked to wait for a turn. */
  #pending = 0;
  #needDrain = false;
  #closeAfter = false;
  #ended = false;

  constructor(res: ServerResponse, capture: Capture) {
    this.#res = res;
    this.#capture = capture;
    this.#before = listHeaders(res);
    const { writeHead, end, destroy } = res;
    this.#sender = {
      writeHead: (status) => writeHead.call(res, status),
      end: (body) => Reflect.apply(end, res, body === undefined ? [] : [body]),
    };
    this.#destroy = destroy;
    this.#release = keepOpen(res.req.socket, () => this.#abandon());
  }

  install(): void {
    const res = this.#res;
    Object.assign(res, {
      writeHead: this.#writeHead,
      write: this.#write,
      end: this.#end,
      flushHeaders: this.#flushHeaders,
      addTrailers: this.#addTrailers,
      destroy: this.#destroyHeld,
      // Hints would show parts of an answer that is not paid for; an interim 100 after the real head would corrupt it.
      writeEarlyHints: (_hints: unknown, callback?: () => void) => later(callback),
      writeContinue: (callback?: () => void) => later(callback),
      writeProcessing: (callback?: () => void) => later(callback),
    });
    Object.defineProperty(res, "writableNeedDrain", { configurable: true, get: () => this.#needDrain });
    res.on("unpipe", () => this.#unpiped());
    this.#capture.timedOut.then(
      (outcome) => {
        if (this.#state === "holding") this.#conclude(outcome);
      },
      () => this.#fail("thrown"),
    );
  }

  // What the handler calls.

  readonly #writeHead = (status: number, ...rest: readonly unknown[]): ServerResponse => {
    const res = this.#res;
    if (this.#state === "closed") return res;
    // Node's own method refuses a second head, with its own error.
    if (this.#head) return ServerResponse.prototype.writeHead.call(res, status);
    const [reason, headers] =
      typeof rest[0] === "string" ? [rest[0], rest[1]] : [res.statusMessage, rest[1] ?? rest[0]];
    checkHead(status, reason);
    const written = new Set<string>();
    for (const [name, value] of headerPairs(headers as HeadFields)) {
      if (written.has(name.toLowerCase())) res.appendHeader(name, Array.isArray(value) ? value : String(value));
      else res.setHeader(name, value);
      written.add(name.toLowerCase());
    }
    res.statusCode = status;
    res.statusMessage = reason || (STATUS_CODES[status] ?? "unknown");
    this.#head = { status, message: reason ?? "" };
    progressOf(res)._header = HELD_HEAD;
    if (isEventStream(res)) this.#fail("stream");
    return res;
  };

  readonly #write = (...args: readonly unknown[]): boolean => {
    const { chunk, encoding, callback } = readArguments(args);
    if (this.#state !== "holding") {
      later(callback);
      return true;
    }
    const bytes = toBytes(chunk, encoding);
    this.#holdHead();
    // The writer may use its buffer again as soon as the callback has been called, so these bytes are copied.
    return this.#take(typeof chunk === "string" ? bytes : Uint8Array.prototype.slice.call(bytes), callback);
  };

  readonly #end = (...args: readonly unknown[]): ServerResponse => {
    const res = this.#res;
    const { chunk, encoding, callback } = readArguments(args);
    if (this.#state === "holding") {
      const bytes = chunk === undefined || chunk === null ? undefined : toBytes(chunk, encoding);
      this.#holdHead();
      if (bytes) this.#take(bytes, undefined);
    }
    if (this.#state === "holding") {
      if (callback) res.once("finish", callback);
      this.#answered();
    } else later(callback);
    this.#handlerEnded();
    return res;
  };

  readonly #flushHeaders = (): void => {
    if (this.#state !== "holding") return;
    this.#holdHead();
    this.#fail("stream");
  };

  readonly #addTrailers = (trailers: Parameters<ServerResponse["addTrailers"]>[0]): void => {
    if (this.#state === "holding") this.#trailers = trailers;
  };

  readonly #destroyHeld = (error?: Error): ServerResponse => {
    if (this.#state === "closed") {
      this.#handlerEnded();
      return this.#destroy.call(this.#res, error);
    }
    this.#abandon();
    return this.#res;
  };

  // What that means.

  /** Builds the head as Node would at the first byte: through `res`, so that hooks of later middleware run. */
  #holdHead(): void {
    if (!this.#head) this.#res.writeHead(this.#res.statusCode);
  }

  #take(bytes: Uint8Array, callback: Callback | undefined): boolean {
    later(callback);
    if (this.#state !== "holding" || bytes.byteLength === 0 || isBodyless(this.#head?.status ?? 200)) return true;
    if (!this.#capture.hold(bytes.byteLength)) {
      this.#fail("too_large");
      return true;
    }
    this.#chunks.push(bytes);
    this.#timer ??= setTimeout(() => this.#fail("stream"), STREAM_AFTER_MS);
    if (this.#pending === 0) setImmediate(() => this.#drain());
    this.#pending += bytes.byteLength;
    if (this.#pending > this.#res.writableHighWaterMark) this.#needDrain = true;
    return !this.#needDrain;
  }

  #drain(): void {
    this.#pending = 0;
    if (!this.#needDrain) return;
    this.#needDrain = false;
    this.#res.emit("drain");
  }

  #answered(): void {
    const res = this.#res;
    const [only, ...others] = this.#chunks;
    const body = only && others.length === 0 ? only : Buffer.concat(this.#chunks);
    this.#chunks = [];
    const status = this.#head?.status ?? res.statusCode;
    this.#answer = { status, headers: ownHeaders(this.#before, listHeaders(res)), body };
    progressOf(res).finished = true;
    Object.defineProperty(res, "writableFinished", { configurable: true, value: false });
    this.#decide(this.#capture.answered(this.#answer));
  }

  #fail(why: HandlerFailure): void {
    if (this.#state !== "holding") return;
    this.#chunks = [];
    this.#decide(this.#capture.failed(why));
    if (why === "thrown") this.#handlerEnded();
    // A streaming handler learns of its end by `close`; it seldom calls end() itself.
    else if (isGone(this.#res)) this.#handlerEnded();
    else this.#res.once("close", () => this.#handlerEnded());
  }

  /** The handler, or an error handler that takes the head for sent, wants the connection closed. */
  #abandon(): void {
    this.#closeAfter = true;
    this.#fail("thrown");
  }

  #unpiped(): void {
    // A pipe lets go when the client has gone; the answer will not be completed.
    if (this.#state === "holding" && isGone(this.#res)) this.#fail("thrown");
    if (this.#state === "closed") this.#handlerEnded();
  }

  #handlerEnded(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#capture.ended();
  }

  #decide(outcome: Promise<Outcome>): void {
    this.#state = "deciding";
    clearTimeout(this.#timer);
    outcome.then(
      (decided) => this.#conclude(decided),
      () => this.#replace(INTERNAL_ERROR, undefined),
    );
  }

  #conclude(outcome: Outcome): void {
    if (outcome.kind === "replace") {
      this.#replace(outcome.answer, outcome.delivery);
      return;
    }
    try {
      // Only a complete answer can be delivered.
      if (!this.#answer) throw new TypeError("an answer that is not held cannot be delivered");
      this.#deliver(this.#answer, outcome.headers, outcome.delivery);
    } catch (error) {
      // Paid for, but Node refuses to send it: an empty 500 is the truth, and the delivery counts as lost.
      void outcome.delivery.lost();
      if (this.#res.headersSent) this.#destroy.call(this.#res, error instanceof Error ? error : undefined);
      else this.#replace(INTERNAL_ERROR, undefined);
    }
  }

  /** Ends the holding: from here on the response is Node's own again, for the gate; for the handler it is finished. */
  #open(): void {
    const res = this.#res;
    this.#state = "closed";
    clearTimeout(this.#timer);
    this.#release();
    Object.assign(progressOf(res), { _header: null, finished: false });
    Reflect.deleteProperty(res, "writableFinished");
    Reflect.deleteProperty(res, "writableNeedDrain");
    // A handler that still runs may break later; its error handler would close a connection that others use by then.
    if (this.#closeAfter || !this.#ended) res.setHeader("Connection", "close");
  }

  #deliver(answer: Answer, headers: HeaderList, delivery: Delivery): void {
    const res = this.#res;
    this.#open();
    applyHeaders(headersOf(res), headers);
    if (this.#trailers) res.removeHeader("Content-Length");
    else if (!isBodyless(answer.status)) {
      res.removeHeader("Transfer-Encoding");
      res.setHeader("Content-Length", answer.body.length);
    }
    res.statusMessage = this.#head?.message ?? "";
    this.#sender.writeHead(answer.status);
    if (this.#trailers) ServerResponse.prototype.addTrailers.call(res, this.#trailers);
    trackDelivery(res, delivery);
    this.#sender.end(answer.body.length > 0 ? answer.body : undefined);
  }

  #replace(answer: Answer, delivery: Delivery | undefined): void {
    const res = this.#res;
    if (this.#state !== "closed") this.#open();
    const close = res.getHeader("Connection");
    for (const name of res.getHeaderNames()) res.removeHeader(name);
    applyHeaders(headersOf(res), this.#before);
    if (close === "close") res.setHeader("Connection", close);
    res.statusMessage = "";
    sendAnswer(res, answer, delivery, this.#sender);
    if (!this.#ended) this.#mute();
  }

  /** For a handler that outlived its answer: setting headers does nothing, where Node would throw. */
  #mute(): void {
    const nothing = () => this.#res;
    Object.assign(this.#res, { setHeader: nothing, setHeaders: nothing, appendHeader: nothing, removeHeader: nothing });
  }
}

/** Calls back in the next tick, as Node does. */
function later(callback: Callback | undefined): void {
  if (callback) process.nextTick(callback);
}

function isEventStream(res: ServerResponse): boolean {
  return /^\s*text\/event-stream/i.test(String(res.getHeader("Content-Type") ?? ""));
}

/** Safe because both fields are own, writable properties of every response since Node 0.x (`OutgoingMessage`). */
function progressOf(res: ServerResponse): Progress {
  return res as unknown as Progress;
}
