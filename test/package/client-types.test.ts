// A buyer's project that has nothing installed but the package: the types of `tollgate/client` come from the gateway's own schemas, and
// need no package of the gateway's.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createPackedProject } from "../support/packed.js";
import { runNode } from "../support/process.js";
import { root } from "../support/sources.js";

const USER = `
import { GatewayError, gatewayClient, hostedWallet, signAndCollect, signAndSend } from "tollgate/client";
const client = gatewayClient({ baseUrl: "https://pay.example", apiKey: "tg_test_" });
const order = { walletAddress: "0x", recipientAddress: "0x", amount: "0.1", metadata: { order: 17 } };
const sent = await client.send(order);
export const status: "created" | "submitted" | "confirmed" | "finalized" | "failed" | "expired" = sent.status;
// @ts-expect-error: an amount is no list
await client.send({ ...order, amount: [] });
// @ts-expect-error: an answer has no such member
sent.nothing;
for await (const { createdAt } of client.payments("0x", { limit: 3 })) void (createdAt satisfies number);
export default [GatewayError, hostedWallet(client, "0x"), signAndCollect, signAndSend];
`;

it("compiles strictly without hono, with the package's own declarations checked", async () => {
  const project = createPackedProject(["@types/node"]);
  onTestFinished(project.remove);
  project.write("user.mts", USER);
  const compilerOptions = {
    ...{ module: "node20", moduleResolution: "node16", target: "es2022", lib: ["es2023"], types: ["node"] },
    ...{ strict: true, skipLibCheck: false, exactOptionalPropertyTypes: true, noEmit: true },
  };
  project.write("tsconfig.json", JSON.stringify({ compilerOptions, files: ["user.mts"] }));
  const compiled = await runNode([join(root, "node_modules/typescript/bin/tsc"), "-p", project.folder]);
  expect(compiled).toMatchObject({ code: 0, stdout: "" });
  // A declaration that names a missing package could still compile, as `any`.
  for (const place of ["dist/src/client", "dist/src/gateway/schemas"]) {
    const folder = join(project.installed, place);
    for (const name of readdirSync(folder).filter((file) => file.endsWith(".d.ts"))) {
      expect(readFileSync(join(folder, name), "utf8"), name).not.toMatch(/(?:from |import\()"@hono/);
    }
  }
}, 120_000);
