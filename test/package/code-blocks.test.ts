// The code in the documents, as a reader would copy it: every block compiles strictly, and those that are whole programs run
// against a chain and do what the text beside them says.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSandbox, pay } from "tollgate/testing";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { codeOf } from "../support/documents.js";
import { freePort, runNode, startNode } from "../support/process.js";
import { root } from "../support/sources.js";

/** Inside the repository, so that imports of the package and its friends are found. */
const folder = join(root, ".cache/documents");
const documents = ["README.md", "docs/configuration.md", "docs/events.md", "docs/gateway.md", "docs/lost-answers.md"];

/** What the shorter blocks take for granted. */
const AROUND = `
declare const payTo: string;
declare const app: import("express").Express;
declare const handler: import("express").RequestHandler;
declare const a: import("express").RequestHandler;
declare function tokenFor(call: string): Promise<Record<string, string>>;
declare const paywall: typeof import("tollgate/express").paywall;
`;

const blockOf = (document: string, words: string): string => {
  const found = codeOf(join(root, document)).filter((code) => code.includes(words));
  if (found.length !== 1) throw new Error(`${found.length} blocks of ${document} hold ${words}`);
  return found[0]!;
};

/** Moves a compiled program to a port that is free here: right before it runs, for compiling takes others long enough to take it. */
async function onFreePort(path: string): Promise<string> {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const program = readFileSync(path, "utf8");
  writeFileSync(path, program.replaceAll("http://localhost:3000", origin).replace("listen(3000", `listen(${port}`));
  return origin;
}

function write(name: string, program: string): string {
  const path = join(folder, name);
  writeFileSync(path, program);
  return path;
}

beforeAll(() => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
});

/** Compiles one program and gives the path of what came out. */
async function compile(name: string, program: string): Promise<string> {
  write(`${name}.ts`, program);
  const config = {
    extends: "../../tsconfig.json",
    compilerOptions: { rootDir: ".", outDir: "js", declaration: false, noEmitOnError: true },
  };
  write(`tsconfig.${name}.json`, JSON.stringify({ ...config, files: [`${name}.ts`], include: [] }));
  const compiled = await runNode([
    join(root, "node_modules/typescript/bin/tsc"),
    "-p",
    join(folder, `tsconfig.${name}.json`),
  ]);
  expect(compiled).toMatchObject({ code: 0, stdout: "" });
  return join(folder, `js/${name}.js`);
}

describe("the code in the documents", { timeout: 120_000 }, () => {
  it("compiles, every block of it", async () => {
    const blocks = documents.flatMap((document) => codeOf(join(root, document)).map((code) => ({ document, code })));
    expect(blocks.length).toBeGreaterThanOrEqual(9);
    const around = write("around.d.ts", AROUND);
    const files = blocks.map(({ document, code }, index) =>
      write(`${document.replace(/\W/g, "-")}-${index}.ts`, `${code}\nexport {};\n`),
    );
    const compilerOptions = { rootDir: ".", noEmit: true };
    write(
      "tsconfig.json",
      JSON.stringify({ extends: "../../tsconfig.json", compilerOptions, files: [around, ...files], include: [] }),
    );
    const compiled = await runNode([
      join(root, "node_modules/typescript/bin/tsc"),
      "-p",
      join(folder, "tsconfig.json"),
    ]);
    expect(compiled).toMatchObject({ code: 0, stdout: "" });
  });

  it("sells with the first lines of the README, when payTo is one's own", async () => {
    const sandbox = await createSandbox();
    onTestFinished(() => sandbox.close());
    const block = blockOf("README.md", 'import { paywall } from "tollgate/express";\n\nconst app');
    const program = block.replace("0x…", sandbox.payTo);
    const announced = program.replace(/(listen\(\d+)\)/, '$1, () => console.log("listening"))');
    const env = { TOLLGATE_RPC_URL_BASE_SEPOLIA: sandbox.rpcUrl, TOLLGATE_SETTLER_KEY_EVM: sandbox.settlerKey };
    const path = await compile("start", announced);
    const origin = await onFreePort(path);
    const seller = await startNode([path], env);
    onTestFinished(() => seller.stop());

    const account = await sandbox.newBuyer();
    const { response } = await pay(`${origin}/report`, {}, { account, version: 2 });
    expect(await response.json()).toEqual({ report: "…", paidBy: account.address });
    expect(await sandbox.token.balanceOf(sandbox.payTo)).toBe(10_000n);
  });

  it("refuses to sell with the first lines of the README as they stand, and says what to put in", async () => {
    const program = blockOf("README.md", 'import { paywall } from "tollgate/express";\n\nconst app');
    const seller = await runNode([await compile("placeholder", program)]);
    expect(seller.code).toBe(1);
    expect(seller.stderr).toContain("put your own receiving address here");
  });

  it("tests a paywall with the README's own test, which ends by itself", async () => {
    const path = await compile("testing", blockOf("README.md", "await createSandbox();\nconst { network"));
    await onFreePort(path);
    const { code, stdout, stderr } = await runNode([path]);
    expect([code, stdout, stderr]).toEqual([0, expect.stringMatching(/^sold: \{ report: .*, paidBy: .*\}\s*$/s), ""]);
  });

  it("tests one on Solana with the README's own test, which ends by itself too", async () => {
    const path = await compile("testing-solana", blockOf("README.md", "await createSolanaSandbox();\nconst { network"));
    await onFreePort(path);
    // Packages of Solana say on standard error that they have no native parts.
    expect(await runNode([path])).toMatchObject({ code: 0, stdout: "" });
  });

  it("starts the local chain of docs/gateway.md, which gives an address that it is told ETH and USDC", async () => {
    const program = blockOf("docs/gateway.md", "settlerKey");
    const address = "0x00000000000000000000000000000000000000A1";
    const { code, stdout, stderr } = await runNode([await compile("chain", program)], {}, `${address}\n`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const lines = stdout.trim().split("\n");
    expect(lines).toEqual([
      expect.stringMatching(/^export TOLLGATE_RPC_URL_BASE_SEPOLIA=http:\S+ TOLLGATE_SETTLER_KEY_EVM=0x[0-9a-f]{64}$/),
      `${address} got 1 ETH and 10 USDC`,
    ]);
  });

  it.each([1, 2])("collects a lost answer without a second payment, in x402 v%d", async (version) => {
    const spoken = blockOf("docs/lost-answers.md", "retryKey")
      .replace("fetch(url), 2)", `fetch(url), ${version})`)
      .replace("version: 2", `version: ${version}`);
    const path = await compile(`lost-v${version}`, spoken);
    await onFreePort(path);
    const { code, stdout } = await runNode([path]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "hung up\n{ report: 'It will rain.' } true\n10000n\n" });
  });
});
