// The settings of a gateway: every wrong one is refused by name, all in one error; a right one is complete.
import { describe, expect, it } from "vitest";
import type { Environment } from "../../src/environment.js";
import { readGatewayOptions } from "../../src/gateway/options.js";
import { ENDPOINTS } from "../../src/gateway/settings.js";
import { BASE_USDC, codes, KEY, problemsOf, SOLANA_KEY, SOLANA_SEED } from "../support/configurations.js";

const RPC = "https://rpc.example/v1/access-key-of-mine";
const TOKEN = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
const PASSPHRASE = "orbit velvet mango tractor lantern";
const good = { networks: { "base-sepolia": { rpcUrl: RPC } } };

const refused = (options: unknown, env: Environment = {}) =>
  problemsOf(() => readGatewayOptions(options as Parameters<typeof readGatewayOptions>[0], env));

/** Everything that may never be printed. */
const SECRETS = [RPC, KEY, SOLANA_KEY, SOLANA_SEED, "hunter2", "access-key-of-mine", "short-secret"];

type Row = readonly [name: string, options: unknown, env: Environment, path: string, code: string];

const WRONG_OPTIONS: readonly Row[] = [
  ["no object", "x", {}, "options", "invalid"],
  ["an unknown option", { ...good, prot: 1 }, {}, "prot", "unknown_option"],
  ["a port beyond all", { ...good, port: 70_000 }, {}, "port", "invalid"],
  ["a host that is none", { ...good, host: "a b" }, {}, "host", "invalid"],
  ["a public URL with a query", { ...good, publicUrl: "https://x.example?a" }, {}, "publicUrl", "invalid"],
  ["two databases", { ...good, database: { file: "a", url: "postgres://x" } }, {}, "database", "invalid"],
  ["a database of another kind", { ...good, database: { url: "mysql://u:hunter2@h" } }, {}, "database", "invalid"],
  ["a Redis of another kind", { ...good, redisUrl: "http://:hunter2@h" }, {}, "redisUrl", "invalid"],
  ["a short passphrase", { ...good, passphrase: "short" }, {}, "passphrase", "unsafe"],
  ["a well-known passphrase", { ...good, passphrase: "change-me-change-me" }, {}, "passphrase", "unsafe"],
  ["networks that are a list", { networks: ["base"] }, {}, "networks", "invalid"],
  [
    "an unknown network",
    { networks: { "bse-sepolia": { rpcUrl: RPC } } },
    {},
    'networks["bse-sepolia"]',
    "unknown_network",
  ],
  [
    "one network twice",
    { networks: { base: { rpcUrl: RPC }, "eip155:8453": { rpcUrl: RPC } } },
    {},
    'networks["eip155:8453"]',
    "contradiction",
  ],
  ["a network without a node", { networks: { base: {} } }, {}, "networks.base.rpcUrl", "required"],
  ["a node that is no URL", { networks: { base: { rpcUrl: "rpc" } } }, {}, "networks.base.rpcUrl", "invalid"],
  [
    "a settler that is no key",
    { networks: { base: { rpcUrl: RPC, settler: "0x12" } } },
    {},
    "networks.base.settler",
    "invalid",
  ],
  [
    "an option of the other family",
    { networks: { base: { rpcUrl: RPC, maxUnitPrice: 1n } } },
    {},
    "networks.base.maxUnitPrice",
    "unknown_option",
  ],
  [
    "confirmations below one",
    { networks: { base: { rpcUrl: RPC, confirmations: 0 } } },
    {},
    "networks.base.confirmations",
    "invalid",
  ],
  [
    "confirmations on Solana",
    { networks: { solana: { rpcUrl: RPC, confirmations: 2 } } },
    {},
    "networks.solana.confirmations",
    "contradiction",
  ],
  [
    "an unknown asset",
    { networks: { base: { rpcUrl: RPC, assets: ["USDX"] } } },
    {},
    "networks.base.assets[0]",
    "unknown_token",
  ],
  [
    "an asset twice",
    { networks: { base: { rpcUrl: RPC, assets: ["USDC", "usdc"] } } },
    {},
    "networks.base.assets[1]",
    "contradiction",
  ],
  [
    "an asset whose address is none",
    { networks: { base: { rpcUrl: RPC, assets: [{ address: "0x12", symbol: "X", decimals: 6 }] } } },
    {},
    "networks.base.assets[0].address",
    "invalid",
  ],
  [
    "a token under the native symbol",
    { networks: { base: { rpcUrl: RPC, assets: [{ address: BASE_USDC, symbol: "eth", decimals: 6 }] } } },
    {},
    "networks.base.assets[0].symbol",
    "contradiction",
  ],
  [
    "a token program on EVM",
    {
      networks: {
        base: { rpcUrl: RPC, assets: [{ address: BASE_USDC, symbol: "X", decimals: 6, tokenProgram: "p" }] },
      },
    },
    {},
    "networks.base.assets[0].tokenProgram",
    "contradiction",
  ],
  [
    "a minimum of no asset",
    { networks: { base: { rpcUrl: RPC, minimums: { EURC: "1" } } } },
    {},
    "networks.base.minimums.EURC",
    "unknown_token",
  ],
  [
    "a minimum finer than the asset",
    { networks: { base: { rpcUrl: RPC, minimums: { USDC: "0.0000001" } } } },
    {},
    "networks.base.minimums.USDC",
    "invalid",
  ],
  [
    "a minimum as a number",
    { networks: { base: { rpcUrl: RPC, minimums: { USDC: 1 } } } },
    {},
    "networks.base.minimums.USDC",
    "invalid",
  ],
  ["a plan without a rate", { ...good, plans: { gold: {} } }, {}, "plans.gold.perMinute", "required"],
  [
    "a plan with an unknown endpoint",
    { ...good, plans: { gold: { perMinute: 1, endpoints: ["GET /x"] } } },
    {},
    "plans.gold.endpoints[0]",
    "invalid",
  ],
  ["a plan with a bad name", { ...good, plans: { "Gold!": { perMinute: 1 } } }, {}, 'plans["Gold!"]', "invalid"],
  ["a facilitator over http", { ...good, facilitatorUrls: ["http://f.example"] }, {}, "facilitatorUrls[0]", "invalid"],
  [
    "a facilitator with credentials",
    { ...good, facilitatorUrls: ["https://u:hunter2@f.example"] },
    {},
    "facilitatorUrls[0]",
    "invalid",
  ],
  ["a negative budget", { ...good, sponsored: { perPayer: -1 } }, {}, "sponsored.perPayer", "invalid"],
  ["an unknown budget", { ...good, sponsored: { perPlayer: 1 } }, {}, "sponsored.perPlayer", "unknown_option"],
  ["A42: a token of 16 bytes", { ...good, adminToken: "0123456789abcdef" }, {}, "adminToken", "unsafe"],
  ["A42: an empty token", { ...good, adminToken: "" }, {}, "adminToken", "unsafe"],
  [
    "A42: a token of well-known words",
    { ...good, metricsToken: "my-very-own-gateway-admin-token-quick" },
    {},
    "metricsToken",
    "unsafe",
  ],
  ["A42: a token of one sign", { ...good, adminToken: "z".repeat(40) }, {}, "adminToken", "unsafe"],
  ["a token with a space", { ...good, adminToken: `${TOKEN} ${TOKEN}` }, {}, "adminToken", "unsafe"],
  ["trust in too many proxies", { ...good, trustProxy: 99 }, {}, "trustProxy", "invalid"],
  ["trust as a yes", { ...good, trustProxy: true }, {}, "trustProxy", "invalid"],
  ["an endless shutdown", { ...good, shutdownMs: Number.POSITIVE_INFINITY }, {}, "shutdownMs", "invalid"],
];

