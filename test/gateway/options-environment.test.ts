// Options, environment and file together: what one leaves out the next one fills, field by field; and what is said at start.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Environment } from "../../src/environment.js";
import { gatewayWarnings, readGatewayOptions } from "../../src/gateway/options.js";
import { resolveOptions } from "../../src/options.js";
import { codes, good as goodSeller, KEY, problemsOf, SOLANA_KEY } from "../support/configurations.js";

const RPC = "https://rpc.example";
const OTHER_RPC = "https://other.example";
const OTHER_KEY = `0x${"ad".repeat(32)}`;
const TOKEN = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const OTHER_TOKEN = "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752";
const PASSPHRASE = "orbit velvet mango tractor lantern";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tollgate-options-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Every setting that the environment can name. */
const FULL: Environment = {
  PORT: "1",
  TOLLGATE_PORT: "8402",
  TOLLGATE_HOST: "0.0.0.0",
  TOLLGATE_PUBLIC_URL: "https://pay.example/",
  DATABASE_URL: "postgres://user:word@db.example/tollgate",
  REDIS_URL: "rediss://cache.example:6380",
  TOLLGATE_WALLET_PASSPHRASE: PASSPHRASE,
  TOLLGATE_NETWORKS: "base-sepolia, solana-devnet,base",
  TOLLGATE_RPC_URL_BASE_SEPOLIA: RPC,
  TOLLGATE_RPC_URL_EIP155_8453: RPC,
  TOLLGATE_RPC_URL_SOLANA_DEVNET: RPC,
  TOLLGATE_SETTLER_KEY_EVM: KEY,
  TOLLGATE_SETTLER_KEY_BASE: OTHER_KEY,
  TOLLGATE_SETTLER_KEY_SOLANA: SOLANA_KEY,
  TOLLGATE_CONFIRMATIONS_BASE: "3",
  TOLLGATE_ASSETS: "usdc, ETH",
  TOLLGATE_PLANS: '{"gold":{"perMinute":5,"endpoints":["GET /payment/status"]},"enterprise":{"perMinute":9000}}',
  TOLLGATE_FACILITATOR_URLS: "https://x402.org/facilitator/, https://f.example",
  TOLLGATE_EVENT_ORIGINS: "https://shop.example, http://localhost:5173",
  TOLLGATE_SPONSORED_PER_ACCOUNT: "50",
  TOLLGATE_SPONSORED_PER_PAYER: "5",
  TOLLGATE_ADMIN_TOKEN: TOKEN,
  TOLLGATE_DASHBOARD: "off",
  TOLLGATE_METRICS_TOKEN: OTHER_TOKEN,
  TOLLGATE_TRUST_PROXY: "1",
  TOLLGATE_SHUTDOWN_MS: "2500",
};

