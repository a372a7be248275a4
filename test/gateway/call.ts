// One HTTP request as a caller of the gateway makes it, and its answer as data.

export interface CallOptions {
  /** Null = no Authorization header. */
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** JSON of which a test asserts whatever it reads. */
export interface Json {
  readonly [member: string]: Json | undefined;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined where the answer is no JSON. */
  readonly body: Json;
  readonly text: string;
}

/** A body that is a string or bytes goes out as it is; anything else as JSON. */
export async function ask(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  { key, headers, signal }: CallOptions = {},
): Promise<Answer> {
  const raw = typeof body === "string" || body instanceof Uint8Array;
  const answer = await fetch(url + path, {
    method,
    headers: {
      ...(body !== undefined && { "Content-Type": "application/json" }),
      ...(key && { Authorization: `Bearer ${key}` }),
      Connection: "close",
      ...headers,
    },
    ...(body !== undefined && { body: raw ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
  });
  const text = await answer.text();
  const isJson = answer.headers.get("content-type")?.startsWith("application/json") && text !== "";
  return { status: answer.status, headers: answer.headers, text, body: isJson ? JSON.parse(text) : undefined };
}

/** The details of an error, empty where it has none. */
export const detailsOf = ({ body }: Answer): readonly { readonly path: string; readonly message: string }[] =>
  (body.error?.details ?? []) as unknown as { path: string; message: string }[];
