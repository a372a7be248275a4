// x402-fetch 1.x on Solana: protocol v1, reads the 402's body, adds no memo.
import { createSigner, wrapFetchWithPayment } from "x402-fetch";
import { fromResponse, toInit } from "../_fetch.mjs";
import { toBase58 } from "./_keys.mjs";

export async function pay({ url, method, body, secretKey, rpcUrl }) {
  const signer = await createSigner("solana-devnet", toBase58(secretKey));
  // The third and fourth argument are its defaults: at most 0.10 USDC, and its own choice among the offers.
  const payingFetch = wrapFetchWithPayment(fetch, signer, undefined, undefined, { svmConfig: { rpcUrl } });
  return fromResponse(await payingFetch(url, toInit({ method, body })));
}
