// `mppx`: its EVM charge over x402 v2; it settles before the handler runs.
import { evm as evmMethods, Mppx } from "mppx/express";
import { startExpress } from "./_express.mjs";

export function start({ facilitatorUrl: facilitator, authorization, evm: recipient, ...shop }) {
  const withKey = (url, init) => fetch(url, { ...init, headers: { ...init?.headers, ...authorization } });
  const mppx = Mppx.create({
    secretKey: "a secret of the test, 32 bytes or more",
    methods: [
      evmMethods({
        currency: evmMethods.assets.baseSepolia.USDC,
        recipient,
        x402: { facilitator, fetch: withKey },
      }),
    ],
  });
  return startExpress(shop, mppx.charge({ amount: "0.01" }));
}
