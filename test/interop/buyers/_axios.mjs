// What the axios-based buyers share.
import { decodeReceipt } from "./_fetch.mjs";

/** `client` already pays. */
export async function payWithAxios(client, { url, method, body }) {
  // A second 402 is an answer as well, as it is with fetch.
  const response = await client
    .request({ url, method, data: body })
    .catch((error) => error.response ?? Promise.reject(error));
  const header = response.headers["payment-response"] ?? response.headers["x-payment-response"];
  const text = typeof response.data === "string" ? response.data : JSON.stringify(response.data);
  return { status: response.status, body: text, receipt: decodeReceipt(header) };
}
