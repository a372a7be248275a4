// The headers that authorise a call to a facilitator. A wrong shape is refused before anything is sent: a call never goes
// out without the credentials that were configured. No message holds a header's value.
import * as z from "zod/mini";
import type { Clock } from "../clock.js";

/** Where a header map is used. */
export type Endpoint = "verify" | "settle" | "supported";

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]{0,16384}$/;
// Set by the HTTP client itself; another value would break the framing of the call.
const RESERVED = new Set([
  "host",
  "connection",
  "content-length",
  "transfer-encoding",
  "upgrade",
  "te",
  "trailer",
  "expect",
]);

/** Header names and values that may be sent as they are. */
export const headerMap = z
  .record(z.string(), z.string())
  .check(
    z.refine((map) =>
      Object.entries(map).every(
        ([name, value]) => NAME.test(name) && VALUE.test(value) && !RESERVED.has(name.toLowerCase()),
      ),
    ),
  );

export type HeaderMap = z.infer<typeof headerMap>;

/** One header map for each endpoint; `supported` may be left out, since that list is normally public. */
export const headerMaps = z.object({
  verify: headerMap,
  settle: headerMap,
  supported: z.optional(headerMap),
});

export type HeaderMaps = z.infer<typeof headerMaps>;

/** Called before each call, so that short-lived tokens can be made for it. Source: protocol §6.3. */
export type HeadersCallback = () => HeaderMaps | Promise<HeaderMaps>;

export type Credentials =
  | { readonly ok: true; readonly headers: HeaderMap }
  /** `final`: the callback gave the wrong shape; otherwise it failed and may work the next time. */
  | { readonly ok: false; readonly final: boolean; readonly message: string };

/** The headers for one call to `endpoint`, within `withinMs`. Never rejects. */
export async function headersFor(
  headers: HeaderMap | HeadersCallback | undefined,
  endpoint: Endpoint,
  withinMs: number,
  clock: Clock,
): Promise<Credentials> {
  if (typeof headers !== "function") return { ok: true, headers: headers ?? {} };
  let made: unknown;
  try {
    made = await within(withinMs, clock, headers);
  } catch (error) {
    // The error's text stays out: it may quote the key that the callback used.
    const name = error instanceof Error ? error.name : typeof error;
    return { ok: false, final: false, message: `the option "headers" of facilitator(): the callback failed (${name})` };
  }
  if (made === TIMED_OUT) {
    const message = `the option "headers" of facilitator(): the callback gave nothing within ${withinMs} ms`;
    return { ok: false, final: false, message };
  }
  const parsed = headerMaps.safeParse(made);
  if (!parsed.success) return { ok: false, final: true, message: wrongShape(made, parsed.error) };
  return { ok: true, headers: parsed.data[endpoint] ?? {} };
}

const TIMED_OUT = Symbol("timed out");

function within(ms: number, clock: Clock, make: () => unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => resolve(TIMED_OUT));
    Promise.resolve().then(make).then(resolve, reject).finally(cancel);
  });
}

function wrongShape(made: unknown, error: z.core.$ZodError): string {
  const places = [...new Set(error.issues.map((issue) => issue.path.slice(0, 1).join(".")).filter(Boolean))];
  const what = made === null ? "null" : Array.isArray(made) ? "an array" : typeof made;
  const where = places.length > 0 ? `, wrong at ${places.join(", ")}` : "";
  return (
    `the option "headers" of facilitator(): the callback must return { verify, settle, supported }, ` +
    `each a map of header names to text; got ${what}${where}`
  );
}
