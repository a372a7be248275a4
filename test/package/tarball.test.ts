// The package as it would be published: what is in it, and that each of its entries loads in a project that has nothing
// but the package, its two dependencies and a framework. Needs a build, no network.
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runNode } from "../support/process.js";
import { root } from "../support/sources.js";

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  exports: Record<string, string | { types: string; default: string }>;
  dependencies: Record<string, string>;
};
const entries = Object.keys(manifest.exports).filter((entry) => entry !== "./package.json");

let project: string;
/** Paths inside the installed package. */
let files: string[];

beforeAll(() => {
  if (!existsSync(join(root, "dist/src/index.js"))) throw new Error("The package is not built: run `npm run build`");
  project = mkdtempSync(join(tmpdir(), "tollgate-package-"));
  execFileSync("npm", ["pack", "--pack-destination", project], { cwd: root, stdio: "pipe" });
  const tarball = readdirSync(project).find((name) => name.endsWith(".tgz"))!;
  const installed = join(project, "node_modules/tollgate");
  mkdirSync(installed, { recursive: true });
  execFileSync("tar", ["-xzf", join(project, tarball), "-C", installed, "--strip-components=1"]);
  writeFileSync(join(project, "package.json"), '{ "name": "user-of-the-package", "private": true, "type": "module" }');
  // The dependencies and the frameworks are linked from here, at the very versions tested: no registry is asked.
  for (const name of [...Object.keys(manifest.dependencies), "express", "hono"]) {
    symlinkSync(join(root, "node_modules", name), join(project, "node_modules", name), "dir");
  }
  files = readdirSync(installed, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(installed.length + 1));
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

/** Runs a script in the project; its last expression's value comes back as text. */
async function evaluate(script: string): Promise<string> {
  const file = join(project, "script.js");
  writeFileSync(file, script);
  const { stdout, stderr } = await runNode([file]);
  return stdout + stderr;
}

describe("the packed package", () => {
  it("holds the build, the licence and the documents, and nothing else", () => {
    const others = files.filter(
      (file) => !/^(dist\/(src|adapters)\/.*\.(js|d\.ts)|README\.md|CHANGELOG\.md|LICENSE|package\.json)$/.test(file),
    );
    expect(others).toEqual([]);
    expect(files).toContain("LICENSE");
  });

  it.each(entries)("loads %s without any optional package but the framework", async (entry) => {
    const output = await evaluate(`console.log(Object.keys(await import("tollgate${entry.slice(1)}")).length)`);
    expect(Number(output), output).toBeGreaterThan(0);
  });

  it("names the package to install when a sandbox is wanted and viem is not there", async () => {
    const output = await evaluate(`
      import { createSandbox } from "tollgate/testing";
      await createSandbox().catch((error) => console.log(error.message));
    `);
    expect(output).toBe("The sandbox needs viem: npm install -D viem @foundry-rs/anvil\n");
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