const WRONG_ENVIRONMENTS: readonly Row[] = [
  ["a port in words", good, { PORT: "http" }, "PORT", "invalid"],
  ["a port in exponents", good, { TOLLGATE_PORT: "1e3" }, "TOLLGATE_PORT", "invalid"],
  ["a database of another kind", good, { DATABASE_URL: "mysql://u:hunter2@h/d" }, "DATABASE_URL", "invalid"],
  [
    "two databases",
    good,
    { DATABASE_URL: "postgres://h/d", TOLLGATE_DATABASE_FILE: "a.db" },
    "TOLLGATE_DATABASE_FILE",
    "contradiction",
  ],
  ["A42: a token of a word", good, { TOLLGATE_ADMIN_TOKEN: "short-secret" }, "TOLLGATE_ADMIN_TOKEN", "unsafe"],
  ["plans that are no JSON", good, { TOLLGATE_PLANS: "{gold" }, "TOLLGATE_PLANS", "invalid"],
  [
    "plans that are wrong",
    good,
    { TOLLGATE_PLANS: '{"gold":{"perMinute":"x"}}' },
    "TOLLGATE_PLANS.gold.perMinute",
    "invalid",
  ],
  ["a slip in a name", good, { TOLLGATE_ADMIN_TOKN: TOKEN }, "TOLLGATE_ADMIN_TOKN", "unknown_option"],
  ["a slip in a seller's name", good, { TOLLGATE_PAY_TOO: "x" }, "TOLLGATE_PAY_TOO", "unknown_option"],
  ["a slip in a key's name", good, { TOLLGATE_SETTLER_KEY_EVN: KEY }, "TOLLGATE_SETTLER_KEY_EVN", "unknown_network"],
  ["a slip in a network", good, { TOLLGATE_CONFIRMATIONS_BSE: "2" }, "TOLLGATE_CONFIRMATIONS_BSE", "unknown_network"],
  ["a network without a node", {}, { TOLLGATE_NETWORKS: "base" }, "TOLLGATE_RPC_URL_BASE", "required"],
  ["an unknown network", {}, { TOLLGATE_NETWORKS: "bsae" }, "TOLLGATE_NETWORKS", "unknown_network"],
  [
    "a key that is none",
    {},
    { TOLLGATE_RPC_URL_BASE: RPC, TOLLGATE_SETTLER_KEY_EVM: SOLANA_KEY },
    "TOLLGATE_SETTLER_KEY_EVM",
    "invalid",
  ],
  [
    "two keys for one network",
    {},
    {
      TOLLGATE_RPC_URL_BASE: RPC,
      TOLLGATE_SETTLER_KEY_BASE: KEY,
      TOLLGATE_SETTLER_KEY_EIP155_8453: `0x${"ad".repeat(32)}`,
    },
    "TOLLGATE_SETTLER_KEY_EIP155_8453",
    "contradiction",
  ],
  ["an unknown asset", good, { TOLLGATE_ASSETS: "USDC,USDX" }, "TOLLGATE_ASSETS", "unknown_token"],
  ["a file that is not there", good, { TOLLGATE_CONFIG: "/nowhere/tollgate.json" }, "TOLLGATE_CONFIG", "invalid"],
  [
    "a passphrase file that is not there",
    good,
    { TOLLGATE_WALLET_PASSPHRASE_FILE: "/nowhere/passphrase" },
    "TOLLGATE_WALLET_PASSPHRASE_FILE",
    "invalid",
  ],
  [
    "a passphrase twice",
    good,
    { TOLLGATE_WALLET_PASSPHRASE: PASSPHRASE, TOLLGATE_WALLET_PASSPHRASE_FILE: "/x" },
    "TOLLGATE_WALLET_PASSPHRASE_FILE",
    "contradiction",
  ],
];

