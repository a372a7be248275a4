// Every wrong configuration is refused at construction, by name, in one error; a right one is complete.
import { describe, expect, it } from "vitest";
import { resolveOptions } from "../src/options.js";
import { memoryStore } from "../src/store/memory.js";
import { redisStore } from "../src/store/redis.js";
import { BASE_USDC, codes, good, KEY, OTHER, receive, refused, SELLER, SOLANA } from "./support/configurations.js";
import { WRONG_CHAINS } from "./support/wrong-chains.js";
import { WRONG_ENVIRONMENTS } from "./support/wrong-environments.js";
import { WRONG_OPTIONS } from "./support/wrong-options.js";
import { WRONG_TABLES } from "./support/wrong-tables.js";

describe("wrong configurations", () => {
  const WRONG = [...WRONG_OPTIONS, ...WRONG_TABLES, ...WRONG_ENVIRONMENTS, ...WRONG_CHAINS];

  it("are at least forty", () => expect(WRONG.length).toBeGreaterThanOrEqual(40));

  it.each(WRONG)("%s: refused with its path and code, and with nothing else", (_name, input, env, path, code) => {
    const problems = refused(input, env);
    expect(codes(problems)).toEqual([`${path} ${code}`]);
    expect(problems[0]?.message.length).toBeGreaterThan(15);
  });

  it("come all at once, each with its path", () => {
    const problems = refused(
      {
        payTo: { evm: "0x12" },
        networks: ["bse-sepolia"],
        flow: "deferred",
        pubicUrl: "x",
        limits: { leaseMs: 1 },
        receive: "hosted",
        routes: { "GET a": "$1", "/b": "$0", "/c": { price: "$$1", flow: "now" } },
      },
      { TOLLGATE_STORE_URL: "mysql://x", TOLLGATE_NETWORK: "base" },
    );
    expect(codes(problems).sort()).toEqual(
      [
        "TOLLGATE_NETWORK unknown_option",
        "TOLLGATE_STORE_URL invalid",
        "flow not_available_yet",
        "limits.leaseMs invalid",
        "networks[0] unknown_network",
        "payTo.evm invalid",
        "pubicUrl unknown_option",
        "receive invalid",
        'routes["/b"] invalid',
        'routes["/c"].flow invalid',
        'routes["/c"].price invalid',
        'routes["GET a"] invalid',
      ].sort(),
    );
  });

  it("of paywall() with an empty environment are address, network and price", () => {
    const problems = refused(undefined, {}, { from: "environment" });
    expect(codes(problems)).toEqual(["networks required", "payTo required", "TOLLGATE_PRICE required"]);
  });

  it.each([undefined, "", "$0", 0, Number.NaN, null, "$1e2", "-$1"])("refuse the price %s in code", (price) => {
    const problems = refused(good, {}, { from: "argument", price });
    expect(problems.map((problem) => problem.path)).toEqual(["price"]);
  });

  it("suggest the nearest name, and say what came", () => {
    expect(refused({ ...good, handlerTimeout: 5 })[0]?.message).toContain('"handlerTimeoutMs"');
    expect(refused({ ...good, network: "base-sepoila" })[0]?.message).toContain('"base-sepolia"');
    expect(refused({ ...good, limits: { lease: 9 } })[0]?.message).toContain('"leaseMs"');
    expect(refused(good, { TOLLGATE_NETWORK: "base" })[0]?.message).toContain("TOLLGATE_NETWORKS");
    expect(refused(good, { TOLLGATE_RPC_URL_BASE_SEPOILA: "https://x.example" })[0]?.message).toContain(
      "TOLLGATE_RPC_URL_BASE_SEPOLIA",
    );
    expect(refused({ ...good, maxTimeoutSeconds: 90_000 })[0]?.message).toContain("got 90000");
  });

  it("name both numbers and both remedies where the handler outlasts the signature", () => {
    const message = refused({ ...good, handlerTimeoutMs: 55_000 })[0]?.message;
    for (const part of ["55000", "10000", "60", "65 or more", "upfront"]) expect(message).toContain(part);
  });

  it("name the three ways to receive on a main network", () => {
    const message = refused({ payTo: SELLER, network: "base" })[0]?.message;
    for (const part of ["base", "local(", "facilitator(", "hosted(", "TOLLGATE_FACILITATOR_URL"])
      expect(message).toContain(part);
  });

  it("refuse a memory store in a worker of a Node cluster", () => {
    const module = process.getBuiltinModule("node:cluster");
    const isWorker: unknown = Reflect.get(module, "isWorker");
    try {
      Reflect.set(module, "isWorker", true);
      expect(codes(refused(good))).toEqual(["store unsafe"]);
      expect(refused({ ...good, store: memoryStore({ singleProcess: true }) })).toEqual([]);
      expect(refused(good, { TOLLGATE_STORE_URL: "redis://localhost" })).toEqual([]);
      expect(refused({ ...good, store: redisStore({ url: "redis://localhost" }) })).toEqual([]);
      // A URL that is none is one problem and not two.
      expect(codes(refused(good, { TOLLGATE_STORE_URL: "redis" }))).toEqual(["TOLLGATE_STORE_URL invalid"]);
    } finally {
      Reflect.set(module, "isWorker", isWorker);
    }
    expect(refused(good)).toEqual([]);
  });

  it("never repeat a secret", () => {
    const secret = "ab".repeat(32);
    const texts = [
      refused({ ...good, payTo: `0x${secret}` }),
      refused({ ...good, network: secret }),
      refused({ ...good, publicUrl: "https://me:hunter2@shop.example" }),
      refused(good, { TOLLGATE_SETTLER_KEY_EVM: `${secret}hunter2` }),
      refused(good, { TOLLGATE_RPC_URL_BASE_SEPOLIA: "rpc.example/hunter2" }),
      refused(good, { TOLLGATE_FACILITATOR_URL: "https://me:hunter2@f.example" }),
      refused(good, { TOLLGATE_API_KEY: "hunter2" }),
      refused(good, { TOLLGATE_STORE_URL: "mysql://me:hunter2@db.example/shop" }),
      refused(good, { TOLLGATE_STORE_URL: "hunter2" }),
      refused({ network: "base-sepolia" }, { TOLLGATE_PAY_TO: `0x${secret}` }),
    ].map((problems) => {
      expect(problems).toHaveLength(1);
      return JSON.stringify(problems);
    });
    for (const text of texts) expect(text).not.toMatch(/hunter2|(?:ab){32}/);
  });
});

