// Holds the answer of a Hono handler: nothing of the response leaves before the capture has decided. A stream is held up to
// the point where it shows to be one, and flows on from there.
// What the decision means for money is the capture's business, not the gate's.
import type { Context, Next } from "hono";
import type { Capture, HeaderList, Outcome } from "../src/request.js";
import { applyHeaders, isBodyless, ownHeaders } from "./headers.js";
import { headersBefore, sendAnswer, setResponse } from "./hono-answer.js";
import { reasonOf, takeHonoBody } from "./hono-body.js";
import { HeaderLines, headersOf } from "./hono-headers.js";
import { INTERNAL_ERROR } from "./internal-error.js";
import { Stop } from "./stop.js";
import { cancelSource, type Source, sourceOfBytes } from "./web-source.js";

/** What the handler answered, its headers read once. */
interface Answered {
  readonly response: Response;
  readonly headers: HeaderList;
}

type Run =
  | (Answered & { readonly kind: "answered"; readonly body: Uint8Array })
  | (Answered & { readonly kind: "stream"; readonly source: Source; readonly length?: number })
  | { readonly kind: "failed" };

const FAILED: Run = { kind: "failed" };

/** Runs the rest of the app, holds its answer and puts on `c` what the capture makes of it. Never rejects. */
export async function holdAnswer(c: Context, next: Next, capture: Capture): Promise<void> {
  const before = headersBefore(c);
  const stop = new Stop();
  const run = runHandler(c, next, capture, stop);
  const late = capture.timedOut.then(
    (outcome) => ({ kind: "late", outcome }) as const,
    () => FAILED,
  );
  const first = await Promise.race([run, late]);
  if (first.kind === "late") {
    // Safe because Hono ignores what a handler returns once the context has an answer.
    stop.abort();
    run.then((end) => {
      if (end.kind === "stream") end.source.cancel();
      capture.ended();
    });
    replace(c, first.outcome, before);
    return;
  }
  if (first.kind === "failed") {
    const outcome = capture.failed();
    run.then(() => capture.ended());
    replace(c, await orUndefined(outcome), before);
    return;
  }
  const { status } = first.response;
  const head = { status, headers: ownHeaders(before, first.headers) };
  if (first.kind === "answered") {
    const outcome = capture.answered({ ...head, body: first.body });
    capture.ended();
    const goods = { source: sourceOfBytes(first.body), length: first.body.byteLength, whole: first.body };
    conclude(c, first, { ...goods, ended: () => undefined }, await orUndefined(outcome), before);
    return;
  }
  const { source, length } = first;
  const goods = { source, ...(length !== undefined && { length }), ended: () => capture.ended() };
  conclude(c, first, goods, await orUndefined(capture.streaming(head)), before);
}

interface Goods {
  readonly source: Source;
  /** Undefined where it is not known: a stream keeps the one that the handler gave. */
  readonly length?: number;
  /** All of it, where it is all there. */
  readonly whole?: Uint8Array;
  /** The source came to its end or was told to stop. */
  readonly ended: () => void;
}

function conclude(
  c: Context,
  { response, headers }: Answered,
  goods: Goods,
  outcome: Outcome | undefined,
  before: HeaderList,
): void {
  const { source, ended } = goods;
  const drop = () => {
    source.cancel();
    ended();
  };
  if (outcome?.kind !== "deliver") {
    drop();
    replace(c, outcome, before);
    return;
  }
  const { delivery } = outcome;
  try {
    const lines = new HeaderLines(headers);
    applyHeaders(lines, outcome.headers);
    setResponse(c, { status: response.status, statusText: reasonOf(response), lines }, { ...goods, delivery });
  } catch {
    // Paid for, but it cannot be sent: the delivery counts as lost, and the buyer is told.
    void delivery.lost();
    drop();
    sendAnswer(c, INTERNAL_ERROR, undefined, before);
  }
}

/** Sends the outcome's own answer; `undefined` and a delivery of an answer that is not there are broken promises. */
function replace(c: Context, outcome: Outcome | undefined, before: HeaderList): void {
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

/** Resolves when the handler has answered and its body was read, shows to be a stream, or was given up. */
async function runHandler(...args: Parameters<typeof readHandler>): Promise<Run> {
  try {
    return await readHandler(...args);
  } catch {
    // Hono has no answer for this error: what was thrown is no Error, or onError threw as well; or somebody before the
    // paywall has sent an answer of his own meanwhile, and this one cannot be read any more.
    return FAILED;
  }
}

async function readHandler(c: Context, next: Next, capture: Capture, stop: Stop): Promise<Run> {
  await next();
  // A late handler: the context holds the timeout's own answer by now.
  if (stop.aborted) return FAILED;
  const response = c.res;
  // A network error or an upgrade is no answer that could be sold.
  if (response.status < 200) return FAILED;
  // Invariant: a thrown error is never charged, also where the app answers it with a 200.
  if (c.error && response.status < 400) return give(response);
  const headers = headersOf(response);
  if (isBodyless(response.status)) return { kind: "answered", response, headers, body: new Uint8Array(0) };
  const taken = await takeHonoBody(response, headers, capture, stop);
  if (taken.kind === "broken") return FAILED;
  return taken.kind === "whole"
    ? { kind: "answered", response, headers, body: taken.body }
    : { ...taken, response, headers };
}

function give(response: Response): Run {
  if (response.body && !response.body.locked) cancelSource(response.body);
  return FAILED;
}
