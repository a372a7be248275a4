// What the compiler says to a seller: the types that are inferred for him, and the mistakes that do not compile. Checked by
// `npm run types`, where a line marked `@ts-expect-error` that compiles is an error of its own.
import type { IncomingMessage } from "node:http";
import express, { type Request, type RequestHandler } from "express";
import type { FastifyRequest } from "fastify";
import { type Context, Hono, type MiddlewareHandler } from "hono";
import type { Cluster, Redis } from "ioredis";
import type { Pool } from "pg";
import type { createClient, createCluster } from "redis";
import {
  type ERRORS,
  type ErrorCode,
  facilitator,
  hosted,
  type LocalGatewayOptions,
  local,
  memoryStore,
  type NetworkName,
  type Payment,
  type PaymentJson,
  type PaywallOptions,
  type PaywallRequest,
  type Price,
  type PriceFunction,
  type Receiver,
  type RouteTable,
  type Store,
  type TableOptions,
  times,
} from "tollgate";
import { evm } from "tollgate/evm";
import { createPaywall, paywall } from "tollgate/express";
import { createPaywall as createFastifyPaywall } from "tollgate/fastify";
import { createPaywall as createHonoPaywall, paywall as honoPaywall, type PaymentVariables } from "tollgate/hono";
import { createPaywall as createNodePaywall } from "tollgate/node";
import { type LocalSolanaOptions, type SolanaAccount, solana } from "tollgate/solana";
import { redisStore } from "tollgate/store/redis";
import { sqlStore } from "tollgate/store/sql";
import { createPaywall as createWebPaywall } from "tollgate/web";
import { describe, expectTypeOf, it } from "vitest";

const payTo = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const options = { payTo, network: "base-sepolia" } as const;

describe("paywall()", () => {
  it("takes a price with options, a table, or nothing", () => {
    expectTypeOf(paywall("$0.01", options)).toExtend<RequestHandler>();
    expectTypeOf(paywall({ ...options, routes: { "GET /a": "$0.01", "GET /b": "free" } })).toExtend<RequestHandler>();
    expectTypeOf(paywall()).toExtend<RequestHandler>();
    expectTypeOf(paywall(["$0.01", { amount: "1", asset: payTo }], options)).toExtend<RequestHandler>();
    expectTypeOf(honoPaywall("$0.01", options)).toExtend<MiddlewareHandler<{ Variables: PaymentVariables }>>();
    // @ts-expect-error: a number is no price
    paywall(0.01, options);
    // @ts-expect-error: a price may not be left out
    paywall(undefined, options);
    // @ts-expect-error: a price function must give a price
    paywall(() => undefined, options);
  });

  it("has a handle for start-up, events, audit and the end", () => {
    const pay = createPaywall(options);
    expectTypeOf(pay.ready()).resolves.toBeVoid();
    expectTypeOf(pay.close()).resolves.toBeVoid();
    expectTypeOf(pay.routes).parameters.toExtend<[object]>();
    expectTypeOf(pay.audit).parameter(0).toExtend<object>();
    pay.audit(express());
    createHonoPaywall(options).audit(new Hono());
    pay.on("settled", (facts) => expectTypeOf(facts.amount).toBeBigInt());
    // @ts-expect-error: there is no such event
    pay.on("paid", () => {});
    // @ts-expect-error: it tells of no payment
    pay.on("low_gas", ({ payer }) => payer);
    expectTypeOf(pay.payments({ since: new Date(), limit: 5 })).toExtend<AsyncIterable<{ amount: bigint }>>();
    expectTypeOf(paywall("$0.01", options).payments()).toExtend<AsyncIterable<{ settledAt?: number }>>();
    // @ts-expect-error: a time is a number or a date
    pay.payments({ since: "yesterday" });
  });
});

describe("options that contradict each other", () => {
  it("do not compile", () => {
    // @ts-expect-error: one network, or a list of them
    paywall("$0.01", { payTo, network: "base", networks: ["base"] });
    // @ts-expect-error: a price here, and prices in a table
    paywall("$0.01", { ...options, routes: { "GET /a": "$0.01" } });
    // @ts-expect-error: a table is for the whole app, not for one price
    createPaywall(options)("$0.01", { routes: { "GET /a": "$0.01" } });
    // @ts-expect-error: what the app shares is not set per route
    createPaywall(options)("$0.01", { receive: facilitator({ url: "https://x402.org/facilitator" }) });
    // @ts-expect-error: no such option
    paywall("$0.01", { ...options, netwrok: "base" });
    // @ts-expect-error: no such flow
    paywall("$0.01", { ...options, flow: "later" });
    // @ts-expect-error: the receiver is called first
    paywall("$0.01", { ...options, receive: local });
  });
});

