// Digests that tell the same request from another one, and the buyer's retry key as a hash: the store never holds the key.
import type { Context } from "./context.js";
import { sha256 } from "./hash.js";
import type { PaywallRequest } from "./request.js";
import type { RequestPrint } from "./store/record.js";

/** Bodies up to this size have a digest: 1 MiB. */
const MAX_BODY = 1024 * 1024;
/** A body that takes longer to arrive has no digest. */
const BODY_MS = 10_000;

type Memory = Pick<Context, "bodies" | "clock">;

/**
 * The body counts as memory while it is read, by the length it announces. Without room for it, or where it does not come in
 * time, there is no digest, and the retry key stands in its place.
 */
async function readBody(request: PaywallRequest, { bodies, clock }: Memory): Promise<Uint8Array | undefined> {
  const length = request.header("content-length") ?? (request.header("transfer-encoding") ? MAX_BODY : 0);
  const announced = Number(length);
  const account = bodies.open();
  if (!account.add(announced >= 0 ? announced : MAX_BODY)) return undefined;
  // What is still coming is still held: the account is closed by the reading, not by the waiting.
  const read = request.body(MAX_BODY).finally(account.close);
  let cancel = () => {};
  const late = new Promise<undefined>((resolve) => {
    cancel = clock.after(BODY_MS, () => resolve(undefined));
  });
  return Promise.race([read, late]).finally(() => cancel());
}

/** SHA-256 of no bytes: most requests that are paid for have no body. */
const NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/** Headers that make an answer another one. */
const CONTENT_HEADERS = [
  "authorization",
  "cookie",
  "accept",
  "accept-charset",
  "accept-encoding",
  "accept-language",
  "content-type",
  "range",
];

/** Reads the request as far as its identity needs; the handler can still read all of it. */
export async function printRequest(
  request: PaywallRequest,
  retryKey: string | undefined,
  memory: Memory,
): Promise<RequestPrint> {
  const body = request.bodyless ? undefined : await readBody(request, memory);
  const headers = CONTENT_HEADERS.map((name) => `${name}:${request.header(name) ?? ""}`).join("\n");
  // Begun together; where they are there at once, as on Node, nobody waits for them.
  const digests = [
    sha256(`${request.method} ${request.target}`),
    request.bodyless ? NOTHING : body && sha256(body),
    sha256(headers),
    retryKey === undefined ? undefined : sha256(`retry-key:${retryKey}`),
  ] as const;
  const [target, bodyDigest, headersDigest, key] = areDone(digests) ? digests : await Promise.all(digests);
  return { target, body: bodyDigest ?? null, headers: headersDigest, retryKey: key ?? null };
}

/** None of them is still to come. */
const areDone = <T extends readonly unknown[]>(values: T): values is T & { readonly [K in keyof T]: Awaited<T[K]> } =>
  values.every((value) => !(value instanceof Promise));
