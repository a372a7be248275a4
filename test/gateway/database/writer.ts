// A process that writes payments for as long as it lives: what it prints was answered.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { onTestFinished } from "vitest";
import type { GatewaySettings } from "../../../src/gateway/settings.js";
import { type Running, startNode } from "../../support/process.js";
import { root } from "../../support/sources.js";

const script = (where: GatewaySettings["database"], account: string): string => `
  import { openDatabase } from "./src/gateway/database/open.js";
  import { newPayment, NETWORK, SENDER } from "./test/gateway/database/payments-made.js";
  const database = await openDatabase(${JSON.stringify(where)});
  const account = ${JSON.stringify(account)};
  for (;;) {
    const nonce = { network: NETWORK, address: SENDER, next: 0 };
    const complete = async (taken) => ({ ...newPayment(account), signature: "nonce " + taken });
    const made = await database.payments.insert(newPayment(account), { nonce, complete });
    await database.payments.change(made.payment, "submitted", {});
    console.log(made.payment.id);
  }`;

/** Starts it, from the sources as they stand. */
export async function startWriter(where: GatewaySettings["database"], account: string): Promise<Running> {
  const cache = join(root, ".cache");
  mkdirSync(cache, { recursive: true });
  // Inside the repository, where its packages are found.
  const folder = mkdtempSync(join(cache, "writer-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const outfile = join(folder, "writer.mjs");
  await build({
    stdin: { contents: script(where, account), resolveDir: root, loader: "ts" },
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
    logLevel: "error",
  });
  return startNode([outfile]);
}

/** The ids that it has printed in full. */
export const idsOf = (writer: Running): readonly string[] =>
  writer
    .output()
    .split("\n")
    .filter((line) => /^pay_[1-9A-HJ-NP-Za-km-z]{22}$/.test(line));
