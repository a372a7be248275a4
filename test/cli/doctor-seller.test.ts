// `tollgate doctor` of a seller, on real chains: every start-up check of a paywall as a row, each mistake with its remedy.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Environment } from "../../src/environment.js";
import { createSandbox, createSolanaSandbox, type Sandbox, type SolanaSandbox } from "../../src/testing/index.js";
import { freePort } from "../support/process.js";
import { noRedis, startRedis } from "../support/redis.js";
import { ownFolder, type Ran, run } from "./cli.js";

let evm: Sandbox;
let sol: SolanaSandbox;
beforeAll(async () => {
  [evm, sol] = await Promise.all([createSandbox(), createSolanaSandbox()]);
});
afterAll(async () => {
  await Promise.all([evm?.close(), sol?.close()]);
});

interface Row {
  readonly part: string;
  readonly check: string;
  readonly state: string;
  readonly found: string;
  readonly remedy?: string;
}
const rowsOf = ({ stdout }: Ran) => (JSON.parse(stdout) as { rows: Row[] }).rows;
const bad = (ran: Ran) => rowsOf(ran).filter(({ state }) => state === "wrong" || state === "unreachable");
const names = (rows: readonly Row[]) => rows.map(({ part, check }) => `${part}: ${check}`);

const onEvm = (more: Environment = {}): Environment => ({
  TOLLGATE_PAY_TO: evm.payTo,
  TOLLGATE_NETWORKS: "base-sepolia",
  TOLLGATE_RPC_URL_BASE_SEPOLIA: evm.rpcUrl,
  TOLLGATE_SETTLER_KEY_EVM: evm.settlerKey,
  ...more,
});
const onSolana = (more: Environment = {}): Environment => ({
  TOLLGATE_PAY_TO: sol.payTo,
  TOLLGATE_NETWORKS: "solana-devnet",
  TOLLGATE_RPC_URL_SOLANA_DEVNET: sol.rpcUrl,
  TOLLGATE_SETTLER_KEY_SOLANA: sol.settlerKey,
  ...more,
});
const doctor = (env: Environment, ...argv: string[]) => run(["doctor", ...argv], { env });

describe("a seller whose configuration is right", () => {
  it("sees each check of both chains, and exit code 0", async () => {
    const both = { ...onEvm(), ...onSolana(), TOLLGATE_PAY_TO: `${evm.payTo},${sol.payTo}` };
    await evm.chain.mine();
    const ran = await doctor({ ...both, TOLLGATE_NETWORKS: "base-sepolia,solana-devnet", TOLLGATE_PRICE: "$0.01" });
    expect(bad(ran)).toEqual([]);
    expect(ran.code).toBe(0);
    expect(names(rowsOf(ran).filter(({ state }) => state === "ok")).sort()).toEqual(
      [
        `base-sepolia: clock against ${new URL(evm.rpcUrl).host}`,
        `base-sepolia: node ${new URL(evm.rpcUrl).host}`,
        ...["chain id", "payTo", "gas of the settler", "USDC contract", "USDC decimals", "USDC EIP-712 domain"].map(
          (name) => `base-sepolia: ${name}`,
        ),
        `solana-devnet: clock against ${new URL(sol.rpcUrl).host}`,
        `solana-devnet: node ${new URL(sol.rpcUrl).host}`,
        ...["cluster", "USDC account of payTo", "fee payer", "SOL of the settler", "USDC mint", "USDC decimals"].map(
          (name) => `solana-devnet: ${name}`,
        ),
      ].sort(),
    );
    expect(ran.stdout + ran.stderr).not.toContain(evm.settlerKey.slice(2, 20));
    expect(ran.stdout + ran.stderr).not.toContain(sol.settlerKey.slice(0, 20));
  });

  it("reads prices and routes from JSON, lines of an environment, and a module, in the same way", async () => {
    const { folder } = ownFolder();
    const file = (name: string, text: string) => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const { TOLLGATE_PAY_TO, TOLLGATE_NETWORKS, ...rest } = onEvm();
    const options = {
      payTo: TOLLGATE_PAY_TO,
      network: "base-sepolia",
      routes: { "GET /a": "$0.01", "GET /b": "0.001 ETH" },
    };
    for (const config of [
      file("shop.json", JSON.stringify(options)),
      file("shop.mjs", `export const options = ${JSON.stringify(options)};`),
      file("whole.json", JSON.stringify({ ...options, ...rest })),
    ]) {
      const ran = await doctor(config.endsWith("whole.json") ? {} : rest, config);
      expect([ran.code, bad(ran)]).toEqual([0, []]);
      expect(names(rowsOf(ran))).toContain("base-sepolia: ETH to payTo");
      expect(names(rowsOf(ran))).toContain("base-sepolia: USDC EIP-712 domain");
    }
    const lines = Object.entries(onEvm({ TOLLGATE_PRICE: "0.001 ETH" })).map(([name, value]) => `${name}="${value}"`);
    const ran = await doctor({}, file(".env", `# shop\n${lines.join("\n")}\n`));
    expect([ran.code, names(rowsOf(ran)).includes("base-sepolia: ETH to payTo")]).toEqual([0, true]);
  });

  it("shows a person a table with notes and remedies", async () => {
    const { code, stdout } = await run(["doctor"], { env: onEvm(), terminal: true });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ok +base-sepolia +chain id +84532$/m);
    expect(stdout).toMatch(
      /^note +store +memory +one process remembers.*\n {4}With several processes.*TOLLGATE_STORE_URL/m,
    );
  });
});

