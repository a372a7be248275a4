// The package as it would be published: what is in it, and that each of its entries loads in a project that has nothing
// but the package, its two dependencies and a framework. Needs a build, no network.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { linksOf } from "../support/documents.js";
import { createPackedProject, entries, type PackedProject } from "../support/packed.js";
import { runNode } from "../support/process.js";

let project: PackedProject;
/** Paths inside the installed package. */
let files: string[];

beforeAll(() => {
  project = createPackedProject(["express", "hono"]);
  files = readdirSync(project.installed, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(project.installed.length + 1));
});
afterAll(() => project?.remove());

/** Runs a script in the project; its last expression's value comes back as text. */
async function evaluate(script: string, name = "script.js"): Promise<string> {
  const { stdout, stderr } = await runNode([project.write(name, script)]);
  return stdout + stderr;
}

describe("the packed package", () => {
  it("holds the build, the licence and the documents, and nothing else", () => {
    const others = files.filter(
      (file) =>
        !/^(dist\/(src|adapters)\/.*\.(js|d\.ts)|docs\/.*\.md|examples\/.*\.ts|(README|CHANGELOG)\.md|LICENSE|package\.json)$/.test(
          file,
        ),
    );
    expect(others).toEqual([]);
    expect(files).toContain("LICENSE");
  });

  it("holds whatever its documents link to", () => {
    const links = linksOf(
      project.installed,
      files.filter((file) => file.endsWith(".md")),
    );
    expect(links.length).toBeGreaterThan(10);
    expect(links.filter(({ to }) => !existsSync(join(project.installed, to)))).toEqual([]);
  });

  it.each(entries)(
    "F100: gives import() and require() the same %s, with no optional package but the frameworks",
    async (entry) => {
      const imported = await evaluate(`console.log(Object.keys(await import("${entry}")).sort().join())`);
      const required = await evaluate(`console.log(Object.keys(require("${entry}")).sort().join())`, "script.cjs");
      expect(imported).toMatch(/^\w/);
      expect(required).toBe(imported);
    },
  );

  it("names the package to install when a sandbox is wanted and viem is not there", async () => {
    const output = await evaluate(`
      import { createSandbox } from "tollgate/testing";
      await createSandbox().catch((error) => console.log(error.message));
    `);
    expect(output).toBe("The sandbox needs viem: npm install -D viem @foundry-rs/anvil\n");
  });

  it("names the packages to install when a Solana sandbox or wallet is wanted and they are not there", async () => {
    const output = await evaluate(`
      import { createSolanaSandbox, splPayer } from "tollgate/testing";
      await createSolanaSandbox().catch((error) => console.log(error.message));
      const offer = { network: "solana-devnet", extra: { feePayer: "1" } };
      await splPayer({}, { rpcUrl: "http://127.0.0.1:9" }).sign(offer, 2).catch((error) => console.log(error.message));
    `);
    expect(output.split("\n")).toEqual([
      expect.stringMatching(
        /^The Solana sandbox needs .*: npm install -D @solana\/web3\.js@1\.99\.0 litesvm@1\.4\.1 ws$/,
      ),
      "Buyers on Solana need @solana/web3.js: npm install -D @solana/web3.js@1.99.0",
      "",
    ]);
  });

  it("names the package to install when figures are wanted and prom-client is not there", async () => {
    const output = await evaluate(`
      import { collectMetrics } from "tollgate/metrics";
      await collectMetrics({ on: () => () => {} }).catch((error) => console.log(error.name, error.message));
    `);
    expect(output).toMatch(/^PaywallConfigError .*\n.*npm install prom-client/);
  });

  it("names the package to install when a paywall is to settle and viem is not there", async () => {
    const output = await evaluate(`
      import { local } from "tollgate";
      import { createPaywall } from "tollgate/express";
      const settler = "0x" + "01".repeat(32);
      const receive = local({ networks: { "base-sepolia": { rpcUrl: "http://127.0.0.1:9", settler } } });
      const payTo = "0x000000000000000000000000000000000000dEaD";
      const pay = createPaywall({ payTo, network: "base-sepolia", receive });
      pay("$0.01");
      await pay.ready().catch((error) => console.log(error.message));
      await pay.close();
    `);
    expect(output).toMatch(/npm install viem/);
  });
});
