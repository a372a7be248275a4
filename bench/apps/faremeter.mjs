// @faremeter/middleware: one middleware for each route of the framework, v1 and v2. It settles before the handler and checks
// nothing itself.
import { expressPath, TERMS } from "../lib/terms.mjs";

export async function build({ framework, routes, free, paid, facilitatorUrl }) {
  const { createMiddleware } = await import(`@faremeter/middleware/${framework}`);
  const { network, amount, asset, payTo, maxTimeoutSeconds, description, mimeType, name, version } = TERMS;
  const paywallOf = (path) =>
    createMiddleware({
      facilitatorURL: facilitatorUrl,
      supportedVersions: { x402v1: true, x402v2: true },
      accepts: [
        {
          ...{ scheme: "exact", network, maxAmountRequired: amount, asset, payTo, maxTimeoutSeconds },
          ...{ description, mimeType, resource: `http://127.0.0.1${path}`, extra: { name, version } },
        },
      ],
    });
  if (framework === "express") {
    const { default: express } = await import("express");
    const app = express();
    for (const { path } of routes) app.get(expressPath(path), await paywallOf(path), paid);
    return app.get("/free", free);
  }
  const { Hono } = await import("hono");
  const app = new Hono();
  for (const { path } of routes) app.get(path, await paywallOf(path), paid);
  return app.get("/free", free);
}
