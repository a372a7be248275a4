// @x402/fetch 2.x: protocol v2, reads the PAYMENT-REQUIRED header.
import { ExactEvmScheme } from "@x402/evm";
import { wrapFetchWithPaymentFromConfig } from "@x402/fetch";
import { privateKeyToAccount } from "viem/accounts";
import { fromResponse, toInit } from "./_fetch.mjs";

export async function pay({ url, method, body, privateKey }) {
  const payingFetch = wrapFetchWithPaymentFromConfig(fetch, {
    schemes: [{ network: "eip155:*", client: new ExactEvmScheme(privateKeyToAccount(privateKey)) }],
  });
  return fromResponse(await payingFetch(url, toInit({ method, body })));
}