describe("a price object", () => {
  it("is a token, a mint, or the chain's own currency, and no mixture of them", () => {
    const network = "base";
    const right: Price[] = [
      { amount: "1", asset: payTo },
      { amount: "1", asset: payTo, network, domain: { name: "Token", version: "1" }, decimals: 18 },
      { amount: "1", asset: payTo, network: "solana", decimals: 2, tokenProgram: payTo },
      { amount: "1", asset: "native", network, confirmations: 3 },
      { amount: "1", asset: payTo, network, transferMethod: "transaction", confirmations: 3 },
      ["$0.01", "0.001 SOL", { amount: "1", asset: "native", network }],
    ];
    expectTypeOf(right).toExtend<Price[]>();
    // @ts-expect-error: atomic units are text, because JSON has no bigint
    paywall({ amount: 1n, asset: payTo }, options);
    // @ts-expect-error: an authorization is settled by the receiver, which waits as long as it must
    paywall({ amount: "1", asset: payTo, confirmations: 3 }, options);
    // @ts-expect-error: a transaction has no domain
    paywall({ amount: "1", asset: payTo, transferMethod: "transaction", domain: { name: "T", version: "1" } }, options);
    // @ts-expect-error: the chain's own currency has no program
    paywall({ amount: "1", asset: "native", confirmations: 3, tokenProgram: payTo }, options);
    // @ts-expect-error: not available yet
    paywall({ amount: "1", asset: payTo, transferMethod: "permit2" }, options);
  });
});

describe("a price function", () => {
  it("gets the request of the paywall and the framework's own", () => {
    paywall((request, native) => {
      expectTypeOf(request).toEqualTypeOf<PaywallRequest>();
      expectTypeOf(native).toEqualTypeOf<Request>();
      return times("$0.002", native.query.pages === undefined ? 1 : 2);
    }, options);
    honoPaywall((request, native) => {
      expectTypeOf(request).toEqualTypeOf<PaywallRequest>();
      expectTypeOf(native).toEqualTypeOf<Context>();
      return "$0.01";
    }, options);
    const anywhere: PriceFunction = async ({ method }) => (method === "GET" ? "$0.01" : "$0.02");
    paywall(anywhere, options);
    honoPaywall(anywhere, options);
    expectTypeOf(anywhere).returns.toEqualTypeOf<Price | Promise<Price>>();
    // @ts-expect-error: a function for Express reads what Hono does not have
    honoPaywall((_request: PaywallRequest, native: Request) => native.originalUrl, options);
  });
});

describe("a price function in a table", () => {
  it("gets the framework's own request too, alone and beside options", () => {
    const pay = createPaywall(options);
    pay.routes({
      "GET /a": (request, native) => {
        expectTypeOf(request).toEqualTypeOf<PaywallRequest>();
        expectTypeOf(native).toEqualTypeOf<Request>();
        return times("$0.002", Number(native.query.pages));
      },
      "GET /b": {
        price: async (_request, native) => {
          expectTypeOf(native).toEqualTypeOf<Request>();
          return "$0.01";
        },
        description: "One page",
      },
      "GET /free": "free",
    });
    paywall({
      ...options,
      routes: {
        "GET /a": (_request, native) => {
          expectTypeOf(native).toEqualTypeOf<Request>();
          return "$0.01";
        },
        "GET /b": {
          price: (_request, native) => {
            expectTypeOf(native).toEqualTypeOf<Request>();
            return "$0.01";
          },
        },
      },
    });
    createHonoPaywall(options).routes({
      "/a": (_request, native) => {
        expectTypeOf(native).toEqualTypeOf<Context>();
        return "$0.01";
      },
    });
    createFastifyPaywall(options).routes({
      "/a": (_request, native) => {
        expectTypeOf(native).toEqualTypeOf<FastifyRequest>();
        return "$0.01";
      },
    });
    createNodePaywall(options).routes({
      "/a": {
        price: (_request, native) => {
          expectTypeOf(native).toEqualTypeOf<IncomingMessage>();
          return "$0.01";
        },
      },
    });
    createWebPaywall(options).routes({
      "/a": (_request, native) => {
        expectTypeOf(native).toEqualTypeOf<globalThis.Request>();
        return "$0.01";
      },
    });
    // @ts-expect-error: the paywall's request has no query
    pay.routes({ "GET /a": (request) => request.query.pages });
    // @ts-expect-error: a function for Express reads what Hono does not have
    createHonoPaywall(options).routes({ "/a": (_request: PaywallRequest, native: Request) => native.originalUrl });
    // @ts-expect-error: no such option
    pay.routes({ "GET /a": { price: "$0.01", descripton: "One page" } });
  });

  it("serves every framework where the table stands apart", () => {
    const anywhere: RouteTable = { "GET /a": ({ method }) => (method === "GET" ? "$0.01" : "$0.02"), "/b": "free" };
    createPaywall(options).routes(anywhere);
    createHonoPaywall(options).routes(anywhere);
    const forExpress: RouteTable<Request> = { "GET /a": (_request, { query }) => times("$0.01", Number(query.pages)) };
    createPaywall(options).routes(forExpress);
    // @ts-expect-error: the table is for Express
    createHonoPaywall(options).routes(forExpress);
    const whole: TableOptions = { ...options, routes: anywhere };
    paywall(whole);
    honoPaywall(whole);
  });
});