describe("what is wrong at a seller", () => {
  it("another chain behind the URL, with both ids, and nothing about tokens that are not there", async () => {
    const env = {
      ...onEvm(),
      TOLLGATE_NETWORKS: "base",
      TOLLGATE_RPC_URL_BASE: evm.rpcUrl,
      TOLLGATE_RPC_URL_BASE_SEPOLIA: "",
    };
    const ran = await doctor(env);
    expect(ran.code).toBe(1);
    expect(bad(ran)).toMatchObject([
      {
        part: "base",
        state: "wrong",
        found: expect.stringMatching(/expected chain id 8453, got 84532/),
        remedy: expect.stringMatching(/TOLLGATE_RPC_URL_BASE/),
      },
      { part: "base", check: "chain id", found: "expected 8453, got 84532" },
    ]);
    expect(names(rowsOf(ran))).not.toContain("base: USDC contract");
    expect(ran.stderr).toBe("2 things are wrong.\n");
  });

  it("a settler without gas, and a payee without a token account", async () => {
    const poor = await doctor(onEvm({ TOLLGATE_SETTLER_KEY_EVM: `0x${"a1".repeat(32)}` }));
    expect(bad(poor)).toMatchObject([
      {
        check: "gas of the settler",
        found: expect.stringMatching(/at least \d+ wei, got 0 wei/),
        remedy: expect.stringMatching(/^Send native currency to 0x/),
      },
    ]);
    const stranger = (await sol.newBuyer()).publicKey.toBase58();
    const ata = await doctor(onSolana({ TOLLGATE_PAY_TO: "7YttLkHDoNj9wyDur5pM1ejNaAvT9X4eqaYcHQqtj2G5" }));
    expect(bad(ata)).toMatchObject([
      { check: "USDC account of payTo", remedy: expect.stringMatching(/spl-token create-account/) },
    ]);
    expect(bad(await doctor(onSolana({ TOLLGATE_PAY_TO: stranger })))).toEqual([]);
  });

  it("a node that does not answer, a public URL over http, and a clock that is behind", async () => {
    const dead = await doctor(onEvm({ TOLLGATE_RPC_URL_BASE_SEPOLIA: `http://127.0.0.1:${await freePort()}` }));
    expect(bad(dead)).toMatchObject([
      {
        check: expect.stringMatching(/^node /),
        state: "unreachable",
        remedy: expect.stringMatching(/TOLLGATE_RPC_URL_BASE_SEPOLIA/),
      },
    ]);
    // Once, however many have asked it.
    expect(rowsOf(dead).filter(({ found }) => found.includes("ECONNREFUSED"))).toHaveLength(1);
    const plain = await doctor(onEvm({ TOLLGATE_PUBLIC_URL: "http://shop.example" }));
    expect(bad(plain)).toMatchObject([{ part: "public URL", found: "expected https, got http://shop.example" }]);
    const secure = await doctor(onEvm({ TOLLGATE_PUBLIC_URL: "https://shop.example" }));
    expect(bad(secure)).toEqual([]);
    const own = await createSandbox();
    await own.chain.rpc("evm_increaseTime", [120]);
    await own.chain.mine();
    const late = await doctor(onEvm({ TOLLGATE_RPC_URL_BASE_SEPOLIA: own.rpcUrl }));
    await own.close();
    expect(bad(late)).toMatchObject([
      {
        check: expect.stringMatching(/^clock/),
        found: expect.stringMatching(/machine is 1[12]\d s behind the latest block/),
        remedy: expect.stringMatching(/NTP/),
      },
    ]);
  });

  it.skipIf(noRedis())("a Redis that drops what it is given, and one that does not answer", async () => {
    const redis = await startRedis();
    const good = await doctor(onEvm({ TOLLGATE_STORE_URL: redis.url }));
    expect([good.code, names(rowsOf(good)).includes("store: Redis keeps all it is given")]).toEqual([0, true]);
    // After the first use the store itself asks no more.
    await redis.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
    const drops = await doctor(onEvm({ TOLLGATE_STORE_URL: `${redis.url}/1` }));
    expect(bad(drops)).toContainEqual(
      expect.objectContaining({ state: "wrong", found: "expected maxmemory-policy noeviction, got allkeys-lru" }),
    );
    await redis.stop();
    const gone = await doctor(onEvm({ TOLLGATE_STORE_URL: `redis://:hunter2@127.0.0.1:${redis.port}/2` }));
    expect(bad(gone)).toMatchObject([{ part: "store", state: "unreachable" }]);
    expect(gone.stdout + gone.stderr).not.toContain("hunter2");
  });
});

