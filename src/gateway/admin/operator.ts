// Who may use the operator's API: whoever holds its token, and no browser. Without a token there is no such API.
import { createHash, timingSafeEqual } from "node:crypto";
import { fault } from "../errors.js";
import { answerFault } from "../http/answer.js";
import type { Step } from "../http/context.js";

const BEARER = /^Bearer ([\x21-\x7e]{1,512})$/i;
const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Compared by digests of one length, in constant time. Before a byte of the body is read. */
export function operatorOnly(token: string | undefined): Step {
  const expected = token === undefined ? undefined : sha256(token);
  return async (c, next) => {
    if (!expected) return answerFault(c, fault("NOT_FOUND", "there is no such path"));
    c.header("Cache-Control", "no-store");
    // A page in the operator's browser must not act for him: browsers say where a request comes from. Source: faults A37.
    if (c.req.header("origin") !== undefined || c.req.header("sec-fetch-site") !== undefined) {
      return answerFault(c, fault("FORBIDDEN", "the operator's API takes no requests of browsers"));
    }
    const given = BEARER.exec(c.req.header("authorization") ?? "")?.[1] ?? "";
    if (!timingSafeEqual(sha256(given), expected)) {
      return answerFault(c, fault("UNAUTHORIZED", "the operator's token is missing or invalid"));
    }
    return next();
  };
}
