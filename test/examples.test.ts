// Every example, as a user starts it: compiled against the built package, in a process of its own, met without a payment
// and then paid on a local chain.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createSandbox, pay, type Sandbox } from "tollgate/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort, type Running, runNode, startNode } from "./support/process.js";
import { reasonToSkip, startPublishedFacilitator } from "./support/published.js";

const at = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const payTo = "0x000000000000000000000000000000000000dEaD"; // as the examples have it

let sandbox: Sandbox;
/** Chain access and a settling key: with these in the environment an example settles in its own process. */
let chain: Record<string, string>;

beforeAll(async () => {
  if (!existsSync(at("dist/src/index.js")))
    throw new Error("The package is not built: run `npm test`, or `npm run build`");
  const compiled = await runNode([at("node_modules/typescript/bin/tsc"), "-p", at("examples/tsconfig.json")]);
  if (compiled.code !== 0) throw new Error(`The examples do not compile:\n${compiled.stdout}`);
  sandbox = await createSandbox();
  chain = { TOLLGATE_RPC_URL_BASE_SEPOLIA: sandbox.rpcUrl, TOLLGATE_SETTLER_KEY_EVM: sandbox.settlerKey };
});
afterAll(() => sandbox?.close());

interface Purchase {
  readonly path: string;
  readonly method?: string;
  /** Atomic USDC. */
  readonly price: bigint;
  readonly answer: string;
}

/** Meets the 402, pays, and counts the money on the chain. */
async function buy(origin: string, { path, method = "GET", price, answer }: Purchase) {
  const account = await sandbox.newBuyer();
  const before = [await sandbox.token.balanceOf(account.address), await sandbox.token.balanceOf(payTo)] as const;

  const unpaid = await fetch(`${origin}${path}`, { method });
  expect(unpaid.status).toBe(402);
  expect(await unpaid.json()).toMatchObject({ accepts: [{ maxAmountRequired: price.toString(), payTo }] });

  const { response } = await pay(`${origin}${path}`, { method }, { account, version: 2 });
  const body = await response.text();
  expect({ status: response.status, body }).toEqual({ status: 200, body: expect.stringContaining(answer) });
  expect(await sandbox.token.balanceOf(account.address)).toBe(before[0] - price);
  expect(await sandbox.token.balanceOf(payTo)).toBe(before[1] + price);
}

async function withExample(name: string, env: Record<string, string>, use: (origin: string) => Promise<void>) {
  const running: Running = await startNode([at(`.cache/examples/${name}.js`)], { ...env, PORT: `${await freePort()}` });
  try {
    await use(new URL(running.firstLine).origin);
  } finally {
    await running.stop();
  }
}

async function sellsTheReport(origin: string): Promise<void> {
  expect((await fetch(origin)).status).toBe(200);
  await buy(origin, { path: "/report", price: 10_000n, answer: "paidBy" });
}

describe("the examples", () => {
  it("express sells one route and leaves the rest open", () => withExample("express", chain, sellsTheReport));

  it("hono sells one route and leaves the rest open", () => withExample("hono", chain, sellsTheReport));

  it("node sells one route and leaves the rest open", () => withExample("node", chain, sellsTheReport));

  it("web sells one route and leaves the rest open", () => withExample("web", chain, sellsTheReport));

  it("fastify sells one route and leaves the rest open", () => withExample("fastify", chain, sellsTheReport));

  it("next sells one route and leaves the rest open", () => withExample("next", chain, sellsTheReport));

  it("pricing-table asks for each line's own price and gives the free one away", () =>
    withExample("pricing-table", chain, async (origin) => {
      expect((await fetch(`${origin}/health`)).status).toBe(200);
      await buy(origin, { path: "/weather", price: 1_000n, answer: "celsius" });
      await buy(origin, { path: "/render/pdf", method: "POST", price: 50_000n, answer: "One pdf page" });
      await buy(origin, { path: "/files/a.txt", price: 2_000n, answer: "a.txt" });
    }));

  it("dynamic-price asks for so much a page and refuses a request without a number", () =>
    withExample("dynamic-price", chain, async (origin) => {
      await buy(origin, { path: "/book?pages=3", price: 6_000n, answer: '"pages":3' });
      await buy(origin, { path: "/book?pages=7", price: 14_000n, answer: '"pages":7' });
      expect((await fetch(`${origin}/book?pages=many`)).status).toBe(400);
    }));

  it("env takes everything from the environment", () =>
    withExample(
      "env",
      { ...chain, TOLLGATE_PAY_TO: payTo, TOLLGATE_NETWORKS: "base-sepolia", TOLLGATE_PRICE: "$0.03" },
      (origin) => buy(origin, { path: "/report", price: 30_000n, answer: "paidBy" }),
    ));

  it.skipIf(reasonToSkip())("facilitator settles through a published facilitator", async () => {
    const published = await startPublishedFacilitator(sandbox.rpcUrl, sandbox.settlerKey);
    try {
      await withExample("facilitator", { FACILITATOR_URL: published.firstLine }, async (origin) => {
        await buy(origin, { path: "/report", price: 10_000n, answer: "paidBy" });
        await buy(origin, { path: "/archive", price: 50_000n, answer: "reports" });
      });
    } finally {
      await published.stop();
    }
  });

  it("are each under 40 lines and each named in this file", () => {
    const own = readFileSync(fileURLToPath(import.meta.url), "utf8");
    for (const file of readdirSync(at("examples")).filter((name) => name.endsWith(".ts"))) {
      expect(readFileSync(at(`examples/${file}`), "utf8").split("\n").length, file).toBeLessThan(40);
      expect(own, file).toMatch(new RegExp(`(withExample\\(\\s*)"${file.replace(".ts", "")}"`));
    }
  });
});

describe("the demo, `npm start -- --once`", () => {
  it("sells on both frameworks, every step goes right, and it ends with 0", async () => {
    const demo = await runNode([at(".cache/examples/demo/main.js"), "--once"]);
    expect(demo.stdout).not.toContain("WRONG");
    expect(demo.stdout).toContain("10 of 10 steps went right.");
    expect(demo.stdout.match(/transaction 0x[0-9a-f]{64}/g)).toHaveLength(8);
    expect(demo).toMatchObject({ code: 0, stderr: "" });
  });
});
