// Digests that tell the same request from another one, and the buyer's retry key as a hash: the store never holds the key.
import { sha256 } from "./hash.js";
import type { HeldBytes } from "./held.js";
import type { PaywallRequest } from "./request.js";
import type { RequestPrint } from "./store/record.js";

/** Bodies up to this size have a digest: 1 MiB. */
const MAX_BODY = 1024 * 1024;

/**
 * The body counts as held memory while it is read, by the length it announces. Without room for it there is no digest, and
 * the retry key stands in its place.
 */
async function readBody(request: PaywallRequest, held: HeldBytes): Promise<Uint8Array | undefined> {
  const length = request.header("content-length") ?? (request.header("transfer-encoding") ? MAX_BODY : 0);
  const announced = Number(length);
  const account = held.open();
  try {
    return account.add(announced >= 0 ? announced : MAX_BODY) ? await request.body(MAX_BODY) : undefined;
  } finally {
    account.close();
  }
}

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
  held: HeldBytes,
): Promise<RequestPrint> {
  const body = await readBody(request, held);
  const headers = CONTENT_HEADERS.map((name) => `${name}:${request.header(name) ?? ""}`).join("\n");
  const [target, bodyDigest, headersDigest, key] = await Promise.all([
    sha256(`${request.method} ${request.target}`),
    body && sha256(body),
    sha256(headers),
    retryKey === undefined ? undefined : sha256(`retry-key:${retryKey}`),
  ]);
  return { target, body: bodyDigest ?? null, headers: headersDigest, retryKey: key ?? null };
}
