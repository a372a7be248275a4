// Holds a handler's answer on a node:http response: nothing of it leaves before the capture has decided.
// The handler sees an ordinary response. What the decision means for money is the capture's business, not the gate's.
//
//   holding --end()--------------------------------> deciding --deliver--> flowing
//           --flush | event stream | cap | 250 ms--> deciding --replace--> closed
//           --abandoned----------------------------> deciding --replace--> closed
//           --timedOut-----------------------------------------------------> closed
//
// `deciding`: what the handler still writes waits with it: write() is false, pipes pause. `flowing`: what it writes goes
// straight to the methods that stood there before the gate. `closed`: another answer is on its way; to the handler the
// response looks like one whose client has hung up, and what it still writes is dropped.
import { ServerResponse, STATUS_CODES } from "node:http";
import type { Readable } from "node:stream";
import {
  type Answer,
  type Capture,
  type Delivery,
  type HeaderList,
  type Outcome,
  STREAM_AFTER_MS,
} from "../src/request.js";
import { applyHeaders, isBodyless, isEventStream, ownHeaders } from "./headers.js";
import { INTERNAL_ERROR } from "./internal-error.js";
import { headersOf, isGone, listHeaders, sendAnswer, trackDelivery } from "./node-answer.js";
import {
  type Callback,
  checkChunk,
  checkHead,
  type HeadFields,
  headerPairs,
  later,
  readArguments,
  sizeOf,
} from "./node-arguments.js";
import { destroyed, HeldWrites } from "./node-queue.js";
import { type KeptOpen, keepOpen } from "./node-socket.js";
import { HangUp, showEnd, showHead, showTruth } from "./node-view.js";

type Trailers = Parameters<ServerResponse["addTrailers"]>[0];

/** Holds whatever is written to `res` from now on and reports it to `capture`. Call it before the handler runs. */
export function holdAnswer(res: ServerResponse, capture: Capture): void {
  new NodeGate(res, capture).install();
}

class NodeGate {
  readonly #res: ServerResponse;
  readonly #capture: Capture;
  readonly #before: HeaderList;
  readonly #own: Pick<ServerResponse, "writeHead" | "write" | "end" | "flushHeaders" | "destroy">;
  readonly #held: HeldWrites;
  readonly #hangUp: HangUp;
  readonly #connection: KeptOpen;
  #state: "holding" | "deciding" | "flowing" | "closed" = "holding";
  #head: { status: number; message: string } | undefined;
  #trailers: Trailers | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The capture was given an answer that it may let go. */
  #offered = false;
  /** The handler has called end(). */
  #complete = false;
  /** The handler gave its answer up, or wants the connection closed after it. */
  #abandoned = false;
  #handlerDone = false;
  /** Another answer took the place of one that the handler had not ended. */
  #cut = false;

  constructor(res: ServerResponse, capture: Capture) {
    this.#res = res;
    this.#capture = capture;
    this.#before = listHeaders(res);
    const { writeHead, write, end, flushHeaders, destroy } = res;
    this.#own = { writeHead, write, end, flushHeaders, destroy };
    this.#held = new HeldWrites(res);
    this.#hangUp = new HangUp(res);
    this.#connection = keepOpen(res, () => this.#abandon());
  }