describe("the environment", () => {
  it("makes a complete gateway without one option", () => {
    const { networks, plans, ...settings } = readGatewayOptions({}, FULL);
    expect(settings).toEqual({
      port: 8402,
      host: "0.0.0.0",
      publicUrl: "https://pay.example",
      database: { url: "postgres://user:word@db.example/tollgate" },
      redisUrl: "rediss://cache.example:6380",
      passphrase: PASSPHRASE,
      facilitatorUrls: ["https://x402.org/facilitator", "https://f.example"],
      eventOrigins: ["https://shop.example", "http://localhost:5173"],
      sponsored: { perAccount: 50, perPayer: 5 },
      adminToken: TOKEN,
      dashboard: false,
      metricsToken: OTHER_TOKEN,
      trustProxy: 1,
      shutdownMs: 2_500,
    });
    expect(
      networks.map(({ network, settler, confirmations, isDefault, assets }) => [
        network.name,
        settler,
        confirmations,
        isDefault,
        assets.map(({ symbol }) => symbol),
      ]),
    ).toEqual([
      ["base-sepolia", KEY, 1, true, ["USDC"]],
      ["solana-devnet", SOLANA_KEY, 1, true, ["USDC"]],
      ["base", OTHER_KEY, 3, true, ["USDC"]],
    ]);
    expect(plans).toMatchObject({
      standard: { perMinute: 100 },
      gold: { perMinute: 5, endpoints: ["GET /payment/status"] },
      enterprise: { perMinute: 9_000 },
    });
  });

  it("serves what it has nodes for where no networks are named", () => {
    const env = { TOLLGATE_RPC_URL_BASE_SEPOLIA: RPC, TOLLGATE_RPC_URL_SOLANA_DEVNET: RPC };
    const names = readGatewayOptions({}, env).networks.map(({ network }) => network.name);
    expect(names).toEqual(["base-sepolia", "solana-devnet"]);
  });

  it.each([
    ["file:./a.db", { file: "./a.db" }],
    ["file:///var/lib/a.db", { file: "/var/lib/a.db" }],
    ["postgresql://h/d", { url: "postgresql://h/d" }],
  ])("DATABASE_URL=%s is that database", (DATABASE_URL, database) => {
    expect(readGatewayOptions({}, { TOLLGATE_RPC_URL_BASE: RPC, DATABASE_URL }).database).toEqual(database);
  });

  it("reads the passphrase from a file of its own, without the line break at its end", () => {
    const file = join(folder, "passphrase");
    writeFileSync(file, `${PASSPHRASE}\n`);
    const env = { TOLLGATE_RPC_URL_BASE: RPC, TOLLGATE_WALLET_PASSPHRASE_FILE: file };
    expect(readGatewayOptions({}, env).passphrase).toBe(PASSPHRASE);
  });

  it("counts an empty value as absent, and no secret as none: there is no default", () => {
    const env = { TOLLGATE_RPC_URL_BASE: RPC, TOLLGATE_ADMIN_TOKEN: "", TOLLGATE_WALLET_PASSPHRASE: "  ", PORT: "" };
    expect(readGatewayOptions({}, env)).toMatchObject({ adminToken: undefined, passphrase: undefined, port: 4020 });
  });

  it("of a seller and of a gateway are one .env file: neither takes the other's names for slips", () => {
    const seller = { TOLLGATE_PAY_TO: goodSeller.payTo, TOLLGATE_PRICE: "$0.01", TOLLGATE_STORE_URL: "sqlite:///a.db" };
    expect(problemsOf(() => readGatewayOptions({}, { ...FULL, ...seller, TOLLGATE_API_KEY: "x" }))).toEqual([]);
    const { TOLLGATE_PLANS, TOLLGATE_ADMIN_TOKEN, TOLLGATE_PORT, TOLLGATE_CONFIRMATIONS_BASE } = FULL;
    const gateway = { TOLLGATE_PLANS, TOLLGATE_ADMIN_TOKEN, TOLLGATE_PORT, TOLLGATE_CONFIRMATIONS_BASE };
    expect(problemsOf(() => resolveOptions(goodSeller, gateway))).toEqual([]);
  });
});

