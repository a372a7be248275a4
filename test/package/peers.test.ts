// The optional packages at both ends of the range that the package names: a shop made of the packed package is paid on a real
// chain with each. What is between them is promised by their own version numbers.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import * as z from "zod";
import { createSandbox, pay, type Sandbox } from "../../src/testing/index.js";
import { createPackedProject } from "../support/packed.js";
import { startNode } from "../support/process.js";
import { root } from "../support/sources.js";

const SHOP = `
import { serve } from "@hono/node-server";
import express from "express";
import { Hono } from "hono";
import { local } from "tollgate";
import { paywall as expressPaywall } from "tollgate/express";
import { paywall as honoPaywall } from "tollgate/hono";

const { RPC_URL: rpcUrl, SETTLER_KEY: settler, PAY_TO: payTo } = process.env;
const receive = local({ networks: { "base-sepolia": { rpcUrl, settler } } });
const options = { payTo, network: "base-sepolia", receive };
const app = express();
app.get("/report", expressPaywall("$0.01", options), (req, res) => res.json({ payer: req.payment?.payer }));
const hono = new Hono();
hono.get("/report", honoPaywall("$0.01", options), (c) => c.json({ payer: c.get("payment")?.payer }));
const server = app.listen(0, "127.0.0.1", () => {
  serve({ fetch: hono.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => {
    console.log(JSON.stringify([server.address().port, port]));
  });
});
`;

/** Packages of the repository by the name under which the shop finds them. */
const ENDS = {
  lowest: { viem: "viem-lowest", hono: "hono-lowest", express: "express4" },
  highest: { viem: "viem", hono: "hono", express: "express" },
};

const manifestSchema = z.object({ version: z.string() });
const versionOf = (name: string) =>
  manifestSchema.parse(JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8"))).version;

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createSandbox();
});
afterAll(() => sandbox?.close());

describe("F102: the optional packages", { timeout: 120_000 }, () => {
  it.each(Object.entries(ENDS))("at their %s versions sell on Express and Hono and settle", async (_end, packages) => {
    const project = createPackedProject(["@hono/node-server"]);
    onTestFinished(project.remove);
    for (const [as, name] of Object.entries(packages)) project.link(name, as);
    const env = { RPC_URL: sandbox.rpcUrl, SETTLER_KEY: sandbox.settlerKey, PAY_TO: sandbox.payTo };
    const shop = await startNode([project.write("shop.js", SHOP)], env);
    onTestFinished(shop.stop);
    for (const port of z.array(z.number()).parse(JSON.parse(shop.firstLine))) {
      const account = await sandbox.newBuyer();
      const { response } = await pay(`http://127.0.0.1:${port}/report`, {}, { account, version: 2 });
      expect([response.status, await response.json()], shop.output()).toEqual([200, { payer: account.address }]);
      expect(await sandbox.token.balanceOf(account.address)).toBe(999_990_000n);
    }
  });

  it("stand for the ends of the ranges in package.json", () => {
    const peers = z
      .object({ peerDependencies: z.record(z.string(), z.string()) })
      .parse(JSON.parse(readFileSync(join(root, "package.json"), "utf8"))).peerDependencies;
    const lowest = Object.entries(ENDS.lowest).map(([name, as]) => {
      const [major, minor] = versionOf(as).split(".").map(Number);
      const [, fromMajor, fromMinor = "0"] = /^>=(\d+)(?:\.(\d+))?/.exec(peers[name] ?? "") ?? [];
      return [name, major === Number(fromMajor) && minor! - Number(fromMinor) <= 1];
    });
    expect(lowest).toEqual(Object.keys(ENDS.lowest).map((name) => [name, true]));
  });
});
