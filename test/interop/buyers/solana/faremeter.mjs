// @faremeter/fetch 0.22 on Solana: reads the PAYMENT-REQUIRED header first, then the body. LGPL: used in tests only.
import { wrap } from "@faremeter/fetch";
import { createPaymentHandler } from "@faremeter/payment-solana/exact";
import { createLocalWallet } from "@faremeter/wallet-solana";
import { fromResponse, toInit } from "../_fetch.mjs";

/** Circle's USDC on devnet: this buyer pays with the one mint that it is told. */
const USDC = "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU";

/** Without `rpcUrl` it takes blockhash and decimals from the offer. */
export async function pay({ url, method, body, secretKey, rpcUrl }) {
  const wallet = await createLocalWallet("devnet", new Uint8Array(secretKey));
  // No retries: this buyer signs anew for each 402 that it meets, so a second one must fail the test, not be paid.
  const payingFetch = wrap(fetch, {
    handlers: [createPaymentHandler(wallet, USDC, rpcUrl)],
    retryCount: 0,
    returnPaymentFailure: true,
  });
  return fromResponse(await payingFetch(url, toInit({ method, body })));
}
