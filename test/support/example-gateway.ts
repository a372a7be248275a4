// A gateway that receives for the examples, on the local chain with a settler of its own; it is closed with the test.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGateway, type GatewayLogger, serve } from "tollgate/gateway";
import type { Sandbox } from "tollgate/testing";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { onTestFinished } from "vitest";

/** Gives the environment of a seller who may receive through it. */
export async function startExampleGateway({ native, rpcUrl }: Sandbox): Promise<Record<string, string>> {
  const settler = generatePrivateKey();
  await native.setBalances([privateKeyToAddress(settler)], 10n ** 18n);
  const folder = mkdtempSync(join(tmpdir(), "tollgate-examples-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const silent = () => {};
  const logger: GatewayLogger = { debug: silent, info: silent, warn: silent, error: silent, child: () => logger };
  const networks = { "base-sepolia": { rpcUrl, settler } };
  const gateway = await createGateway({ networks, database: { file: join(folder, "db") } }, { env: {}, logger });
  gateway.start();
  const running = await serve(gateway, { port: 0 });
  onTestFinished(() => running.close());
  const account = gateway.firstKey?.key.account ?? "";
  const key = { account, name: "shop", mode: "test", plan: "standard", scopes: ["receive"] } as const;
  const { secret } = await gateway.database.keys.create(key);
  return { TOLLGATE_GATEWAY_URL: running.url, TOLLGATE_API_KEY: secret };
}
