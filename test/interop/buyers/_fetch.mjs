// What the fetch-based buyers share: the request as the test words it, and the answer as the test reads it.

/** A GET, or a request with a JSON body. */
export function toInit({ method, body }) {
  if (body === undefined) return { method };
  return { method, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
}

/** `receipt` is the settle response of either protocol version, decoded; undefined when none came. */
export async function fromResponse(response) {
  const header = response.headers.get("PAYMENT-RESPONSE") ?? response.headers.get("X-PAYMENT-RESPONSE");
  return { status: response.status, body: await response.text(), receipt: decodeReceipt(header) };
}

export function decodeReceipt(header) {
  return header ? JSON.parse(Buffer.from(header, "base64").toString("utf8")) : undefined;
}
