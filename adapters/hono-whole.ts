// A small paid answer on Node. As bytes it leaves in one write and half the time of a stream; it becomes the watched stream
// as soon as middleware around the paywall touches its body. Either way only what was handed over counts as delivered.
import type { Delivery } from "../src/request.js";
import { type NodeResponse, watch } from "./hono-node.js";

export interface Whole {
  readonly delivery: Delivery;
  /** Called once, when the bytes have left or never will. */
  readonly ended: () => void;
  /** The same answer as a stream that watches its own way. */
  readonly toStream: () => ReadableStream<Uint8Array>;
}

/** A Response over `bytes` that reports to `whole.delivery` once the connection is done with it. */
export function wholeResponse(outgoing: NodeResponse, bytes: Uint8Array, init: ResponseInit, whole: Whole): Response {
  const { delivery, ended, toStream } = whole;
  let streamed = false;
  let handed = false;
  // Invariant: `finish` alone proves nothing, for an app around this one may have answered something else instead.
  const { end } = outgoing;
  outgoing.end = (...args) => {
    if (args[0] === bytes) handed = true;
    return Reflect.apply(end, outgoing, args);
  };
  const over = (delivered: boolean) => {
    if (streamed) return;
    ended();
    void (delivered ? delivery.delivered() : delivery.lost());
  };
  watch(
    outgoing,
    () => over(handed),
    () => over(false),
  );
  return new (watchedClass())(bytes, init, () => {
    streamed = true;
    return toStream();
  });
}

type WatchedClass = new (bytes: Uint8Array, init: ResponseInit, toStream: () => ReadableStream<Uint8Array>) => Response;

let made: { readonly Base: typeof Response; readonly Watched: WatchedClass } | undefined;

/** Made when it is first needed: @hono/node-server puts its own Response, which it sends as bytes, in place when it starts. */
function watchedClass(): WatchedClass {
  if (made?.Base !== Response) made = { Base: Response, Watched: watchedOver(Response) };
  return made.Watched;
}

function watchedOver(Base: typeof Response): WatchedClass {
  class Watched extends Base {
    readonly #toStream: () => ReadableStream<Uint8Array>;
    #streamed: Response | undefined;

    constructor(bytes: Uint8Array, init: ResponseInit, toStream: () => ReadableStream<Uint8Array>) {
      super(bytes as Uint8Array<ArrayBuffer>, init);
      this.#toStream = toStream;
    }

    get streamed(): Response | undefined {
      return this.#streamed;
    }

    /** Asking the base class for its body makes the framework forget the bytes; from here on the body is the stream. */
    toStreamed(): Response {
      Reflect.get(Base.prototype, "body", this);
      const { status, statusText, headers } = this;
      this.#streamed ??= new Base(this.#toStream(), { status, statusText, headers });
      return this.#streamed;
    }
  }

  for (const name of ["clone", "arrayBuffer", "blob", "bytes", "formData", "json", "text"]) {
    Object.defineProperty(Watched.prototype, name, {
      value(this: Watched) {
        const streamed = this.toStreamed();
        return Reflect.apply(Reflect.get(streamed, name), streamed, []);
      },
    });
  }
  Object.defineProperties(Watched.prototype, {
    body: {
      get(this: Watched) {
        return this.toStreamed().body;
      },
    },
    bodyUsed: {
      get(this: Watched) {
        return this.streamed?.bodyUsed ?? false;
      },
    },
  });
  return Watched;
}
