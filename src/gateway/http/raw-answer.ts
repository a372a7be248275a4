// A refusal written by hand, where no app answers: HTTP that could not be read, and an upgrade that is not granted.
import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { Fault } from "../errors.js";
import { errorHeaders, statusOf, toErrorAnswer } from "./answer.js";
import { newRequestId } from "./request-id.js";

export const RAW_HEADERS = {
  "Content-Type": "application/json",
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-store",
};

/** The body of a refusal, under an id of its own. */
export const refusalBody = (fault: Fault): string => JSON.stringify(toErrorAnswer(fault, newRequestId()));

/** Answers and ends the connection. `status`: in place of the fault's. */
export function answerRaw(socket: Duplex, fault: Fault, status: number = statusOf(fault)): void {
  if (!socket.writable) return;
  const body = refusalBody(fault);
  const headers = {
    ...RAW_HEADERS,
    ...errorHeaders(fault),
    Connection: "close",
    "Content-Length": Buffer.byteLength(body),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end(`${[`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines].join("\r\n")}\r\n\r\n${body}`);
}