describe("wrong settings of a gateway", () => {
  it.each([...WRONG_OPTIONS, ...WRONG_ENVIRONMENTS])(
    "%s: refused with its path and code, with a sentence and without a secret",
    (_name, options, env, path, code) => {
      const problems = refused(options, env);
      expect(codes(problems)).toEqual([`${path} ${code}`]);
      const message = problems[0]?.message ?? "";
      expect(message.length).toBeGreaterThan(20);
      for (const secret of SECRETS) expect(message).not.toContain(secret);
    },
  );

  it("come all at once, each under the name by which its reader knows it", () => {
    const problems = refused(
      { prt: 1, networks: { base: { confirmations: 0 }, solana: { rpcUrl: RPC, settler: KEY, tokens: 1 } } },
      { TOLLGATE_TRUST_PROXY: "all", TOLLGATE_METRICS_TOKEN: "tmp", TOLLGATE_RPC_URL_BASE: "nowhere" },
    );
    expect(codes(problems).sort()).toEqual(
      [
        "TOLLGATE_METRICS_TOKEN unsafe",
        "TOLLGATE_RPC_URL_BASE invalid",
        "TOLLGATE_TRUST_PROXY invalid",
        "networks.base.confirmations invalid",
        "networks.base.rpcUrl required",
        "networks.solana.tokens invalid",
        "prt unknown_option",
      ].sort(),
    );
  });

  it("are told as a gateway's, not as a paywall's", () => {
    expect(() => readGatewayOptions({}, {})).toThrow(/^The gateway's configuration has problems:/);
  });

  it("without a network say what is missing and how to set it", () => {
    const [problem, ...others] = refused({}, {});
    expect(others).toEqual([]);
    expect(problem).toMatchObject({ path: "networks", code: "required" });
    expect(problem?.message).toMatch(/TOLLGATE_RPC_URL_BASE_SEPOLIA=https.*TOLLGATE_SETTLER_KEY_EVM.*networks:/s);
  });
});

describe("right settings of a gateway", () => {
  it("are complete with one node alone: loopback, a SQLite file, three plans, nothing that opens a door", () => {
    const settings = readGatewayOptions(good, {});
    expect(settings).toMatchObject({
      port: 4020,
      host: "127.0.0.1",
      publicUrl: undefined,
      database: { file: "./tollgate.db" },
      redisUrl: undefined,
      passphrase: undefined,
      adminToken: undefined,
      metricsToken: undefined,
      facilitatorUrls: [],
      trustProxy: 0,
    });
    expect(settings.networks).toMatchObject([{ settler: undefined, confirmations: 1, isDefault: true }]);
    expect(Object.isFrozen(settings)).toBe(true);
  });

  it("Rate, Standard plan 100 requests per minute; Premium 1,000; Enterprise custom; all permit every endpoint", () => {
    const { plans } = readGatewayOptions(good, {});
    expect(plans).toEqual({
      standard: { perMinute: 100, endpoints: ENDPOINTS, events: { connections: 5, messagesPerSecond: 50 } },
      premium: { perMinute: 1_000, endpoints: ENDPOINTS, events: { connections: 20, messagesPerSecond: 200 } },
      enterprise: { perMinute: "key", endpoints: ENDPOINTS, events: "key" },
    });
  });

  it("name the first network of a family as its default among main networks, and among test networks", () => {
    const entry = { rpcUrl: RPC };
    const { networks } = readGatewayOptions(
      { networks: { "base-sepolia": entry, base: entry, polygon: entry, sepolia: entry, "solana-devnet": entry } },
      {},
    );
    const defaults = networks.filter(({ isDefault }) => isDefault).map(({ network }) => network.name);
    expect(defaults).toEqual(["base-sepolia", "base", "solana-devnet"]);
  });

  it("hold the tokens of the table, each with its domain and the least that is settled at the gateway's cost", () => {
    const { networks } = readGatewayOptions({ networks: { base: { rpcUrl: RPC }, solana: { rpcUrl: RPC } } }, {});
    expect(networks[0]?.assets).toMatchObject([
      { symbol: "USDC", decimals: 6, domain: { name: "USD Coin", version: "2" }, minimum: 1_000n },
    ]);
    const [usdc] = networks[1]?.assets ?? [];
    expect(usdc).toMatchObject({ symbol: "USDC", minimum: 1_000n });
    expect(usdc).not.toHaveProperty("domain");
  });

  it("take tokens of the operator's own beside those of the table", () => {
    const own = { address: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8".toLowerCase(), symbol: "SHOP", decimals: 2 };
    const { networks } = readGatewayOptions(
      { networks: { base: { rpcUrl: RPC, assets: ["USDC", { ...own, minimum: "0.5" }], minimums: { usdc: "0.01" } } } },
      {},
    );
    expect(networks[0]?.assets).toMatchObject([
      { symbol: "USDC", minimum: 10_000n },
      { symbol: "SHOP", address: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", minimum: 50n },
    ]);
  });

  it("take no token at all where the list is empty", () => {
    expect(readGatewayOptions({ networks: { base: { rpcUrl: RPC, assets: [] } } }, {}).networks[0]?.assets).toEqual([]);
  });
});
