// The programs of docs/gateway.md, as a reader would copy them: each builds a transaction at a running gateway, inspects and signs
// it, broadcasts it over its own node, waits until the gateway has seen it, and prints a proof that opens a paid route once.
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { transform } from "esbuild";
import express from "express";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createPaywall } from "../../adapters/express.js";
import { hosted } from "../../src/index.js";
import { codeOf } from "../support/documents.js";
import { type Finished, runNode } from "../support/process.js";
import { root } from "../support/sources.js";
import { outliveFirstSecond } from "./first-second.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

let world: GatewayWorld;
beforeAll(async () => {
  world = await createGatewayWorld({ chains: { evm: true, solana: true } });
  await outliveFirstSecond(world.solana);
});
afterAll(() => world?.close());

/** Runs the one program of the document that holds these words, where it finds the packages of this repository. */
async function runExample(words: string, env: Record<string, string>): Promise<Finished> {
  const [program, ...others] = codeOf(join(root, "docs/gateway.md")).filter((code) => code.includes(words));
  if (program === undefined || others.length > 0) throw new Error(`not one block of docs/gateway.md holds ${words}`);
  mkdirSync(join(root, ".cache"), { recursive: true });
  const folder = mkdtempSync(join(root, ".cache/gateway-example-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { code } = await transform(program, { loader: "ts", format: "esm", target: "node20" });
  const path = join(folder, "example.mjs");
  writeFileSync(path, code);
  const TOLLGATE_API_KEY = await world.newKey({ scopes: ["build", "read"] });
  return runNode([path], { TOLLGATE_GATEWAY_URL: world.url, TOLLGATE_API_KEY, ...env });
}

/** A seller who holds a key that can receive, and nothing else. */
async function startSeller(price: string, network: "base-sepolia" | "solana-devnet", payTo: string): Promise<string> {
  const apiKey = await world.newKey({ scopes: ["receive"] });
  const pay = createPaywall({ payTo, network, receive: hosted({ baseUrl: world.url, apiKey }) });
  const app = express();
  app.get("/report", pay(price), (_req, res) => void res.json({ report: "…" }));
  await pay.ready();
  const server = createServer(app).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await pay.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/report`;
}

async function opensOnce(url: string, { code, stdout, stderr }: Finished): Promise<void> {
  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  const headers = { "X-PAYMENT": stdout.trim() };
  const paid = await fetch(url, { headers });
  expect([paid.status, await paid.json()]).toEqual([200, { report: "…" }]);
  const elsewhere = await fetch(`${url}?other`, { headers });
  expect([elsewhere.status, await elsewhere.json()]).toMatchObject([402, { code: "payment_used_elsewhere" }]);
}

describe("the local transaction flow of docs/gateway.md", { timeout: 90_000 }, () => {
  it("on EVM with viem: built, inspected, signed, broadcast, confirmed; the proof opens a paid route, once", async () => {
    const { evm } = world;
    if (!evm) throw new Error("the world has no EVM chain");
    const PRIVATE_KEY = generatePrivateKey();
    const address = privateKeyToAddress(PRIVATE_KEY);
    await evm.native.setBalances([address], 10n ** 18n);
    const seller = await startSeller("0.01 ETH", "base-sepolia", evm.payTo);
    const env = { RPC_URL: evm.rpcUrl, PRIVATE_KEY, RECIPIENT: evm.payTo };
    await opensOnce(seller, await runExample("parseTransaction", env));
    expect((await evm.native.transfers({ from: address, to: evm.payTo })).map(({ value }) => value)).toEqual([
      10n ** 16n,
    ]);
  });

  it("on Solana with web3.js: the same", async () => {
    const { solana } = world;
    if (!solana) throw new Error("the world has no Solana chain");
    const wallet = await solana.newBuyer();
    const seller = await startSeller("0.01 SOL", "solana-devnet", solana.payTo);
    const SECRET_KEY = Buffer.from(wallet.secretKey).toString("hex");
    const env = { RPC_URL: solana.rpcUrl, SECRET_KEY, RECIPIENT: solana.payTo };
    await opensOnce(seller, await runExample("VersionedTransaction", env));
    const moved = await solana.native.transfers({ from: wallet.publicKey.toBase58(), to: solana.payTo });
    expect(moved.map(({ value }) => value)).toEqual([10n ** 7n]);
  });
});
