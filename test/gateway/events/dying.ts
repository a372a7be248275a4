// One process of a gateway with these options, to be killed or measured by a test. Needs a build.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import { type Running, startNode } from "../../support/process.js";
import { root } from "../../support/sources.js";

/** `watches`: it follows the payments of the database, also those of others. */
export async function startDying(options: GatewayOptions, { watches = false } = {}): Promise<Running> {
  if (!existsSync(join(root, "dist/src/gateway/index.js"))) throw new Error("The package is not built: run `npm test`");
  return startNode([join(root, "test/gateway/dying-gateway.mjs")], {
    GATEWAY_OPTIONS: JSON.stringify(options),
    WATCHES: watches ? "yes" : "no",
  });
}
