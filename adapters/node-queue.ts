// What a handler has written to a held response, in order. It knows how to ask the writer to wait, so that memory stays
// bounded by what the writer itself would hold; it knows nothing of payments.
import type { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { type Callback, later, sizeOf, toBytes } from "./node-arguments.js";

/** One write. A writer whose callback is still owed may not use the bytes again, so they need not be copied. */
export interface Held {
  readonly chunk: string | Uint8Array;
  readonly encoding: BufferEncoding | undefined;
  readonly callback: Callback | undefined;
}

type Parts = readonly [chunk: Held["chunk"], encoding: Held["encoding"]];
type Listener = Parameters<EventEmitter["on"]>[1];

const holding = new WeakMap<object, HeldWrites>();

/** One for all responses: a getter for each, or a property taken away again, makes Node's every look at a response slow. */
const NEED_DRAIN: PropertyDescriptor = {
  configurable: true,
  get(this: object): unknown {
    return holding.get(this)?.needsDrain ?? Reflect.get(Object.getPrototypeOf(this), "writableNeedDrain", this);
  },
};

export class HeldWrites {
  readonly #res: ServerResponse;
  /** Set where earlier middleware has its own `on`: a compressor keeps `drain` listeners for its own stream. */
  readonly #on: EventEmitter["on"] | undefined;
  readonly #waiting: Listener[] = [];
  #held: Held[] = [];
  /** Bytes taken since the event loop last turned: beyond the high-water mark the writer is asked to wait for a turn. */
  #pending = 0;
  #needDrain = false;
  #stopped = false;
  #away = false;

  constructor(res: ServerResponse) {
    this.#res = res;
    this.#on = Object.hasOwn(res, "on") ? res.on : undefined;
    holding.set(res, this);
    Object.defineProperty(res, "writableNeedDrain", NEED_DRAIN);
    if (this.#on) Object.assign(res, { on: this.#listen });
  }

  get needsDrain(): boolean {
    return this.#needDrain;
  }

  /** Keeps one write; what the writer is told: go on, or wait for `drain`. */
  add(held: Held): boolean {
    this.#held.push(held);
    return this.pace(sizeOf(held.chunk, held.encoding));
  }

  /** As if the bytes went out at the end of this turn. */
  pace(bytes: number): boolean {
    if (this.#pending === 0 && !this.#stopped) setImmediate(() => this.#turned());
    this.#pending += bytes;
    if (this.#stopped || this.#pending > this.#res.writableHighWaterMark) this.#needDrain = true;
    return !this.#needDrain;
  }

  /** From now on nobody is told to go on before `open` or `drop`. */
  stop(): void {
    this.#stopped = true;
  }

  /** Takes the last write away. */
  pop(): Held | undefined {
    return this.#held.pop();
  }

  /** Makes one of all writes. */
  join(): Uint8Array {
    const all = this.#held.map(({ chunk, encoding }) => toBytes(chunk, encoding));
    const [only, ...others] = all;
    const chunk = only && others.length === 0 ? only : Buffer.concat(all);
    this.#held = [{ chunk, encoding: undefined, callback: undefined }];
    return chunk;
  }

  /** Hands all writes to `write`, and calls `done` when they have gone; false = wait for the receiver's `drain`. */
  handOver(write: (...args: readonly [...Parts, Callback]) => boolean, done: () => void): boolean {
    let left = this.#held.length;
    let more = true;
    for (const { chunk, encoding, callback } of this.#take()) {
      const written = (error?: Error | null) => {
        left -= 1;
        if (left === 0) done();
        callback?.(error);
      };
      more = write(chunk, encoding, written) && more;
    }
    return more;
  }

  get bytes(): number {
    return this.#held.reduce((sum, held) => sum + sizeOf(held.chunk, held.encoding), 0);
  }

  /** The response does its own waking again; `wake` = it owes the writer a `drain` that it does not know of. */
  open(wake: boolean, complete: boolean): void {
    const res = this.#res;
    this.#away = true;
    holding.delete(res);
    // A stream is Node's own response again; a complete answer has nobody left who would look.
    if (!complete) Reflect.deleteProperty(res, "writableNeedDrain");
    const waiting = this.#waiting.splice(0);
    for (const listener of waiting) this.#on?.call(res, "drain", listener);
    if (!wake || !this.#needDrain) return;
    process.nextTick(() => {
      res.emit("drain");
      for (const listener of waiting) Reflect.apply(listener, res, []);
    });
  }

  /** Nothing of it will be sent. Writers are told so, and whoever still waits goes on to its end. */
  drop(): void {
    this.#stopped = false;
    for (const { callback } of this.#take()) later(callback, destroyed());
    setImmediate(() => this.#turned());
  }

  #take(): Held[] {
    const held = this.#held;
    this.#held = [];
    return held;
  }

  #turned(): void {
    if (this.#stopped || this.#away) return;
    this.#pending = 0;
    if (!this.#needDrain) return;
    this.#needDrain = false;
    this.#res.emit("drain");
    for (const listener of [...this.#waiting]) Reflect.apply(listener, this.#res, []);
  }

  readonly #listen = (event: string | symbol, listener: Listener): unknown => {
    if (event === "drain" && !this.#away) {
      this.#waiting.push(listener);
      return this.#res;
    }
    return this.#on && Reflect.apply(this.#on, this.#res, [event, listener]);
  };
}

/** Node's error for a write to a response that is no more. */
export function destroyed(): Error {
  return Object.assign(new Error("Cannot call write after a stream was destroyed"), { code: "ERR_STREAM_DESTROYED" });
}
