// @faremeter/fetch 0.22: reads the PAYMENT-REQUIRED header first, then the body. LGPL: used in tests only.
import { wrap } from "@faremeter/fetch";
import { createPaymentHandler } from "@faremeter/payment-evm/exact";
import { createLocalWallet } from "@faremeter/wallet-evm";
import { fromResponse, toInit } from "./_fetch.mjs";

export async function pay({ url, method, body, privateKey }) {
  const wallet = await createLocalWallet({ id: 84532, name: "Base Sepolia" }, privateKey);
  // No retries: this buyer signs anew for each 402 that it meets, so a second one must fail the test, not be paid.
  const payingFetch = wrap(fetch, {
    handlers: [createPaymentHandler(wallet)],
    retryCount: 0,
    returnPaymentFailure: true,
  });
  return fromResponse(await payingFetch(url, toInit({ method, body })));
}