describe("the name of a network", () => {
  it("is completed from the table, and may be any other text", () => {
    type One = Exclude<PaywallOptions["network"], undefined>;
    expectTypeOf<Extract<One, "solana" | "solana-devnet">>().toEqualTypeOf<"solana" | "solana-devnet">();
    type Many = Exclude<PaywallOptions["networks"], undefined>[number];
    // A plain text would have swallowed the known names, and an editor would not complete them.
    expectTypeOf<Extract<One, "base" | "base-sepolia" | "nowhere">>().toEqualTypeOf<"base" | "base-sepolia">();
    expectTypeOf<Extract<Many, "polygon">>().toEqualTypeOf<"polygon">();
    expectTypeOf<Extract<NetworkName, "polygon">>().toEqualTypeOf<"polygon">();
    const fromSettings: string = payTo;
    createPaywall({ payTo, network: fromSettings });
    createPaywall({ payTo, networks: ["eip155:31337", "base", fromSettings] });
    // @ts-expect-error: a number is no name
    createPaywall({ payTo, network: 8453 });
  });
});

describe("the payment in a handler", () => {
  it("is optional, typed, and read only", () => {
    express().get("/report", paywall("$0.01", options), (req, res) => {
      expectTypeOf(req.payment).toEqualTypeOf<Payment | undefined>();
      // @ts-expect-error: a route may be without a price
      res.json({ payer: req.payment.payer });
    });
    new Hono<{ Variables: PaymentVariables }>().get("/report", honoPaywall("$0.01", options), (c) => {
      expectTypeOf(c.get("payment")).toEqualTypeOf<Payment | undefined>();
      return c.json({ payer: c.get("payment")?.payer });
    });
    // The middleware brings the variable along where the app does not name it.
    new Hono().get("/report", honoPaywall("$0.01", options), (c) => {
      expectTypeOf(c.var.payment).toEqualTypeOf<Payment | undefined>();
      return c.text(`${c.var.payment?.amount}`);
    });
    expectTypeOf<Payment["amount"]>().toBeBigInt();
    expectTypeOf<ReturnType<Payment["toJSON"]>>().toEqualTypeOf<PaymentJson>();
    expectTypeOf<PaymentJson["amount"]>().toBeString();
    const payment = {} as Payment;
    // @ts-expect-error: what was paid is not changed
    payment.amount = 0n;
  });
});

