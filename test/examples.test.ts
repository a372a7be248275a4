// Every example, as a user starts it: compiled against the built package, in a process of its own, met without a payment
// and then paid on local chains, in each kind of money that it asks for.
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  createSandbox,
  createSolanaSandbox,
  pay,
  readChallenge,
  type Sandbox,
  type SolanaSandbox,
  signPayment,
} from "tollgate/testing";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { startExampleGateway } from "./support/example-gateway.js";
import { EXAMPLE_PAYEES, eth, type Money, sol, usdcOnBase, usdcOnSolana } from "./support/example-money.js";
import { freePort, lives, type Running, runNode, startNode } from "./support/process.js";
import { reasonToSkip, startPublishedFacilitator } from "./support/published.js";

const at = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

let sandbox: Sandbox;
let solanaSandbox: SolanaSandbox;
/** Chain access and a settling key: with these in the environment an example settles in its own process. */
let chain: Record<string, string>;
let solana: Record<string, string>;

beforeAll(async () => {
  if (!existsSync(at("dist/src/index.js")))
    throw new Error("The package is not built: run `npm test`, or `npm run build`");
  const compiled = await runNode([at("node_modules/typescript/bin/tsc"), "-p", at("examples/tsconfig.json")]);
  if (compiled.code !== 0) throw new Error(`The examples do not compile:\n${compiled.stdout}`);
  [sandbox, solanaSandbox] = await Promise.all([createSandbox(), createSolanaSandbox()]);
  chain = { TOLLGATE_RPC_URL_BASE_SEPOLIA: sandbox.rpcUrl, TOLLGATE_SETTLER_KEY_EVM: sandbox.settlerKey };
  const { rpcUrl, settlerKey, token } = solanaSandbox;
  await token.mint(EXAMPLE_PAYEES.solana, 0n);
  solana = { TOLLGATE_RPC_URL_SOLANA_DEVNET: rpcUrl, TOLLGATE_SETTLER_KEY_SOLANA: settlerKey };
}, 120_000);
afterAll(() => Promise.all([sandbox?.close(), solanaSandbox?.close()]));

interface Purchase {
  readonly path: string;
  readonly method?: string;
  /** USDC on Base Sepolia where it is absent. */
  readonly money?: Money;
  /** Atomic units. */
  readonly price: bigint;
  readonly answer: string;
  /** How many offers of x402 v1 and v2 the 402 makes, one each where it is absent. */
  readonly offers?: readonly [v1: number, v2: number];
}

/** Meets the 402, pays, and counts the debits on the chain. */
async function buy(origin: string, purchase: Purchase) {
  const { path, method = "GET", money = usdcOnBase(sandbox), price, answer, offers = [1, 1] } = purchase;
  const { payTo } = money;
  const { address, payer } = await money.newBuyer();

  const unpaid = await fetch(`${origin}${path}`, { method });
  expect(unpaid.status).toBe(402);
  const { accepts } = (await unpaid.json()) as { accepts: unknown[] };
  expect(accepts).toHaveLength(offers[0]);
  if (offers[0] === 1) expect(accepts).toMatchObject([{ maxAmountRequired: `${price}`, payTo }]);

  const { response, challenge } = await pay(`${origin}${path}`, { method }, { payer, version: 2 });
  expect(challenge?.accepts).toHaveLength(offers[1]);
  expect(challenge?.accepts.filter(payer.takes)).toMatchObject([{ amount: `${price}`, payTo }]);
  const body = await response.text();
  expect({ status: response.status, body }).toEqual({ status: 200, body: expect.stringContaining(answer) });
  expect(await money.debits(address)).toEqual([price]);
  return response;
}

async function withExample(name: string, env: Record<string, string>, use: (origin: string) => Promise<unknown>) {
  const running: Running = await startNode([at(`.cache/examples/${name}.js`)], { ...env, PORT: `${await freePort()}` });
  try {
    await use(new URL(running.firstLine).origin);
  } finally {
    await running.stop();
  }
}

