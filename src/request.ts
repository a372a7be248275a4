// What an adapter hands to the guard and what the guard answers: the whole surface between a framework and the paywall.
// Adapters hold no policy: they fill a PaywallRequest, follow the verdict, and hold the handler's answer for the capture.
import type { Payment } from "./payment.js";

/** One request, framework-neutral. */
export interface PaywallRequest {
  /** Upper case, as it came on the wire: never overridden by a header. */
  readonly method: string;
  /** Full original target in origin form: path and query, undecoded, mounts included. */
  readonly target: string;
  /**
   * Target by which the framework will dispatch, where an earlier middleware has rewritten it; a table prices both.
   * Undefined = as it came.
   */
  readonly dispatched?: string | undefined;
  /** `https://host` by the framework's own proxy rules; unchecked; undefined where no host came. */
  readonly origin: string | undefined;
  /** Client address by the framework's own proxy rules. */
  readonly ip: string | undefined;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
  /** Case-insensitive; repeated headers joined with `, `. */
  header(name: string): string | undefined;
  /**
   * The raw body, up to `limit` bytes; undefined when it cannot be had (a parser read it first, it is longer, it broke off).
   * The handler can still read all of it afterwards.
   */
  body(limit: number): Promise<Uint8Array | undefined>;
  /** Known to have no body, without a look at it. */
  readonly bodyless?: boolean;
  /** The framework's own request, for price functions. */
  readonly native: unknown;
}

export type HeaderList = readonly (readonly [name: string, value: string])[];

/** An HTTP answer before its body. Header names in the spelling to send. */
export interface Head {
  readonly status: number;
  readonly headers: HeaderList;
}

/** A complete HTTP answer. */
export interface Answer extends Head {
  /** Empty for an answer without a body (HEAD, 204). */
  readonly body: string | Uint8Array;
}

export type Verdict =
  /** Not priced: the request goes on untouched. */
  | { readonly kind: "open" }
  /** Send this answer; the handler does not run. */
  | { readonly kind: "refuse"; readonly answer: Answer }
  /** Send this kept answer of an earlier run; the handler does not run. */
  | { readonly kind: "replay"; readonly answer: Answer; readonly delivery: Delivery }
  /** Run the handler, hold its answer, give it to the capture. */
  | { readonly kind: "admit"; readonly payment: Payment; readonly capture: Capture };

/** How the sending of an answer went. Exactly one of the two is called, once; further calls do nothing. Never rejects. */
export interface Delivery {
  /** The last byte was handed over. */
  delivered(): Promise<void>;
  /** The client was gone before that. */
  lost(): Promise<void>;
}

/**
 * The money side of one run of the handler. The adapter calls `hold` for every chunk of body it holds, exactly one of
 * `answered`, `streaming` and `failed`, and `ended` when the handler has come to its end. No method ever rejects.
 */
export interface Capture {
  /** Counts bytes that the adapter is about to hold; false = over a cap, not counted: the answer is a stream. */
  hold(bytes: number): boolean;
  /** The handler's answer is complete and held; nothing of it has left. */
  answered(held: Answer): Promise<Outcome>;
  /**
   * The answer has turned out to be a stream: a flush, an event stream, over a cap, or not ended STREAM_AFTER_MS after its
   * first byte. Nothing of it has left. After `deliver` it flows, and what goes wrong then is not refunded.
   */
  streaming(head: Head): Promise<Outcome>;
  /** What was held of a stream is handed over and no longer counts. */
  flushed(): void;
  /** The handler failed without an answer: it threw, gave up, or broke off before anything was decided. */
  failed(): Promise<Outcome>;
  /** Resolves if the handler took too long: send the outcome's answer, drop what the handler still writes. */
  readonly timedOut: Promise<Outcome>;
  /** The handler has come to its end, also after a timeout or when the client has gone. */
  ended(): void;
}

/** An answer that has not ended this long after its first byte is a stream. */
export const STREAM_AFTER_MS = 250;

export type Outcome =
  /** Let what is held go, and what follows of a stream, with these headers set (replacing those of the same name). */
  | { readonly kind: "deliver"; readonly headers: HeaderList; readonly delivery: Delivery }
  /** Drop the held answer, headers included, and send this one. */
  | { readonly kind: "replace"; readonly answer: Answer; readonly delivery: Delivery };
