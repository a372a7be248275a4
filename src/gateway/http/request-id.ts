// Every request has an id: in its answer's header, in an error's body, and in the log.
import { randomBytes } from "node:crypto";
import type { Step } from "./context.js";

/** What is taken from a caller: nothing that could forge a line of a log, or fill one. */
const TAKEN = /^[A-Za-z0-9_-]{8,64}$/;

export const newRequestId = (): string => `req_${randomBytes(12).toString("base64url")}`;

export const requestId: Step = async (c, next) => {
  const given = c.req.header("x-request-id");
  const id = given !== undefined && TAKEN.test(given) ? given : newRequestId();
  c.set("requestId", id);
  c.header("X-Request-Id", id);
  await next();
};
