// The body of a request as JSON that is safe to look into: bounded, UTF-8, not deep, no key that reaches a prototype.
// Whatever it is not gets a 4xx that says so.
import { bodyLimit } from "hono/body-limit";
import { type Fault, fault, type Outcome } from "../errors.js";
import { answerFault } from "./answer.js";
import type { GatewayContext, Step } from "./context.js";

const MAX_BODY_BYTES = 64 * 1024;
/** Deeper than anything that an endpoint takes. */
const MAX_LEVELS = 32;

const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset[ \t]*=[ \t]*"?utf-8"?[ \t]*)?$/i;

/** Refuses a body that is not JSON by its headers, or larger than 64 KiB, before or while it is read. */
export function acceptBody(): Step {
  const limit = bodyLimit({
    maxSize: MAX_BODY_BYTES,
    onError: (c) => answerFault(c, fault("BODY_TOO_LARGE", `expected at most ${MAX_BODY_BYTES} bytes`)),
  });
  return async (c, next) => {
    const unfit = unfitHeaders(c);
    return unfit ? answerFault(c, unfit) : limit(c, next);
  };
}

function unfitHeaders(c: GatewayContext): Fault | undefined {
  const type = c.req.header("content-type") ?? "";
  if (!JSON_TYPE.test(type.trim())) {
    return fault("UNSUPPORTED_MEDIA_TYPE", "expected Content-Type: application/json, in UTF-8");
  }
  const encoding = c.req.header("content-encoding");
  if (encoding !== undefined && encoding !== "identity") {
    return fault("UNSUPPORTED_MEDIA_TYPE", "expected a body without Content-Encoding");
  }
  return undefined;
}

const invalid = (message: string): Fault =>
  fault("INVALID_REQUEST", `the body ${message}`, { details: [{ path: "body", message }] });

/** Reads the body of a request that `acceptBody` has let pass. */
export async function readBody(c: GatewayContext): Promise<Outcome<unknown>> {
  const bytes = await c.req.arrayBuffer();
  return parseBody(bytes);
}

/** Text to value. Numbers too large for a double become Infinity, which every schema refuses. */
function parseBody(bytes: ArrayBuffer): Outcome<unknown> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    // A SyntaxError repeats the text, which may hold a proof; a TypeError is the decoder's.
    return invalid(error instanceof TypeError ? "is not UTF-8" : "is not JSON");
  }
  const problem = problemOf(value);
  return problem === undefined ? { ok: true, value } : invalid(problem);
}

/** Without recursion: what is looked at may be 32,000 levels deep. */
function problemOf(root: unknown): string | undefined {
  const open: { readonly value: unknown; readonly level: number }[] = [{ value: root, level: 0 }];
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, level } = next;
    if (typeof value !== "object" || value === null) continue;
    if (level >= MAX_LEVELS) return `has more than ${MAX_LEVELS} levels`;
    if (reachesPrototype(value)) return "has a key that is not taken: __proto__, or constructor with prototype in it";
    for (const member of Object.values(value)) open.push({ value: member, level: level + 1 });
  }
  return undefined;
}

function reachesPrototype(value: object): boolean {
  if (Object.hasOwn(value, "__proto__")) return true;
  const own = Object.getOwnPropertyDescriptor(value, "constructor")?.value as unknown;
  return typeof own === "object" && own !== null && Object.hasOwn(own, "prototype");
}
