// The three endpoints of a facilitator as calls: credentials, time limit and URL are settled here; what an answer to
// /verify or /settle means is decided by facilitator-answers.ts.
import type { Clock } from "../clock.js";
import { readSupportedResponse, type SupportedResponse } from "../wire/facilitator.js";
import type { Alarms } from "./alarms.js";
import { type Endpoint, type HeaderMap, type HeadersCallback, headersFor } from "./credentials.js";
import type { HttpClient, HttpReply } from "./http.js";
import type { Fetched } from "./supported.js";

export interface ApiCall {
  /** JSON text; absent = a GET. */
  readonly body?: string;
  /** Epoch milliseconds; the time limit holds beside it. */
  readonly deadlineAt?: number;
  /** In place of the receiver's own time limit. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** `no_credentials`: the callback gave none, so nothing was sent. `final`: it never will. */
export type ApiReply =
  | HttpReply
  | { readonly outcome: "no_credentials"; readonly final: boolean; readonly message: string };

export interface FacilitatorApi {
  ask(endpoint: Endpoint, call: ApiCall): Promise<ApiReply>;
  fetchSupported(): Promise<Fetched<SupportedResponse>>;
}

export function createFacilitatorApi(settings: {
  /** Without a trailing slash. */
  readonly base: string;
  readonly headers: HeaderMap | HeadersCallback | undefined;
  readonly timeoutMs: number;
  readonly http: HttpClient;
  readonly clock: Clock;
  readonly alarms: Alarms;
}): FacilitatorApi {
  const { base, headers, timeoutMs, http, clock, alarms } = settings;

  async function ask(endpoint: Endpoint, { body, signal, deadlineAt, ...call }: ApiCall): Promise<ApiReply> {
    const limitMs = call.timeoutMs ?? timeoutMs;
    const endAt = Math.min(clock.now() + limitMs, deadlineAt ?? Number.POSITIVE_INFINITY);
    const credentials = await headersFor(headers, endpoint, endAt - clock.now(), clock);
    if (!credentials.ok) {
      alarms.raise("credentials", credentials.message);
      return { outcome: "no_credentials", final: credentials.final, message: credentials.message };
    }
    const leftMs = endAt - clock.now();
    if (leftMs <= 0) return { outcome: "failed", failure: "unreachable", sent: false, message: "no time was left" };
    return http.call({
      method: body === undefined ? "GET" : "POST",
      url: `${base}/${endpoint}`,
      headers: credentials.headers,
      timeoutMs: leftMs,
      ...(body !== undefined && { body }),
      ...(signal && { signal }),
    });
  }

  return {
    ask,
    async fetchSupported() {
      const reply = await ask("supported", {});
      if (reply.outcome === "no_credentials") {
        return reply.final ? { outcome: "refused", message: reply.message } : failed(reply.message);
      }
      if (reply.outcome === "failed") return failed(reply.message);
      const { status, body, retryAfterMs } = reply;
      if (status === 401 || status === 403) return { outcome: "refused", message: `/supported answered ${status}` };
      const list = status === 200 ? readSupportedResponse(body) : undefined;
      return list ? { outcome: "list", list } : failed(`answered ${status} without a list`, retryAfterMs);
    },
  };
}

function failed(message: string, retryAfterMs?: number): Fetched<never> {
  const facts = { outcome: "failed" as const, message: `/supported: ${message}` };
  return retryAfterMs === undefined ? facts : { ...facts, retryAfterMs };
}