  install(): void {
    const res = this.#res;
    Object.assign(res, {
      writeHead: this.#writeHead,
      write: this.#write,
      end: this.#end,
      flushHeaders: this.#flushHeaders,
      addTrailers: this.#addTrailers,
      destroy: this.#destroy,
      // Hints would show parts of an answer that is not paid for; an interim 100 after the real head would corrupt it.
      writeEarlyHints: (_hints: unknown, callback?: () => void) => later(callback),
      writeContinue: (callback?: () => void) => later(callback),
      writeProcessing: (callback?: () => void) => later(callback),
    });
    res.on("pipe", (source: Readable) => source.once("close", () => this.#sourceClosed(source)));
    res.on("unpipe", () => this.#unpiped());
    this.#capture.timedOut.then(
      (outcome) => {
        if (this.#state === "holding") this.#conclude(outcome);
      },
      () => this.#fail(),
    );
  }

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
    showHead(res);
    if (isEventStream(res.getHeader("Content-Type")?.toString())) this.#stream();
    return res;
  };

  readonly #write = (...args: readonly unknown[]): boolean => {
    if (this.#state === "flowing") return Reflect.apply(this.#own.write, this.#res, args) as boolean;
    const { chunk, encoding, callback } = readArguments(args);
    const body = checkChunk(chunk);
    if (this.#state === "closed" || this.#complete) {
      later(callback, destroyed());
      // A writer without an end must not keep the process to itself.
      return this.#held.pace(sizeOf(body, encoding));
    }
    this.#holdHead();
    return this.#take(body, encoding, callback);
  };

  readonly #end = (...args: readonly unknown[]): ServerResponse => {
    const res = this.#res;
    if (this.#state === "flowing") Reflect.apply(this.#own.end, res, args);
    else {
      const { chunk, encoding, callback } = readArguments(args);
      if (this.#state === "closed" || this.#complete) later(callback);
      else {
        const body = chunk === undefined || chunk === null ? undefined : checkChunk(chunk);
        this.#holdHead();
        if (body !== undefined) this.#take(body, encoding, undefined);
        if (callback) res.once("finish", callback);
        this.#complete = true;
        showEnd(res);
        if (this.#state === "holding") this.#answer();
      }
    }
    this.#handlerEnded();
    return res;
  };

  readonly #flushHeaders = (): void => {
    if (this.#state === "flowing") this.#own.flushHeaders.call(this.#res);
    if (this.#state === "holding") this.#holdHead();
    this.#stream();
  };

  readonly #addTrailers = (trailers: Trailers): void => {
    if (this.#state === "flowing") ServerResponse.prototype.addTrailers.call(this.#res, trailers);
    else if (this.#state !== "closed") this.#trailers = trailers;
  };

  readonly #destroy = (error?: Error): ServerResponse => {
    if (this.#state === "holding" || this.#state === "deciding") {
      this.#abandon();
      return this.#res;
    }
    this.#handlerEnded();
    return this.#cut ? this.#res : this.#own.destroy.call(this.#res, error);
  };

  /** As Node does at the first byte: through `res`, so that hooks of later middleware run. */
  #holdHead(): void {
    if (!this.#head) this.#res.writeHead(this.#res.statusCode);
  }

  #take(chunk: string | Uint8Array, encoding: BufferEncoding | undefined, callback: Callback | undefined): boolean {
    const bytes = sizeOf(chunk, encoding);
    if (bytes === 0 || isBodyless(this.#head?.status ?? 200)) {
      later(callback);
      return true;
    }
    if (this.#state === "holding" && !this.#capture.hold(bytes)) this.#stream();
    // Over the cap nothing is copied or counted: the writer keeps its bytes until they are handed over.
    if (this.#state !== "holding") return this.#held.add({ chunk, encoding, callback });
    this.#timer ??= setTimeout(() => this.#stream(), STREAM_AFTER_MS);
    later(callback);
    // The writer may use its buffer again as soon as the callback has been called, after its last bytes too; what is held is
    // also kept, so these bytes are copied.
    const copied = typeof chunk === "string" ? chunk : Uint8Array.prototype.slice.call(chunk);
    return this.#held.add({ chunk: copied, encoding, callback: undefined });
  }

  #answer(): void {
    // An interim status is no answer that could be sold.
    this.#offered = (this.#head?.status ?? 200) >= 200;
    if (!this.#offered) this.#fail();
    else this.#decide(this.#capture.answered({ ...this.#answerHead(), body: this.#held.join() }));
  }

  #stream(): void {
    if (this.#state !== "holding") return;
    this.#offered = true;
    this.#decide(this.#capture.streaming(this.#answerHead()));
    // A streaming handler learns of its end by `close`; it seldom calls end() itself then.
    if (isGone(this.#res)) this.#handlerEnded();
    else this.#res.once("close", () => this.#handlerEnded());
  }

  #answerHead() {
    const res = this.#res;
    return { status: this.#head?.status ?? res.statusCode, headers: ownHeaders(this.#before, listHeaders(res)) };
  }

  #fail(): void {
    if (this.#state !== "holding") return;
    this.#decide(this.#capture.failed());
    this.#handlerEnded();
  }

  /** The handler, or an error handler that takes the head for sent, wants the connection closed. */
  #abandon(): void {
    this.#abandoned = true;
    this.#fail();
    if (this.#state === "closed") this.#handlerEnded();
  }

  /** A pipe leaves its target open when its source breaks: the answer would never end. */
  #sourceClosed(source: Readable): void {
    if (this.#state === "closed") this.#handlerEnded();
    else if (!source.readableEnded && !this.#complete && !this.#res.writableEnded) this.#res.destroy();
  }

  #unpiped(): void {
    // A pipe lets go when the client has gone; the answer will not be completed.
    if (this.#state === "holding" && isGone(this.#res)) this.#fail();
    if (this.#state === "closed") this.#handlerEnded();
  }

  #handlerEnded(): void {
    if (this.#handlerDone) return;
    this.#handlerDone = true;
    this.#capture.ended();
  }

  #decide(outcome: Promise<Outcome>): void {
    this.#state = "deciding";
    this.#held.stop();
    clearTimeout(this.#timer);
    outcome.then(
      (decided) => this.#conclude(decided),
      () => this.#replace(INTERNAL_ERROR),
    );
  }

  #conclude(outcome: Outcome): void {
    if (outcome.kind === "replace") {
      this.#replace(outcome.answer, outcome.delivery);
      return;
    }
    try {
      if (!this.#offered) throw new TypeError("an answer that is not held cannot be delivered");
      if (this.#abandoned && !this.#complete) throw new TypeError("the handler gave its answer up");
      this.#deliver(outcome.headers, outcome.delivery);
    } catch {
      // Paid for, but Node refuses to send it: an empty 500 is the truth, and the delivery counts as lost.
      void outcome.delivery.lost();
      if (this.#res.headersSent && this.#state === "flowing") this.#own.destroy.call(this.#res);
      else this.#replace(INTERNAL_ERROR);
    }
  }

  /** Ends the holding: from here on the response is Node's own again. */
  #open(state: "flowing" | "closed"): void {
    this.#state = state;
    clearTimeout(this.#timer);
    showTruth(this.#res);
    this.#connection.write();
    // A handler that still runs may break later; its error handler would close a connection that others use by then.
    if (this.#abandoned || (state === "closed" && !this.#handlerDone)) this.#res.setHeader("Connection", "close");
  }

  #deliver(headers: HeaderList, delivery: Delivery): void {
    const res = this.#res;
    const status = this.#head?.status ?? res.statusCode;
    this.#open("flowing");
    this.#connection.release();
    applyHeaders(headersOf(res), headers);
    // The length of what is complete is known, whatever the handler said; a stream keeps the one it was given.
    if (this.#complete && this.#trailers) res.removeHeader("Content-Length");
    else if (this.#complete && !isBodyless(status)) {
      res.removeHeader("Transfer-Encoding");
      res.setHeader("Content-Length", this.#held.bytes);
    }
    res.statusMessage = this.#head?.message ?? "";
    this.#own.writeHead.call(res, status);
    if (this.#trailers) ServerResponse.prototype.addTrailers.call(res, this.#trailers);
    trackDelivery(res, delivery);
    this.#handOver();
  }

  /** Sends what is held; a stream goes on from there. */
  #handOver(): void {
    const res = this.#res;
    const { write, end, flushHeaders } = this.#own;
    const last = this.#complete ? this.#held.pop() : undefined;
    if (!this.#complete && this.#held.bytes === 0) flushHeaders.call(res);
    const hand = (...args: readonly unknown[]) => Reflect.apply(write, res, args) as boolean;
    const more = this.#held.handOver(hand, () => this.#capture.flushed());
    if (this.#complete) Reflect.apply(end, res, last?.chunk.length ? [last.chunk, last.encoding] : []);
    later(last?.callback);
    this.#held.open(more, this.#complete);
  }

  #replace(answer: Answer, delivery?: Delivery): void {
    const res = this.#res;
    this.#open("closed");
    // Until the answer is out, nobody but the gate closes the connection.
    res.prependOnceListener("finish", () => this.#connection.release());
    this.#held.drop();
    const close = res.getHeader("Connection");
    for (const name of res.getHeaderNames()) res.removeHeader(name);
    applyHeaders(headersOf(res), this.#before);
    if (close === "close") res.setHeader("Connection", close);
    res.statusMessage = "";
    const { writeHead, end } = this.#own;
    try {
      sendAnswer(res, answer, delivery, {
        writeHead: (status) => writeHead.call(res, status),
        end: (...args: readonly unknown[]) => Reflect.apply(end, res, args),
      });
    } catch {
      // Nothing of the handler's has left, and nothing more can be told.
      this.#connection.release();
      this.#own.destroy.call(res);
    }
    this.#cut = !this.#handlerDone;
    if (this.#cut) this.#hangUp.perform();
  }
}
