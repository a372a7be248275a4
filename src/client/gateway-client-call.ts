// One call to the gateway, with its repeats: after a pause that grows and is never the same, and only where a repeat can do
// nothing twice. The key goes to `baseUrl` alone.
import { createFetchClient, createHttpClient } from "../receive/http.js";
import { type Failed, readAnswer } from "./gateway-client-answer.js";
import { type Endpoint, nameOf } from "./gateway-client-endpoints.js";
import { GatewayError } from "./gateway-client-error.js";
import type { ClientSettings } from "./gateway-client-options.js";
import { wait } from "./wait.js";

/** The last argument of every method. */
export interface CallOptions {
  /** The same key and request get the same answer, and nothing is done twice. Random where it is left out. */
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What a call is made of. */
export interface Given {
  /** By their names in the path. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: object;
  /** For one attempt, where the request itself asks for more time than usual. */
  readonly leastMs?: number;
  /** For all attempts and pauses, where the caller's own time ends sooner than the client's. */
  readonly mostMs?: number;
}

export type Call = <Answer>(endpoint: Endpoint<Answer>, given?: Given, options?: CallOptions) => Promise<Answer>;

/** What a test moves. */
export interface CallParts {
  readonly now: () => number;
  readonly random: () => number;
  /** Rejects with the signal's reason. */
  readonly wait: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

export const systemParts: CallParts = { now: () => Date.now(), random: () => Math.random(), wait };

/** A page of 500 payments with all that they may carry. */
const MAX_BYTES = 8 * 1024 * 1024;
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [250, 8_000];

export function createCall(settings: ClientSettings, { now, random, wait }: CallParts): Call {
  const { base, secret, retries, totalMs } = settings;
  const http = settings.fetch ? createFetchClient(settings.fetch) : createHttpClient();

  return async (endpoint, given = {}, { idempotencyKey, signal } = {}) => {
    const timeoutMs = Math.max(settings.timeoutMs, given.leastMs ?? 0);
    const endsAt = now() + Math.min(Math.max(totalMs, given.leastMs ?? 0), given.mostMs ?? Number.POSITIVE_INFINITY);
    const key = keyFor(endpoint, idempotencyKey);
    const headers = {
      ...(!endpoint.open && { authorization: `Bearer ${secret}` }),
      ...(key !== undefined && { "idempotency-key": key }),
    };
    const { method } = endpoint;
    const url = `${base}${pathOf(endpoint, given)}`;
    const body = given.body && JSON.stringify(given.body);
    const request = { method, url, headers, maxBytes: MAX_BYTES, ...(body && { body }), ...(signal && { signal }) };
    // Invariant: what is sent again is a GET, or a POST that the gateway knows by its key to be the same (promise 3).
    const most = endpoint.once || (method !== "GET" && key === undefined) ? 0 : retries;
    let inDoubt = false;
    for (let repeats = 0; ; repeats++) {
      signal?.throwIfAborted();
      const reply = await http.call({ ...request, timeoutMs: Math.max(1, Math.min(timeoutMs, endsAt - now())) });
      signal?.throwIfAborted();
      const read = readAnswer(endpoint, reply, secret);
      if (read.ok) return read.value;
      // Invariant: what may have been done stays in doubt until the gateway has judged this very request.
      inDoubt = method !== "GET" && !read.final && (inDoubt || read.facts.inDoubt);
      const pauseMs = pauseBefore(repeats, read.facts.retryAfterMs);
      if (!read.again || repeats >= most || now() + pauseMs >= endsAt) throw toError(read, inDoubt, key);
      await wait(pauseMs, signal);
    }
  };

  /** As long as the gateway asks for, else doubling; never the same for two callers. */
  function pauseBefore(repeats: number, retryAfterMs: number | undefined): number {
    const step = Math.min(FIRST_PAUSE_MS * 2 ** repeats, LONGEST_PAUSE_MS);
    return retryAfterMs === undefined ? step * (0.5 + random() / 2) : retryAfterMs + random() * FIRST_PAUSE_MS;
  }
}

const toError = ({ facts }: Failed, inDoubt: boolean, key: string | undefined): GatewayError =>
  new GatewayError({ ...facts, inDoubt, ...(key !== undefined && { idempotencyKey: key }) });

const KEY = /^[\x21-\x7e]{1,255}$/;

function keyFor({ method, keyed }: Pick<Endpoint, "method" | "keyed">, given: string | undefined): string | undefined {
  if (given !== undefined && !KEY.test(given)) {
    throw new TypeError("idempotencyKey: expected 1 to 255 visible ASCII characters");
  }
  if (method !== "POST") return undefined;
  return given ?? (keyed ? crypto.randomUUID() : undefined);
}

/** Path and query. */
function pathOf(endpoint: Pick<Endpoint, "method" | "path">, { params = {}, query = {} }: Given): string {
  const path = endpoint.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const text = params[name];
    // A URL takes dots for steps, and would lead to another endpoint.
    if (typeof text !== "string" || /^\.{0,2}$/.test(text)) {
      throw new TypeError(`${nameOf(endpoint)}: expected ${name} as text`);
    }
    return encodeURIComponent(text);
  });
  const asked = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) asked.set(name, String(value));
  const text = asked.toString();
  return text === "" ? path : `${path}?${text}`;
}
