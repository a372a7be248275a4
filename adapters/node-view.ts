// What a handler sees of a node:http response while its answer is held, and after another answer took its place.
import type { ServerResponse } from "node:http";

/** Stands in Node's own field for the serialized head, so that Node itself refuses late headers with its own error. */
const HELD_HEAD = "held";

/** The two fields in which Node keeps how far a response is. Both are old, and read by half the ecosystem. */
interface Progress {
  _header: string | null;
  finished: boolean;
}

/** Safe because both fields are own, writable properties of every response since Node 0.x (`OutgoingMessage`). */
const progressOf = (res: ServerResponse): Progress => res as unknown as Progress;

/** The head looks sent. */
export function showHead(res: ServerResponse): void {
  progressOf(res)._header = HELD_HEAD;
}

/** Responses that look complete. */
const ended = new WeakSet<object>();

/** One for all responses: a property that is taken away again makes Node's every look at a response slow. */
const FINISHED: PropertyDescriptor = {
  configurable: true,
  get(this: object): unknown {
    return !ended.has(this) && Reflect.get(Object.getPrototypeOf(this), "writableFinished", this);
  },
};

/** The answer looks complete, though not yet sent. */
export function showEnd(res: ServerResponse): void {
  progressOf(res).finished = true;
  ended.add(res);
  Object.defineProperty(res, "writableFinished", FINISHED);
}

/** The response shows again what Node knows of it. */
export function showTruth(res: ServerResponse): void {
  const progress = progressOf(res);
  progress._header = null;
  progress.finished = false;
  ended.delete(res);
}

/** Makes a response whose answer was replaced look to its handler as if the client had hung up. */
export class HangUp {
  readonly #res: ServerResponse;
  readonly #outside: ReadonlySet<unknown>;

  /** Those who listen for `close` now stand before the paywall: they see the connection as it is. */
  constructor(res: ServerResponse) {
    this.#res = res;
    this.#outside = new Set(res.rawListeners("close"));
  }

  /** Call it when the other answer is on its way. Pipes let go, pipelines destroy their source, headers do nothing. */
  perform(): void {
    const res = this.#res;
    const nothing = () => res;
    const isOver = res.writableFinished || res.req.socket.destroyed;
    // Setting headers does nothing, where Node would throw at a handler that cannot know.
    Object.assign(res, { setHeader: nothing, setHeaders: nothing, appendHeader: nothing, removeHeader: nothing });
    // Not `destroyed`: a compressor that stands before the paywall still has the other answer to write.
    Object.defineProperty(res, "closed", { configurable: true, value: true });
    Object.defineProperty(res, "writableFinished", { configurable: true, value: false });
    const inside = res.rawListeners("close").filter((listener) => !this.#outside.has(listener));
    for (const listener of inside) {
      // A `once` listener takes itself away; what it wraps must not hear of the real close as well.
      res.removeListener("close", originalOf(listener));
      // Not called here: an error of a listener is the handler's own, and no failure of the answer.
      process.nextTick(() => Reflect.apply(listener, res, []));
    }
    // An error handler that believes the head is out only closes the connection, and nobody would learn that the handler has
    // ended. Those who log the answer when it is finished still see that it was sent.
    const hidden = { configurable: true, value: false };
    const hide = () => setImmediate(() => Object.defineProperty(res, "headersSent", hidden));
    if (isOver) hide();
    else res.once("finish", hide).once("close", hide);
  }
}

function originalOf(listener: unknown): (...args: unknown[]) => void {
  const wrapped: unknown = typeof listener === "function" ? Reflect.get(listener, "listener") : undefined;
  return (typeof wrapped === "function" ? wrapped : listener) as (...args: unknown[]) => void;
}
