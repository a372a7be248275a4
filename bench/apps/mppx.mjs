// mppx on its x402 path (v2): one middleware for each route of the framework. It checks the signature itself and has the
// facilitator verify and settle before the handler.
import { expressPath, TERMS } from "../lib/terms.mjs";

export async function build({ framework, routes, free, paid, facilitatorUrl }) {
  const { Mppx, evm } = await import(`mppx/${framework}`);
  const x402 = { facilitator: facilitatorUrl, maxTimeoutSeconds: TERMS.maxTimeoutSeconds };
  const mppx = Mppx.create({
    secretKey: "not a secret: the benchmark's servers live for seconds",
    realm: "bench",
    methods: [evm.charge({ currency: evm.assets.base.USDC, recipient: TERMS.payTo, x402 })],
  });
  const paywall = () => mppx.charge({ amount: TERMS.usd, description: TERMS.description });
  if (framework === "express") {
    const { default: express } = await import("express");
    const app = express();
    for (const { path } of routes) app.get(expressPath(path), paywall(), paid);
    return app.get("/free", free);
  }
  const { Hono } = await import("hono");
  const app = new Hono();
  for (const { path } of routes) app.get(path, paywall(), paid);
  return app.get("/free", free);
}
