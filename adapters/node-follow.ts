// What every adapter over node:http does with a verdict that is an answer, and with a request that is admitted. No policy.
import type { IncomingMessage, ServerResponse } from "node:http";
import { isPageCookie, withoutPageCookies } from "../src/page-cookie.js";
import type { Capture, Verdict } from "../src/request.js";
import { INTERNAL_ERROR } from "./internal-error.js";
import { sendAnswer } from "./node-answer.js";
import { holdAnswer } from "./node-gate.js";
import { WITHHELD } from "./withheld.js";

/** Sends the answer of a verdict that runs no handler. */
export function sendVerdict(res: ServerResponse, verdict: Extract<Verdict, { kind: "refuse" | "replay" }>): void {
  const delivery = verdict.kind === "replay" ? verdict.delivery : undefined;
  if (isAnswered(res)) {
    void delivery?.lost();
    return;
  }
  try {
    sendAnswer(res, verdict.answer, delivery);
  } catch {
    // Node refused a header of the answer. Nothing has left, so the buyer is told.
    void delivery?.lost();
    refuse(res);
  }
}

/** Somebody before the paywall (a timeout of the app's own) has answered while the guard was at work. */
const isAnswered = (res: ServerResponse): boolean => res.headersSent || res.writableEnded;

/** The answer when the guard broke its word: never the handler. */
export function refuse(res: ServerResponse): void {
  if (res.headersSent) res.destroy();
  else sendAnswer(res, INTERNAL_ERROR);
}

/**
 * Makes an admitted request ready for its handler; false = the handler must not run, the buyer has been told.
 * An HTTP/2 response cannot be held: such a request is refused uncharged. A proxy in front speaks HTTP/1.1 to this server.
 */
export function prepare(req: IncomingMessage, res: ServerResponse, capture: Capture): boolean {
  if (req.httpVersionMajor > 1) {
    capture.failed().then(
      (outcome) => sendAnswer(res, outcome.kind === "replace" ? outcome.answer : INTERNAL_ERROR),
      () => refuse(res),
    );
    capture.ended();
    return false;
  }
  if (isAnswered(res)) {
    void capture.failed();
    capture.ended();
    return false;
  }
  withhold(req);
  holdAnswer(res, capture);
  return true;
}

const names: ReadonlySet<string> = new Set(WITHHELD);

export function withhold(req: IncomingMessage): void {
  const { headers, rawHeaders } = req;
  for (const name of WITHHELD) if (name in headers) delete headers[name];
  const cookie = headers.cookie === undefined ? undefined : withoutPageCookies(headers.cookie);
  if (cookie !== headers.cookie) {
    if (cookie === undefined) delete headers.cookie;
    else headers.cookie = cookie;
    dropParsed(req);
  }
  // A handler that proxies reads the raw lines, and `headersDistinct` is made of them.
  const lines: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = [rawHeaders[at], rawHeaders[at + 1]];
    const own = name.toLowerCase() === "cookie" ? withoutPageCookies(value) : value;
    if (own !== undefined && !names.has(name.toLowerCase())) lines.push(name, own);
  }
  req.rawHeaders = lines;
}

/** A parser of cookies that stood before the paywall has read them already. */
function dropParsed(req: IncomingMessage): void {
  const { cookies } = req as { readonly cookies?: unknown };
  if (typeof cookies !== "object" || cookies === null) return;
  for (const name of Object.keys(cookies)) if (isPageCookie(name)) Reflect.deleteProperty(cookies, name);
}