describe("receivers, stores and errors", () => {
  it("are made by functions whose options are checked", () => {
    expectTypeOf(facilitator({ url: "https://x402.org/facilitator" })).toEqualTypeOf<Receiver>();
    expectTypeOf(memoryStore({ maxEntries: 1 })).toEqualTypeOf<Store>();
    const chain = evm({ id: "eip155:31337", rpcUrl: "http://127.0.0.1:8545", settler: `0x${"01".repeat(32)}` });
    expectTypeOf(local({ networks: { mine: chain } })).toEqualTypeOf<Receiver>();
    const account: SolanaAccount = { address: payTo, signMessage: async (message) => message };
    const cluster = solana({ id: "solana-devnet", rpcUrl: "http://127.0.0.1:8899", settler: [account, "secret"] });
    expectTypeOf(cluster).toEqualTypeOf<LocalSolanaOptions>();
    expectTypeOf(local({ networks: { "base-sepolia": chain, mine: cluster } })).toEqualTypeOf<Receiver>();
    // @ts-expect-error: no such cluster
    solana({ id: "base", rpcUrl: "http://127.0.0.1:8899", settler: "secret" });
    // @ts-expect-error: lamports are a bigint
    solana({ id: "solana", rpcUrl: "http://127.0.0.1:8899", settler: "secret", maxTotalFeeLamports: 20_000 });
    // @ts-expect-error: a facilitator has a URL
    facilitator({});
    // @ts-expect-error: a chain is settled on with a key
    local({ networks: { base: { rpcUrl: "http://127.0.0.1:8545" } } });
    const gateway = { baseUrl: "https://pay.example", apiKey: "tg_test_key" };
    const rpcUrl = "https://rpc.example";
    expectTypeOf(hosted(gateway)).toEqualTypeOf<Receiver>();
    expectTypeOf(local({ gateway, wallet: "0x01", rpcUrl })).toEqualTypeOf<Receiver>();
    const pair: LocalGatewayOptions = { gateway, wallet: { evm: "0x01", solana: account }, rpcUrl: { base: rpcUrl } };
    expectTypeOf(local({ ...pair, maxFeePerGas: 1n, settleMs: 20_000 })).toEqualTypeOf<Receiver>();
    // @ts-expect-error: settled with a settler, or signed for a gateway: not both
    local({ ...pair, networks: { base: chain } });
    // @ts-expect-error: a node beside the networks belongs to the other form
    local({ networks: { base: chain }, rpcUrl });
    // @ts-expect-error: what a gateway builds is signed with a wallet
    local({ gateway, rpcUrl });
    // @ts-expect-error: and sent over a node
    local({ gateway, wallet: "0x01" });
    // @ts-expect-error: a pair holds one wallet at least
    local({ gateway, wallet: {}, rpcUrl });
    // @ts-expect-error: a gateway is called with a key
    local({ gateway: { baseUrl: rpcUrl }, wallet: "0x01", rpcUrl });
    // @ts-expect-error: not a CAIP-2 id of an EVM chain
    evm({ id: "solana:1", rpcUrl: "http://127.0.0.1:8545", settler: "0x" });
    expectTypeOf<keyof typeof ERRORS>().toEqualTypeOf<ErrorCode>();
    expectTypeOf<"payment_required">().toExtend<ErrorCode>();
    // @ts-expect-error: no such code
    const code: ErrorCode = "paid";
    expectTypeOf(code).toBeString();
  });

  it("let options be written apart", () => {
    const apart: PaywallOptions = { payTo: { evm: payTo }, networks: ["base", "polygon"], store: memoryStore() };
    expectTypeOf(createPaywall(apart)("$0.01", { description: "One report" })).toExtend<RequestHandler>();
  });
});

// A shared store takes the clients that sellers have, and one place to put the data in.
declare const clients: {
  readonly pool: Pool;
  readonly redis: Redis;
  readonly cluster: Cluster;
  readonly node: ReturnType<typeof createClient>;
  readonly nodeCluster: ReturnType<typeof createCluster>;
};
const stores: readonly Store[] = [
  sqlStore({ url: "postgres://db/shop", timeoutMs: 1000 }),
  sqlStore({ file: "shop.db", synchronous: "normal", maxBytes: 1e9 }),
  sqlStore({ pool: clients.pool }),
  redisStore({ url: "redis://cache", name: "shop", maxKeptBytes: 1e6 }),
  redisStore({ client: clients.redis }),
  redisStore({ client: clients.cluster }),
  redisStore({ client: clients.node }),
  redisStore({ client: clients.nodeCluster }),
];
createPaywall({ store: stores[0]! });
// @ts-expect-error: no place
sqlStore({ timeoutMs: 1000 });
// @ts-expect-error: a file has no pool
sqlStore({ file: "shop.db", pool: 1 });
// @ts-expect-error: no client
redisStore({ client: { get: () => "" } });