describe("a configuration that cannot be read", () => {
  it("comes with every problem, and exit code 2", async () => {
    const { code, stdout, stderr } = await doctor(
      onEvm({ TOLLGATE_PAY_TO: "0x12", TOLLGATE_SETTLER_KEY_EVM: "hunter2", TOLLGATE_PUBLIC_URL: "shop" }),
    );
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^3 things must be set right first:/);
    for (const name of ["TOLLGATE_PAY_TO", "TOLLGATE_SETTLER_KEY_EVM", "TOLLGATE_PUBLIC_URL"])
      expect(stderr).toContain(name);
    expect(stderr).not.toContain("hunter2");
  });

  it.each([
    [{}, [], /There is nothing to check/],
    [{ TOLLGATE_RPC_URL_BASE: "https://x.example" }, [], /say --seller or --gateway/],
    [
      { TOLLGATE_PAY_TO: "0x12", TOLLGATE_PORT: "1" },
      [],
      /A seller \(TOLLGATE_PAY_TO\) or a gateway \(TOLLGATE_PORT\) could be meant/,
    ],
    [{}, ["--seller", "--gateway"], /keep one of them/],
    [{}, ["/nowhere/x.json"], /cannot be read/],
    [{}, ["/nowhere/x.mjs"], /cannot be loaded/],
  ])("%# is refused with what to do", async (env, argv, sentence) => {
    const { code, stdout, stderr } = await doctor(env, ...argv);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(sentence);
  });

  it("files that hold something else", async () => {
    const { folder } = ownFolder();
    for (const [name, text] of [
      ["a.json", "{"],
      ["b.json", "[1]"],
      ["c.txt", "hello"],
      ["d.mjs", "export const x = 1;"],
    ] as const) {
      writeFileSync(join(folder, name), text);
      const { code, stderr } = await doctor({}, join(folder, name));
      expect([name, code]).toEqual([name, 2]);
      expect(stderr).toMatch(/is no JSON|must hold one object|holds neither JSON|exports nothing to check/);
    }
  });
});

it("asks a paywall that a module has made, as a whole", async () => {
  const { folder } = ownFolder();
  const made = (body: string) => {
    const file = join(folder, `${Math.abs(body.length)}.mjs`);
    writeFileSync(file, `export const paywall = { ready: async () => { ${body} } };`);
    return file;
  };
  const good = await doctor({}, made(""));
  expect([good.code, names(rowsOf(good))]).toEqual([0, ["paywall: ready()"]]);
  const failed = await doctor({}, made('throw new Error("no node answers");'));
  expect(bad(failed)).toMatchObject([{ state: "unreachable", found: "no node answers" }]);
});
