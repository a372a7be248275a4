// The built package on whichever Node runs this: every entry loads by import and by require, and an Express and a Hono app
// answer 402 and are paid in both versions on a local chain. Prints one line, or fails.
import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { serve } from "@hono/node-server";
import express from "express";
import { Hono } from "hono";
import { paywall as expressPaywall } from "tollgate/express";
import { paywall as honoPaywall } from "tollgate/hono";
import { createSandbox, pay } from "tollgate/testing";

const require = createRequire(import.meta.url);
const { exports: entries } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
const names = Object.keys(entries).filter((entry) => entry !== "./package.json");
for (const name of names) {
  const specifier = `tollgate${name.slice(1)}`;
  assert.deepEqual(Object.keys(require(specifier)), Object.keys(await import(specifier)), specifier);
}

const sandbox = await createSandbox();
try {
  const { network, payTo } = sandbox;
  const options = { network, payTo, receive: sandbox.receive() };
  const app = express();
  app.get("/report", expressPaywall("$0.01", options), (req, res) => res.json({ payer: req.payment.payer }));
  const hono = new Hono();
  hono.get("/report", honoPaywall("$0.01", options), (c) => c.json({ payer: c.get("payment").payer }));
  const servers = await Promise.all([
    new Promise((resolve) => {
      const server = app.listen(0, "127.0.0.1", () => resolve(server));
    }),
    new Promise((resolve) => {
      const server = serve({ fetch: hono.fetch, port: 0, hostname: "127.0.0.1" }, () => resolve(server));
    }),
  ]);
  for (const server of servers) {
    const url = `http://127.0.0.1:${server.address().port}/report`;
    assert.equal((await fetch(url)).status, 402);
    for (const version of [1, 2]) {
      const account = await sandbox.newBuyer();
      const before = await sandbox.token.balanceOf(account.address);
      const { response } = await pay(url, {}, { account, version });
      assert.deepEqual([response.status, await response.json()], [200, { payer: account.address }]);
      assert.equal(before - (await sandbox.token.balanceOf(account.address)), 10_000n);
    }
    server.closeAllConnections();
    server.close();
  }
} finally {
  await sandbox.close();
}
console.log(`Node ${process.versions.node}: ${names.length} entries loaded, 4 payments made`);
