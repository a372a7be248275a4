// The entry of the package: a gateway from options and environment; without its packages it says in one line which to install.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createGateway, PaywallConfigError, serve } from "../../src/gateway/index.js";
import { GATEWAY_PEERS, requireGatewayPeers } from "../../src/gateway/peers.js";
import { readSources } from "../support/sources.js";
import { captureLog } from "./captured-log.js";

const missing = (...names: string[]) =>
  requireGatewayPeers((name) => {
    if (names.includes(name)) throw Object.assign(new Error(name), { code: "ERR_MODULE_NOT_FOUND" });
    return name;
  });

describe("the gateway's packages", () => {
  it("are asked for by one line that installs all that are missing", async () => {
    await expect(missing("pino", "hono")).rejects.toThrow("the gateway needs hono, pino: npm install hono pino");
    await expect(missing()).resolves.toBeUndefined();
  });

  it("are all that its sources import, beside the drivers that are asked for where they are opened", () => {
    const dependencies = ["zod", "lru-cache"];
    const elsewhere = ["viem", "@solana/web3.js", "ioredis", "libsql", "pg"];
    const named = readSources("src")
      .filter(({ path }) => path.startsWith("src/gateway/"))
      .flatMap(({ imports }) => imports)
      .filter(({ file, specifier, typeOnly }) => file === undefined && !typeOnly && !specifier.startsWith("node:"))
      .map(({ specifier }) =>
        specifier
          .split("/")
          .slice(0, specifier.startsWith("@") ? 2 : 1)
          .join("/"),
      );
    const known = new Set<string>([...GATEWAY_PEERS, ...dependencies, ...elsewhere]);
    expect([...new Set(named)].filter((name) => !known.has(name))).toEqual([]);
  });

  it("are not loaded before they were asked for", () => {
    const entry = readSources("src").find(({ path }) => path === "src/gateway/index.ts");
    const early = entry?.imports
      .filter(({ typeOnly, dynamic }) => !typeOnly && !dynamic)
      .map(({ specifier }) => specifier);
    expect(early).toEqual(["./peers.js", "../errors.js"]);
  });
});

describe("createGateway and serve", () => {
  it("open a gateway, give its first key once, and close it again", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tollgate-entry-"));
    const { logger, lines } = captureLog();
    const env = { TOLLGATE_RPC_URL_BASE_SEPOLIA: "http://127.0.0.1:9" };
    const options = { database: { file: join(folder, "gateway.db") }, host: "127.0.0.1" };
    const gateway = await createGateway(options, { env, logger });
    const { firstKey } = gateway;
    expect(firstKey?.key).toMatchObject({
      mode: "test",
      plan: "standard",
      scopes: ["send", "receive", "read", "build", "events"],
    });
    const server = await serve(gateway, { port: 0 });
    const address = "0x857b06519E91e3A54538791bDbb0E22373e36b66";
    const headers = { Authorization: `Bearer ${firstKey?.secret}` };
    const answer = await fetch(`${server.url}/payment/history/${address}`, { headers });
    expect([answer.status, await answer.json()]).toMatchObject([200, { payments: [] }]);
    await server.close();
    await server.close();
    await expect(fetch(server.url)).rejects.toThrow();
    const again = await createGateway(options, { env, logger });
    expect(again.firstKey).toBeUndefined();
    await again.close();
    expect(lines.join()).not.toContain(firstKey?.secret);
    rmSync(folder, { recursive: true, force: true });
  });

  it("refuse a configuration with every problem of it", async () => {
    const wrong = createGateway({ port: -1, trustProxy: 99 }, { env: {} });
    await expect(wrong).rejects.toThrow(PaywallConfigError);
    await expect(wrong).rejects.toThrow(/port[\s\S]*trustProxy[\s\S]*no network is served/);
  });
});
