// Holds the answer of a Hono handler: the response is read before anything of it leaves, and the capture decides.
// What the decision means for money is the capture's business, not the gate's.
import type { Context, Next } from "hono";
import type { Answer, Capture, HandlerFailure, Outcome } from "../src/request.js";
import { applyHeaders, isBodyless, ownHeaders } from "./headers.js";
import { headersBefore, listHeaders, sendAnswer, setResponse, targetOf } from "./hono-answer.js";
import { INTERNAL_ERROR } from "./internal-error.js";
import { concat } from "./web-body.js";

/** An answer that has not ended this long after its first byte is a stream. */
export const STREAM_AFTER_MS = 250;

type Run =
  | { readonly kind: "answered"; readonly response: Response; readonly body: Uint8Array }
  | { readonly kind: "failed"; readonly why: HandlerFailure };

/** Runs the rest of the app, holds its answer and puts on `c` what the capture makes of it. Never rejects. */
export async function holdAnswer(c: Context, next: Next, capture: Capture): Promise<void> {
  const before = headersBefore(c);
  const stop = new AbortController();
  const run = runHandler(c, next, capture, stop.signal);
  const late = capture.timedOut.then(
    (outcome) => ({ kind: "late", outcome }) as const,
    () => ({ kind: "failed", why: "thrown" }) as const,
  );
  const first = await Promise.race([run, late]);
  if (first.kind === "late") {
    // Safe because Hono ignores what a handler returns once the context has an answer.
    stop.abort();
    run.then(() => capture.ended());
    replace(c, first.outcome, before);
    return;
  }
  if (first.kind === "failed") {
    const outcome = capture.failed(first.why);
    run.then(() => capture.ended());
    replace(c, await orUndefined(outcome), before);
    return;
  }
  const { response, body } = first;
  const held: Answer = {
    status: response.status,
    headers: ownHeaders(listHeaders(before), listHeaders(response.headers)),
    body,
  };
  const outcome = capture.answered(held);
  capture.ended();
  conclude(c, response, body, await orUndefined(outcome), before);
}

function conclude(
  c: Context,
  response: Response,
  body: Uint8Array,
  outcome: Outcome | undefined,
  before: Headers,
): void {
  if (outcome?.kind !== "deliver") {
    replace(c, outcome, before);
    return;
  }
  try {
    const headers = new Headers(response.headers);
    applyHeaders(targetOf(headers), outcome.headers);
    setResponse(c, { status: response.status, statusText: response.statusText, headers }, body, outcome.delivery);
  } catch {
    // Paid for, but it cannot be sent: the delivery counts as lost, and the buyer is told.
    void outcome.delivery.lost();
    sendAnswer(c, INTERNAL_ERROR, undefined, before);
  }
}

/** Sends the outcome's own answer; `undefined` and a delivery of an answer that is not there are broken promises. */
function replace(c: Context, outcome: Outcome | undefined, before: Headers): void {
  if (outcome?.kind === "replace") {
    sendAnswer(c, outcome.answer, outcome.delivery, before);
    return;
  }
  if (outcome) void outcome.delivery.lost();
  sendAnswer(c, INTERNAL_ERROR, undefined, before);
}

function orUndefined(outcome: Promise<Outcome>): Promise<Outcome | undefined> {
  return outcome.catch(() => undefined);
}

/** Resolves when the handler has come to its end and its body was read or given up. */
async function runHandler(c: Context, next: Next, capture: Capture, stop: AbortSignal): Promise<Run> {
  try {
    await next();
  } catch {
    // Hono has no answer for this error: what was thrown is no Error, or onError threw as well.
    return { kind: "failed", why: "thrown" };
  }
  // A late handler: the context holds the timeout's own answer by now.
  if (stop.aborted) return { kind: "failed", why: "thrown" };
  const response = c.res;
  // Invariant: a thrown error is never charged, also where the app answers it with a 200.
  if (c.error && response.status < 400) return give(response, "thrown");
  if (/^\s*text\/event-stream/i.test(response.headers.get("Content-Type") ?? "")) return give(response, "stream");
  if (!response.body || isBodyless(response.status)) return { kind: "answered", response, body: new Uint8Array(0) };
  return readBody(response, response.body, capture, stop);
}

function readBody(
  response: Response,
  stream: ReadableStream<Uint8Array>,
  capture: Capture,
  stop: AbortSignal,
): Promise<Run> {
  if (stream.locked) return Promise.resolve({ kind: "failed", why: "thrown" });
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  return new Promise((resolve) => {
    let reading = true;
    const finish = (run: Run) => {
      reading = false;
      clearTimeout(timer);
      if (run.kind === "failed") cancel(reader);
      resolve(run);
    };
    const fail = (why: HandlerFailure) => finish({ kind: "failed", why });
    const take = (value: Uint8Array | undefined) => {
      if (!reading) return;
      if (!value) finish({ kind: "answered", response, body: concat(chunks, size) });
      else if (!capture.hold(value.byteLength)) fail("too_large");
      else {
        chunks.push(value);
        size += value.byteLength;
        timer ??= setTimeout(() => fail("stream"), STREAM_AFTER_MS);
        readOn();
      }
    };
    const readOn = () =>
      reader.read().then(
        ({ value }) => take(value),
        () => fail("thrown"),
      );
    stop.addEventListener("abort", () => fail("thrown"), { once: true });
    readOn();
  });
}

function give(response: Response, why: HandlerFailure): Run {
  if (response.body && !response.body.locked) cancel(response.body);
  return { kind: "failed", why };
}

/** Tells the source that nobody reads on. It may refuse to stop; that is the handler's affair. */
function cancel(source: { cancel(): Promise<void> }): void {
  source.cancel().catch(() => undefined);
}
