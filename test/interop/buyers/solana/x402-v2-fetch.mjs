// @x402/fetch 2.x on Solana: protocol v2 from the PAYMENT-REQUIRED header, v1 from the body where there is none.
import { wrapFetchWithPaymentFromConfig } from "@x402/fetch";
import { fromResponse, toInit } from "../_fetch.mjs";
import { toSchemes } from "./_schemes.mjs";

export async function pay({ url, method, body, secretKey, rpcUrl }) {
  const payingFetch = wrapFetchWithPaymentFromConfig(fetch, { schemes: await toSchemes({ secretKey, rpcUrl }) });
  return fromResponse(await payingFetch(url, toInit({ method, body })));
}