describe("right configurations", () => {
  it("get every default", () => {
    const settings = resolveOptions(good, {});
    expect(settings.terms).toMatchObject({
      payTo: { "eip155:84532": SELLER },
      flow: "authorization",
      description: "",
      mimeType: "application/json",
      maxTimeoutSeconds: 60,
      handlerTimeoutMs: 30_000,
      replayMs: 60_000,
    });
    expect(settings.limits).toEqual({
      openClaimsPerPayer: 256,
      unchargedRunsPerProof: 3,
      unchargedRunsPerPayer: 100,
      leaseMs: 15_000,
    });
    expect(settings).toMatchObject({ trustProxy: false, strict: false, publicUrl: undefined, price: undefined });
    expect(settings.store.name).toBe("memory");
    expect(resolveOptions(good, {}).store).toBe(settings.store);
  });

  it("on test networks use the public test facilitator and say so once", () => {
    const settings = resolveOptions(good, {});
    expect(settings.receiver.name).toBe("facilitator");
    expect(settings.notices).toHaveLength(1);
    expect(settings.notices[0]).toContain("https://x402.org/facilitator");
  });

  it("come complete from the environment", () => {
    const env = {
      TOLLGATE_PAY_TO: ` ${SELLER.toLowerCase()} , ${SOLANA}`,
      TOLLGATE_NETWORKS: "base, polygon",
      TOLLGATE_PRICE: "$0.01",
      TOLLGATE_FACILITATOR_URL: "https://f.example",
      TOLLGATE_PUBLIC_URL: "https://shop.example/x/",
      TOLLGATE_STORE_URL: "",
    };
    const settings = resolveOptions(undefined, env, { from: "environment" });
    expect(settings.terms.payTo).toEqual({ "eip155:8453": SELLER, "eip155:137": SELLER });
    expect(settings).toMatchObject({ price: "$0.01", publicUrl: "https://shop.example/x", notices: [] });
    expect(settings.receiver.name).toBe("facilitator");
  });

  it("an RPC URL and a settler key make a complete local setup", () => {
    const env = { TOLLGATE_RPC_URL_EIP155_84532: "http://127.0.0.1:8545", TOLLGATE_SETTLER_KEY_EVM: KEY };
    const settings = resolveOptions(good, env);
    expect(settings.receiver.name).toBe("local");
    expect(settings.notices).toEqual([]);
    expect(
      resolveOptions(
        { ...good, network: "eip155:31337" },
        { ...env, TOLLGATE_RPC_URL_EIP155_31337: "http://127.0.0.1:1" },
      ).receiver.name,
    ).toBe("local");
  });

  it("let the options outrank the environment, name by name", () => {
    const env = {
      TOLLGATE_PAY_TO: "0x12",
      TOLLGATE_NETWORKS: "nowhere",
      TOLLGATE_API_KEY: "k",
      TOLLGATE_PUBLIC_URL: "?",
    };
    const settings = resolveOptions({ ...good, receive, publicUrl: "https://shop.example" }, env);
    expect(settings.receiver).toBe(receive);
    expect(settings.publicUrl).toBe("https://shop.example");
  });

  it("spell addresses with their checksum and take one for each network before the family's", () => {
    const payTo = { evm: SELLER.toLowerCase(), "polygon-amoy": OTHER };
    const settings = resolveOptions({ payTo, networks: ["base-sepolia", "polygon-amoy"] }, {});
    expect(settings.terms.payTo).toEqual({ "eip155:84532": SELLER, "eip155:80002": OTHER });
  });

  it("let a single process in a cluster keep its memory store, if it says so", () => {
    const store = memoryStore({ singleProcess: true });
    expect(resolveOptions({ ...good, store }, { NODE_APP_INSTANCE: "0" }).store).toBe(store);
  });

  it("read a table in order, with the terms of each line", () => {
    const priceOf = () => "$1";
    const settings = resolveOptions(
      {
        ...good,
        replay: 0,
        strict: true,
        routes: {
          "GET /weather": "$0.001",
          "POST /render/:kind": {
            price: "$0.05",
            description: "One render",
            flow: "upfront",
            handlerTimeoutMs: 300_000,
          },
          "/files/*": priceOf,
          "GET /health": "free",
          "/token": { amount: "5", asset: BASE_USDC },
          "/other": { price: "$1", network: "polygon-amoy" },
        },
      },
      {},
    );
    expect(settings.strict).toBe(true);
    expect(settings.routes?.map(({ key, method, pattern }) => [key, method, pattern])).toEqual([
      ["GET /weather", "GET", "/weather"],
      ["POST /render/:kind", "POST", "/render/:kind"],
      ["/files/*", undefined, "/files/*"],
      ["GET /health", "GET", "/health"],
      ["/token", undefined, "/token"],
      ["/other", undefined, "/other"],
    ]);
    expect(settings.routes?.[1]?.terms).toMatchObject({ description: "One render", flow: "upfront", replayMs: 0 });
    expect(settings.routes?.[2]?.price).toBe(priceOf);
    expect(settings.routes?.[5]?.terms.payTo).toEqual({ "eip155:80002": SELLER });
  });
});
