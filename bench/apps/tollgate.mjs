// This package as it is published: from dist/, one pricing table in front of the app. `options.receive` says how money comes:
// "facilitator" (verify and settle remote), "facilitator-local-check" (signature here, settle remote), "rpc" (all here).
// `options.money`: "solana" for USDC there, on Base otherwise.
import { pathToFileURL } from "node:url";
import { privateKeyToAccount } from "viem/accounts";
import { SOLANA_TERMS, TERMS } from "../lib/terms.mjs";

/** `options.dist`: another build of this package, to be compared with the one here. */
export async function build({ framework, routes, free, paid, facilitatorUrl, rpcUrl, options }) {
  const dist = options.dist ? pathToFileURL(`${options.dist}/`) : new URL("../../dist/", import.meta.url);
  const { createPaywall } = await import(new URL(`adapters/${framework}.js`, dist).href);
  const { payTo, network } = options.money === "solana" ? SOLANA_TERMS : TERMS;
  const pay = createPaywall({
    payTo,
    network,
    maxTimeoutSeconds: TERMS.maxTimeoutSeconds,
    receive: await receiver(dist, options.receive, facilitatorUrl, rpcUrl),
  });
  const price = { price: `$${TERMS.usd}`, description: TERMS.description, mimeType: TERMS.mimeType };
  const table = pay.routes(Object.fromEntries(routes.map(({ path }) => [`GET ${path}`, price])));
  await pay.ready();
  if (framework === "express") {
    const { default: express } = await import("express");
    const app = express();
    app.use(table);
    app.get("/free", free);
    app.get("/paid/*rest", paid);
    return app;
  }
  const { Hono } = await import("hono");
  const app = new Hono();
  app.use(table);
  app.get("/free", free);
  app.get("/paid/*", paid);
  return app;
}

async function receiver(dist, kind, facilitatorUrl, rpcUrl) {
  const { facilitator, local } = await import(new URL("src/index.js", dist).href);
  if (kind !== "rpc") {
    return facilitator({ url: facilitatorUrl, verify: kind === "facilitator-local-check" ? "local" : "remote" });
  }
  // A well-known development key: the chain is a stub and holds nothing.
  const settler = privateKeyToAccount("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");
  return local({ networks: { [TERMS.network]: { rpcUrl, settler } } });
}
