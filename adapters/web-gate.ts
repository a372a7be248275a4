// Holds the response of a fetch handler: nothing of it leaves before the capture has decided. A stream is held up to the
// point where it shows to be one, and flows on from there.
// What the decision means for money is the capture's business, not the gate's.
import type { Capture, Outcome } from "../src/request.js";
import { applyHeaders, isBodyless, ownHeaders } from "./headers.js";
import { INTERNAL_ERROR } from "./internal-error.js";
import { sendingResponse, targetOf, toResponse } from "./web-answer.js";
import { cancelSource, type Source, sourceOf, sourceOfBytes, takeBody } from "./web-source.js";

type Run =
  | { readonly kind: "answered"; readonly response: Response; readonly body: Uint8Array }
  | { readonly kind: "stream"; readonly response: Response; readonly source: Source }
  | { readonly kind: "failed" };

const FAILED: Run = { kind: "failed" };

/** Runs a handler, holds its response and gives what the capture makes of it. `tell` hears of its errors. Never rejects. */
export async function holdResponse(
  request: Request,
  handler: () => Response | Promise<Response>,
  capture: Capture,
  tell: (error: unknown) => void,
): Promise<Response> {
  const stop = new AbortController();
  const run = runHandler(handler, capture, stop.signal, tell);
  const late = capture.timedOut.then(
    (outcome) => ({ kind: "late", outcome }) as const,
    () => FAILED,
  );
  const first = await Promise.race([run, late]);
  if (first.kind === "late") {
    stop.abort();
    run.then((end) => {
      if (end.kind === "stream") end.source.cancel();
      capture.ended();
    });
    return replace(request, first.outcome);
  }
  if (first.kind === "failed") {
    const outcome = capture.failed();
    run.then(() => capture.ended());
    return replace(request, await orUndefined(outcome));
  }
  const { response } = first;
  const head = { status: response.status, headers: ownHeaders([], [...response.headers]) };
  if (first.kind === "answered") {
    const outcome = capture.answered({ ...head, body: first.body });
    capture.ended();
    const goods = { source: sourceOfBytes(first.body), length: first.body.byteLength, ended: () => undefined };
    return conclude(request, response, goods, await orUndefined(outcome));
  }
  const goods = { source: first.source, ended: () => capture.ended() };
  return conclude(request, response, goods, await orUndefined(capture.streaming(head)));
}

/** Without a length it is a stream; `ended`: the source came to its end or was told to stop. */
interface Goods {
  readonly source: Source;
  readonly length?: number;
  readonly ended: () => void;
}

function conclude(request: Request, response: Response, goods: Goods, outcome: Outcome | undefined): Response {
  const drop = () => {
    goods.source.cancel();
    goods.ended();
  };
  if (outcome?.kind !== "deliver") {
    drop();
    return replace(request, outcome);
  }
  const { delivery } = outcome;
  try {
    const headers = new Headers(response.headers);
    applyHeaders(targetOf(headers), outcome.headers);
    const { status, statusText } = response;
    return sendingResponse(request, { status, statusText, headers }, { ...goods, delivery });
  } catch {
    // Paid for, but it cannot be sent: the delivery counts as lost, and the buyer is told.
    void delivery.lost();
    drop();
    return toResponse(request, INTERNAL_ERROR);
  }
}

/** The outcome's own answer; `undefined` and a delivery of an answer that is not there are broken promises. */
function replace(request: Request, outcome: Outcome | undefined): Response {
  if (outcome?.kind === "replace") return toResponse(request, outcome.answer, outcome.delivery);
  if (outcome) void outcome.delivery.lost();
  return toResponse(request, INTERNAL_ERROR);
}

const orUndefined = (outcome: Promise<Outcome>): Promise<Outcome | undefined> => outcome.catch(() => undefined);

/** Resolves when the handler has answered and its body was read, shows to be a stream, or was given up. */
async function runHandler(
  handler: () => Response | Promise<Response>,
  capture: Capture,
  stop: AbortSignal,
  tell: (error: unknown) => void,
): Promise<Run> {
  let response: Response;
  try {
    response = await handler();
    if (!(response instanceof Response)) throw new TypeError("a paid handler must answer with a Response");
    // No goods: a network error, an upgrade, or a body that somebody has read already.
    if (response.status < 200 || response.bodyUsed)
      throw new TypeError("a paid handler must answer with a whole answer");
  } catch (error) {
    tell(error);
    return FAILED;
  }
  const { body, status, headers } = response;
  if (stop.aborted) {
    if (body && !body.locked) cancelSource(body);
    return FAILED;
  }
  if (!body || isBodyless(status)) return { kind: "answered", response, body: new Uint8Array(0) };
  if (/^\s*text\/event-stream/i.test(headers.get("Content-Type") ?? "")) {
    const source = sourceOf(body, capture);
    return source ? { kind: "stream", response, source } : FAILED;
  }
  const taken = await takeBody(body, capture, stop);
  if (taken.kind === "broken") return FAILED;
  if (taken.kind === "whole") return { kind: "answered", response, body: taken.body };
  return { kind: "stream", response, source: taken.source };
}
