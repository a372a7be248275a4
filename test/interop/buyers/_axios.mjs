// What the axios-based buyers share.
import { decodeReceipt } from "./_fetch.mjs";

/** `client` already pays. */
export async function payWithAxios(client, { url, method, body }) {
  const response = await client.request({ url, method, data: body });
  const header = response.headers["payment-response"] ?? response.headers["x-payment-response"];
  const text = typeof response.data === "string" ? response.data : JSON.stringify(response.data);
  return { status: response.status, body: text, receipt: decodeReceipt(header) };
}