/** One that buys: to its end, with a new buyer who has $1. */
async function runExample(name: string, args: readonly string[], env: Record<string, string> = {}) {
  const key = generatePrivateKey();
  await sandbox.token.mint(privateKeyToAddress(key), 1_000_000n);
  const run = await runNode([at(`.cache/examples/${name}.js`), ...args], { TOLLGATE_WALLET_KEY: key, ...env });
  const transfers = await sandbox.token.transfers({ from: privateKeyToAddress(key) });
  return { ...run, debits: transfers.map(({ value }) => value) };
}

async function sellsTheReport(origin: string): Promise<void> {
  expect((await fetch(origin)).status).toBe(200);
  await buy(origin, { path: "/report", price: 10_000n, answer: "paidBy" });
}

describe("the examples", { timeout: 90_000 }, () => {
  it("express sells one route and leaves the rest open", () => withExample("express", chain, sellsTheReport));

  it("hono sells one route and leaves the rest open", () => withExample("hono", chain, sellsTheReport));

  it("node sells one route and leaves the rest open", () => withExample("node", chain, sellsTheReport));

  it("web sells one route and leaves the rest open", () => withExample("web", chain, sellsTheReport));

  it("fastify sells one route and leaves the rest open", () => withExample("fastify", chain, sellsTheReport));

  it("next sells one route and leaves the rest open", () => withExample("next", chain, sellsTheReport));

  it("cluster sells once what is shown to all of its processes, and goes on when one of them is killed", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tollgate-cluster-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    await withExample("cluster", { ...chain, PAYMENTS_FILE: join(folder, "payments.db") }, async (origin) => {
      const account = await sandbox.newBuyer();
      const challenge = await readChallenge(await fetch(`${origin}/report`), 2);
      const [offer] = challenge.accepts;
      if (!offer) throw new Error("the challenge makes no offer");
      const { headers } = await signPayment({ account, offer, version: 2, challenge });
      const show = async () => (await fetch(`${origin}/report`, { headers })).status;
      const statuses = await Promise.all(Array.from({ length: 24 }, show));
      // A machine with other things to do may refuse all of them for now, and their buyer asks again.
      const isSold = async () => {
        if (!statuses.includes(200)) statuses.push(await show());
        return statuses.includes(200);
      };
      await expect.poll(isSold, { timeout: 30_000, interval: 200 }).toBe(true);
      expect(statuses.filter((status) => status === 200)).toHaveLength(1);
      expect(statuses.filter((status) => ![200, 409, 503].includes(status))).toEqual([]);
      expect(await usdcOnBase(sandbox).debits(account.address)).toEqual([10_000n]);

      const served = await pay(`${origin}/report`, {}, { account: await sandbox.newBuyer(), version: 2 });
      const { servedBy } = (await served.response.json()) as { servedBy: number };
      process.kill(servedBy, "SIGKILL");
      // Gone once its parent has taken notice, who gives it no connection any more.
      await expect.poll(() => lives(servedBy)).toBe(false);
      await buy(origin, { path: "/report", price: 10_000n, answer: "paidBy" });
    });
  });

  it("cluster ends with what went wrong where none of its processes can work", async () => {
    const taken = createServer().listen(0);
    onTestFinished(() => void taken.close());
    await once(taken, "listening");
    const folder = mkdtempSync(join(tmpdir(), "tollgate-cluster-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const PORT = `${(taken.address() as AddressInfo).port}`;
    const env = { ...chain, PORT, PAYMENTS_FILE: join(folder, "payments.db") };
    const { code, stderr } = await runNode([at(".cache/examples/cluster.js")], env);
    expect([code, stderr]).toEqual([1, expect.stringContaining("EADDRINUSE")]);
  });

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

  it("pass sells a day of files and ten conversions, and asks for no second payment within them", () =>
    withExample("pass", chain, async (origin) => {
      const files = await buy(origin, { path: "/files/a.txt", price: 50_000n, answer: "a.txt" });
      const headers = { "Payment-Pass": files.headers.get("Payment-Pass") ?? "" };
      expect(await (await fetch(`${origin}/files/b.txt`, { headers })).text()).toContain("b.txt");
      expect((await fetch(`${origin}/convert`, { headers })).status).toBe(402);
      const first = await buy(origin, { path: "/convert", price: 20_000n, answer: '"usesLeft":9' });
      const pass = { headers: { "Payment-Pass": first.headers.get("Payment-Pass") ?? "" } };
      for (let left = 8; left >= 0; left -= 1) {
        expect(await (await fetch(`${origin}/convert`, pass)).json()).toEqual({ converted: true, usesLeft: left });
      }
      expect((await fetch(`${origin}/convert`, pass)).status).toBe(402);
    }));

  it("page shows people a page, in the seller's colours or his own HTML, and everybody else JSON", () =>
    withExample("page", chain, async (origin) => {
      const see = async (path: string) => {
        const response = await fetch(origin + path, { headers: { Accept: "text/html" } });
        return [response.status, response.headers.get("Content-Type"), await response.text()];
      };
      const html = "text/html; charset=utf-8";
      expect(await see("/report")).toEqual([402, html, expect.stringContaining("The Weekly Ledger")]);
      expect(await see("/essay")).toEqual([402, html, expect.stringContaining("<title>An essay</title>")]);
      expect(await see("/feed")).toEqual([402, "application/json; charset=utf-8", expect.any(String)]);
      await buy(origin, { path: "/report", price: 10_000n, answer: "4 %" });
      await buy(origin, { path: "/essay", price: 20_000n, answer: "On paying" });
      await buy(origin, { path: "/feed", price: 1_000n, answer: "items" });
    }));

  it("env takes everything from the environment", () =>
    withExample(
      "env",
      { ...chain, TOLLGATE_PAY_TO: EXAMPLE_PAYEES.evm, TOLLGATE_NETWORKS: "base-sepolia", TOLLGATE_PRICE: "$0.03" },
      (origin) => buy(origin, { path: "/report", price: 30_000n, answer: "paidBy" }),
    ));

  it("solana is paid in USDC on Solana", () =>
    withExample("solana", solana, (origin) =>
      buy(origin, { path: "/report", money: usdcOnSolana(solanaSandbox), price: 10_000n, answer: "paidBy" }),
    ));

  it("native is paid in ETH, and for the dearer page when three blocks stand on the payment", () =>
    withExample("native", chain, async (origin) => {
      await buy(origin, { path: "/report", money: eth(sandbox), price: 2n * 10n ** 14n, answer: "transaction" });
      await buy(origin, { path: "/archive", money: eth(sandbox, 3), price: 10n ** 16n, answer: "reports" });
    }));

  it("multi-chain is paid on either chain, in USDC or in the chain's own currency", () =>
    withExample("multi-chain", { ...chain, ...solana }, async (origin) => {
      // Clients of v1 cannot pay in a chain's own currency: they are offered USDC alone.
      const route = { path: "/report", offers: [2, 4] } as const;
      const [base, devnet] = ["eip155:84532", "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"];
      await buy(origin, { ...route, price: 10_000n, answer: base });
      await buy(origin, { ...route, money: usdcOnSolana(solanaSandbox), price: 10_000n, answer: devnet });
      await buy(origin, { ...route, money: sol(solanaSandbox), price: 1_000_000n, answer: devnet });
      await buy(origin, { ...route, money: eth(sandbox), price: 10n ** 13n, answer: base });
    }));

  it("payments counts what it sold for Prometheus and lists the payments as CSV", async () => {
    const operator = `http://127.0.0.1:${await freePort()}`;
    const env = { ...chain, OPERATOR_PORT: new URL(operator).port };
    await withExample("payments", env, async (origin) => {
      await buy(origin, { path: "/report", price: 10_000n, answer: "paidBy" });
      const figures = await (await fetch(`${operator}/metrics`)).text();
      expect(figures).toMatch(
        /^tollgate_events_total\{event="settled",network="eip155:84532",asset="0x\w+",code=""\} 1$/m,
      );
      expect(figures).toMatch(/^tollgate_settled_amount_total\{network="eip155:84532",asset="0x\w+"\} 10000$/m);
      const list = async () => {
        const payments = await fetch(`${operator}/payments.csv`);
        expect(payments.headers.get("Content-Type")).toContain("text/csv");
        return (await payments.text()).trimEnd().split("\r\n");
      };
      // That the last byte is gone is written once it is.
      await expect
        .poll(list, { timeout: 10_000 })
        .toEqual([
          expect.stringMatching(/^proofId,payer,payTo,/),
          expect.stringMatching(/,10000,,settled,delivered,0x[0-9a-f]{64},,\d{4}-.*Z,\d{4}-.*Z$/),
        ]);
    });
  });

  it("hosted holds a key that can receive, and a gateway settles for it, in USDC and in ETH", async () => {
    await withExample("hosted", await startExampleGateway(sandbox), async (origin) => {
      await buy(origin, { path: "/report", price: 10_000n, answer: "paidBy" });
      await buy(origin, { path: "/archive", money: eth(sandbox), price: 10n ** 15n, answer: "transaction" });
    });
  });

  it("events prints what becomes of a payment of a gateway, and ends", async () => {
    const { code, stdout } = await runExample("events", []);
    const told = stdout.split("\n").filter((line) => /^\d+ payment /.test(line));
    expect(told.map((line) => line.split(" ").slice(0, 3).join(" "))).toEqual([
      "1 payment created",
      "2 payment submitted",
      "3 payment confirmed",
    ]);
    expect(told.every((line) => line.endsWith("0.001 ETH"))).toBe(true);
    expect(code).toBe(0);
  });

  it("buyer asks for the price, pays it and tells what it got", () =>
    withExample("express", chain, async (origin) => {
      const { code, stdout, debits } = await runExample("buyer", [`${origin}/report`]);
      expect(stdout).toContain("It costs 0.01 USDC on base-sepolia.");
      expect(stdout).toContain("Sales went up by 4 %.");
      expect(stdout).toMatch(new RegExp(`0\\.01 USDC to ${EXAMPLE_PAYEES.evm}: 0x[0-9a-f]{64}`));
      expect({ code, debits }).toEqual({ code: 0, debits: [10_000n] });
    }));

  it("agent-with-budget buys until its budget is spent, which it remembers when it is started anew", () =>
    withExample("express", chain, async (origin) => {
      const folder = mkdtempSync(join(tmpdir(), "tollgate-examples-"));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const env = { AGENT_STATE: join(folder, "spending.json") };
      const urls = Array.from({ length: 4 }, (_, page) => `${origin}/report?page=${page}`);
      const first = await runExample("agent-with-budget", urls, env);
      expect(first).toMatchObject({ code: 0, debits: Array(4).fill(10_000n) });
      expect(first.stdout.match(/^bought: /gm)).toHaveLength(4);
      const later = await runExample(
        "agent-with-budget",
        urls.map((url) => `${url}&again=1`),
        env,
      );
      expect(later).toMatchObject({ code: 0, debits: [10_000n] });
      expect(later.stdout.match(/^not bought: over_budget$/gm)).toHaveLength(3);
    }));

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
      expect(own, file).toMatch(new RegExp(`(withExample|runExample)\\(\\s*"${file.replace(".ts", "")}"`));
    }
  });
});

describe("the demo, `npm start -- --once`", () => {
  it("sells on both frameworks, one of them through a gateway, every step goes right, and it ends with 0", async () => {
    const demo = await runNode([at(".cache/examples/demo/main.js"), "--once"]);
    expect(demo.stdout).not.toContain("WRONG");
    expect(demo.stdout).toContain("20 of 20 steps went right.");
    expect(demo.stdout.match(/transaction 0x[0-9a-f]{64}\n/g)).toHaveLength(8);
    expect(demo.stdout.match(/transaction [1-9A-HJ-NP-Za-km-z]{86,88}\n/g)).toHaveLength(8);
    const [, url] = /A gateway runs at (\S+), .* explained at \1\/docs\n/.exec(demo.stdout) ?? [];
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(demo.stdout.match(/ {7}4 payments received: (?:confirmed|finalized|confirmed, finalized)\n/g)).toHaveLength(
      2,
    );
    expect(demo).toMatchObject({ code: 0, stderr: "" });
  }, 120_000);
});
