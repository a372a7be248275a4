// A server that waits for its paywall before it listens stays alive until the paywall is ready, however long its node takes. Needs a
// build.
import { join } from "node:path";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { startNode } from "../support/process.js";
import { fault, type ScriptedRpc, startScriptedRpc } from "../support/scripted-rpc.js";
import { root } from "../support/sources.js";

const SETTLER_KEY = `0x${"51".repeat(32)}` as const;

let sandbox: Sandbox;
let rpc: ScriptedRpc;
beforeAll(async () => {
  sandbox = await createSandbox();
  rpc = await startScriptedRpc(sandbox.rpcUrl);
  await sandbox.native.setBalances([privateKeyToAccount(SETTLER_KEY).address], 10n ** 18n);
}, 60_000);
afterAll(async () => {
  await rpc?.close();
  await sandbox?.close();
});

it("`await pay.ready()` keeps a process that has nothing else to do until the node answers", {
  timeout: 60_000,
}, async () => {
  rpc.script("*", fault.status(503), 3);
  const env = { RPC_URL: rpc.url, SETTLER_KEY, PAY_TO: sandbox.payTo };
  const server = await startNode([join(root, "test/rig/seller.mjs")], env);
  expect(server.output()).toContain("will be tried again");
  expect(server.firstLine).toMatch(/^\d+$/);
  await server.kill();
});
