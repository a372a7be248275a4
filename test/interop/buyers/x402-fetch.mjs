// x402-fetch 1.x: protocol v1, reads the 402's body.
import { privateKeyToAccount } from "viem/accounts";
import { wrapFetchWithPayment } from "x402-fetch";
import { fromResponse, toInit } from "./_fetch.mjs";

export async function pay({ url, method, body, privateKey }) {
  const payingFetch = wrapFetchWithPayment(fetch, privateKeyToAccount(privateKey));
  return fromResponse(await payingFetch(url, toInit({ method, body })));
}