describe("options, environment and file", () => {
  const file = () => join(folder, "tollgate.json");
  const write = (options: unknown) => writeFileSync(file(), JSON.stringify(options));

  it("fill each other field by field: options first, then the environment, then the file", () => {
    write({
      port: 3,
      host: "::1",
      shutdownMs: 7,
      sponsored: { perAccount: 9, perPayer: 8 },
      networks: {
        base: { rpcUrl: OTHER_RPC, confirmations: 9, maxFeePerGas: "30000000000", minimums: { USDC: "0.1" } },
      },
    });
    const env = { TOLLGATE_CONFIG: file(), TOLLGATE_PORT: "2", TOLLGATE_HOST: "0.0.0.0", TOLLGATE_RPC_URL_BASE: RPC };
    const settings = readGatewayOptions(
      { port: 1, sponsored: { perPayer: 1 }, networks: { base: { settler: KEY } } },
      env,
    );
    expect(settings).toMatchObject({
      port: 1,
      host: "0.0.0.0",
      shutdownMs: 7,
      sponsored: { perAccount: 9, perPayer: 1 },
    });
    expect(settings.networks).toMatchObject([
      {
        settler: KEY,
        confirmations: 9,
        options: { rpcUrl: RPC, maxFeePerGas: 30_000_000_000n },
        assets: [{ symbol: "USDC", minimum: 100_000n }],
      },
    ]);
  });

  it("serve the networks of the options alone where they name some, whatever the others have", () => {
    write({ networks: { polygon: { rpcUrl: RPC } } });
    const env = { TOLLGATE_CONFIG: file(), TOLLGATE_RPC_URL_BASE: RPC, TOLLGATE_NETWORKS: "base" };
    const names = (options: object) => readGatewayOptions(options, env).networks.map(({ network }) => network.name);
    expect(names({ networks: { sepolia: { rpcUrl: RPC } } })).toEqual(["sepolia"]);
    expect(names({})).toEqual(["base"]);
  });

  it("tell a problem of the file with the file's name and the place in it", () => {
    write({ prot: 1, networks: { base: { rpcUrl: RPC, confirmations: "x" } } });
    expect(codes(problemsOf(() => readGatewayOptions({}, { TOLLGATE_CONFIG: file() })))).toEqual([
      `${file()}: prot unknown_option`,
      `${file()}: networks.base.confirmations invalid`,
    ]);
  });

  it("refuse a file that is no JSON without repeating what stands in it", () => {
    writeFileSync(file(), `{ "settler": ${KEY} }`);
    const [problem] = problemsOf(() => readGatewayOptions({}, { TOLLGATE_CONFIG: file() }));
    expect(problem).toMatchObject({ path: "TOLLGATE_CONFIG", code: "invalid" });
    expect(problem?.message).not.toContain(KEY);
  });
});

describe("commands that need no networks", () => {
  it("are not stopped by what is wrong with networks, and by everything else", () => {
    const env = { TOLLGATE_NETWORKS: "nowhere", TOLLGATE_SETTLER_KEY_EVM: "0x1", TOLLGATE_RPC_URL_BASE: "x" };
    expect(readGatewayOptions({}, env, { networks: "unread" }).networks).toEqual([]);
    const wrong = () => readGatewayOptions({}, { ...env, PORT: "x" }, { networks: "unread" });
    expect(codes(problemsOf(wrong))).toEqual(["PORT invalid"]);
  });
});

describe("what may surprise", () => {
  const warn = (env: Environment, options = {}) =>
    gatewayWarnings(readGatewayOptions({ networks: { "base-sepolia": { rpcUrl: RPC } }, ...options }, env), env);

  it("is nothing on one machine with a file", () => expect(warn({})).toEqual([]));

  it.each<readonly [string, Environment, RegExp]>([
    ["Redis without Postgres", { REDIS_URL: "redis://h" }, /SQLite file serves one machine.*DATABASE_URL/],
    ["Postgres without Redis", { DATABASE_URL: "postgres://h/d" }, /count limits on their own.*REDIS_URL/],
    ["one of several processes on SQLite", { NODE_APP_INSTANCE: "1" }, /one of several.*DATABASE_URL.*REDIS_URL/],
    ["an open port without a public URL", { TOLLGATE_HOST: "0.0.0.0" }, /TOLLGATE_PUBLIC_URL/],
    ["keys in the clear", { TOLLGATE_PUBLIC_URL: "http://pay.example" }, /in the clear/],
    ["a proxy that is not believed", { TOLLGATE_PUBLIC_URL: "https://pay.example" }, /TOLLGATE_TRUST_PROXY/],
    ["a budget of one payer above all", { TOLLGATE_SPONSORED_PER_ACCOUNT: "5" }, /TOLLGATE_SPONSORED_PER_PAYER/],
  ])("is said in one sentence with its remedy: %s", (_name, env, sentence) => {
    expect(warn(env)).toEqual([expect.stringMatching(sentence)]);
  });

  it("is a main network on a single node", () => {
    expect(warn({}, { networks: { base: { rpcUrl: RPC } } })).toEqual([
      expect.stringMatching(/base has one node only/),
    ]);
    expect(warn({}, { networks: { base: { rpcUrl: [RPC, OTHER_RPC] } } })).toEqual([]);
  });
});
