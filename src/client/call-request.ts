// What a caller of `fetch` asked for, read without touching it: `input` and `init` go on to the inner fetch as they came.
export type FetchInput = Parameters<typeof globalThis.fetch>[0];
export type FetchInit = RequestInit;
export type Body = FetchInit["body"];

/** One call, read. */
export interface CallRequest {
  readonly input: FetchInput;
  readonly init: FetchInit | undefined;
  /** Where `input` is a `Request`. */
  readonly request: Request | undefined;
  readonly method: string;
  /** As asked, without its fragment. */
  readonly url: URL;
  readonly signal: AbortSignal | undefined;
  readonly redirect: "follow" | "error" | "manual";
}

/** Methods that fetch itself writes in capitals; others stay as they are. */
const CAPITALISED = /^(?:delete|get|head|options|post|put)$/i;

/** Undefined for what is no http request: the inner fetch says what is wrong with it. */
export function readCall(input: FetchInput, init: FetchInit | undefined): CallRequest | undefined {
  const request = isRequest(input) ? input : undefined;
  const url = parseUrl(request ? request.url : String(input));
  if (url === undefined) return undefined;
  const method = String(init?.method ?? request?.method ?? "GET");
  // Spec: a signal in `init` takes the place of the Request's own, and null means none.
  const signal = (init?.signal === undefined ? request?.signal : init.signal) ?? undefined;
  const redirect = init?.redirect ?? request?.redirect ?? "follow";
  return {
    input,
    init,
    request,
    method: CAPITALISED.test(method) ? method.toUpperCase() : method,
    url,
    signal,
    redirect,
  };
}

// Not instanceof: a fetch of one's own brings a Request class of its own.
const isRequest = (input: FetchInput): input is Request =>
  typeof input === "object" && !(input instanceof URL) && "url" in input;

function parseUrl(text: string): URL | undefined {
  // Pages may ask for a path of their own.
  const { document, location } = globalThis as { document?: { baseURI?: string }; location?: { href?: string } };
  try {
    const url = new URL(text, document?.baseURI ?? location?.href);
    url.hash = "";
    return /^https?:$/.test(url.protocol) ? url : undefined;
  } catch {
    return undefined;
  }
}

/** Options of a request beside method, headers, body, redirect and signal, which a paid try sets itself. */
const OPTIONS = [
  "mode",
  "credentials",
  "cache",
  "referrer",
  "referrerPolicy",
  "integrity",
  "keepalive",
  "priority",
  "dispatcher",
] as const;

/** The caller's options for a request that is sent anew: his own `init` above those of his `Request`. */
export function optionsOf({ request, init }: CallRequest): FetchInit {
  const options: Record<string, unknown> = {};
  // Read by name, because an `init` may be a Request too, whose members are no own properties. What is undefined is left out:
  // Workers refuse the mere presence of options that they do not have.
  for (const source of [request, init] as const) {
    const members = source as Readonly<Record<string, unknown>> | undefined;
    for (const name of OPTIONS) if (members?.[name] !== undefined) options[name] = members[name];
  }
  return { ...options, ...init };
}

/** The caller's headers. */
export const headersOf = ({ request, init }: CallRequest): Headers => new Headers(init?.headers ?? request?.headers);

/** Without user, password and fragment: what may be shown and recorded. */
export function bareUrl(url: URL): string {
  const bare = new URL(url);
  bare.username = "";
  bare.password = "";
  bare.hash = "";
  return bare.href;
}
