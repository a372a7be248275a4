// What nobody means: a form that cannot be read, and the sign NUL, which not every database keeps. Refused once, before any page
// sees it.
import type { MiddlewareHandler } from "hono";
import type { Place } from "./place.js";
import { answerProblem } from "./reply.js";
import type { DashboardContext, DashboardEnv } from "./session.js";

const NUL = "\0";

/** A form has arrived as a whole when this is over: whose session it is, is asked afterwards and not while it is still sent. */
export const refuseUnreadable =
  (place: Place): MiddlewareHandler<DashboardEnv> =>
  async (c, next) =>
    (await isReadable(c)) ? next() : answerProblem(c, place, 400, "This address or form cannot be read.");

async function isReadable(c: DashboardContext): Promise<boolean> {
  if (c.req.url.includes("%00")) return false;
  if (c.req.method === "GET" || c.req.method === "HEAD") return true;
  try {
    const fields = Object.values(await c.req.parseBody({ all: true })).flat();
    return fields.every((field) => typeof field !== "string" || !field.includes(NUL));
  } catch {
    // Safe because nothing but the reading of the form runs here.
    return false;
  }
}
