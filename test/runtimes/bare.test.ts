// The Hono paywall where there are only the globals of the web: no process, no Buffer, no require, no file to import.
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSandbox, pay, type Sandbox } from "../../src/testing/index.js";
import { type Bundle, bundle } from "../support/bundle.js";
import { type Running, startNode } from "../support/process.js";
import { root } from "../support/sources.js";

let sandbox: Sandbox;
let code: Bundle;
let host: Running;
let url: string;
beforeAll(async () => {
  [sandbox, code] = await Promise.all([
    createSandbox(),
    bundle({ file: "test/runtimes/shop.ts" }, { conditions: ["browser"], script: true }),
  ]);
  const env = { PAY_TO: sandbox.payTo, RPC_URL: sandbox.rpcUrl, SETTLER_KEY: sandbox.settlerKey };
  host = await startNode([join(root, "test/runtimes/bare-host.mjs"), code.entry, JSON.stringify(env)]);
  url = `http://127.0.0.1:${host.firstLine}`;
});
afterAll(async () => {
  await host?.stop();
  code?.remove();
  await sandbox?.close();
});

describe("F101: the core and the Hono adapter with the web's globals alone", () => {
  it("run without process and Buffer", async () => {
    expect(await (await fetch(`${url}/runtime`)).json()).toEqual({ hasProcess: false, hasBuffer: false });
  });

  it.each([1, 2] as const)("answer 402 and take a payment of version %i", async (version) => {
    expect((await fetch(`${url}/report`)).status).toBe(402);
    const account = await sandbox.newBuyer();
    const { response } = await pay(`${url}/report`, {}, { account, version });
    expect([response.status, await response.json()]).toEqual([200, { payer: account.address, run: 1 }]);
    expect(await sandbox.token.balanceOf(account.address)).toBe(999_990_000n);
  });

  it("refuse a signature that is not the payer's", async () => {
    const account = await sandbox.newBuyer();
    const forged = { account, version: 2, signature: `0x${"11".repeat(64)}1b` } as const;
    const { response } = await pay(`${url}/report`, {}, forged);
    expect([response.status, await response.json()]).toMatchObject([402, { code: "signature_invalid" }]);
  });

  it("check signatures with the implementation that is in the bundle", () => {
    expect(host.output()).toContain("viem (js)");
  });
});
