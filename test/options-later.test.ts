// Terms, tables and prices that are given after construction, and the types of all options.
import { describe, expect, it } from "vitest";
import {
  type PaywallOptions,
  resolveOptions,
  resolvePriceArgument,
  resolveTable,
  resolveTerms,
  type TableOptions,
} from "../src/options.js";
import {
  codes,
  good,
  OTHER,
  problemsOf,
  receive,
  receiveBoth,
  refused,
  SELLER,
  SOLANA,
} from "./support/configurations.js";

describe("what is configured later", () => {
  const settings = resolveOptions({ ...good, description: "All", receive }, {});

  it("terms of a route stand over the shared ones", () => {
    const terms = resolveTerms(settings, { networks: ["base", "polygon"], replay: 5 }, "options");
    expect(terms).toMatchObject({
      description: "All",
      replayMs: 5000,
      payTo: { "eip155:8453": SELLER, "eip155:137": SELLER },
    });
    expect(resolveTerms(terms, { payTo: OTHER }, "options").payTo).toEqual({
      "eip155:8453": OTHER,
      "eip155:137": OTHER,
    });
  });

  it("an address that was given for one network is not used on another", () => {
    const narrow = resolveOptions({ payTo: { "base-sepolia": SELLER }, network: "base-sepolia", receive }, {});
    const problems = problemsOf(() => resolveTerms(narrow, { network: "polygon" }, "options"));
    expect(codes(problems)).toEqual(["options.payTo required"]);
  });

  it("wrong terms are refused under their path", () => {
    const problems = problemsOf(() => resolveTerms(settings, { flow: "deferred", netwrk: "x", replay: -1 }, "options"));
    expect(codes(problems).sort()).toEqual([
      "options.flow not_available_yet",
      "options.netwrk unknown_option",
      "options.replay invalid",
    ]);
  });

  it("the public test facilitator is not carried over to a main network", () => {
    const tests = resolveOptions(good, {});
    expect(codes(problemsOf(() => resolveTerms(tests, { network: "base" }, "options")))).toEqual([
      "options.network required",
    ]);
    const table = { "/a": { price: "$1", network: "base" } };
    expect(codes(problemsOf(() => resolveTable(tests, table, "routes")))).toEqual(['routes["/a"].network required']);
  });

  it("a table is read with every problem of every line", () => {
    expect(resolveTable(settings, { "GET /a": "$1", "/b": "free" }, "routes").map(({ key }) => key)).toEqual([
      "GET /a",
      "/b",
    ]);
    const problems = problemsOf(() =>
      resolveTable(settings, { "/a": "$0", b: "$1", "/c": { price: "$1", replay: "x" } }, "routes"),
    );
    expect(codes(problems)).toEqual(['routes["/a"] invalid', "routes.b invalid", 'routes["/c"].replay invalid']);
    for (const table of [undefined, null, {}, "x"]) {
      expect(problemsOf(() => resolveTable(settings, table, "routes")).map(({ path }) => path)).toEqual(["routes"]);
    }
  });

  it("a price is checked for the networks of its terms and for who receives it", () => {
    const of = (price: unknown) => () => resolvePriceArgument(price, settings.terms, "price", settings.receiver);
    const priceOf = () => "0.0002 ETH";
    expect(of("$0.5")()).toBe("$0.5");
    expect(of(priceOf)()).toBe(priceOf);
    expect(codes(problemsOf(of("1 DOGE")))).toEqual(["price unknown_token"]);
    expect(codes(problemsOf(of("0.0002 ETH")))).toEqual(["price contradiction"]);
    expect(codes(problemsOf(of(["$0.5", "0.0002 ETH"])))).toEqual(["price contradiction"]);
    const table = { "/a": "0.0002 ETH", "/b": { price: "0.0002 ETH" }, "/c": "free", "/d": priceOf };
    expect(codes(problemsOf(() => resolveTable(settings, table, "routes")))).toEqual([
      'routes["/a"] contradiction',
      'routes["/b"].price contradiction',
    ]);
  });

  it("an address of one family is not used on the other", () => {
    const both = resolveOptions({ ...good, receive: receiveBoth }, {});
    const of = (options: object) => codes(problemsOf(() => resolveTerms(both, options, "options")));
    expect(of({ network: "solana-devnet" })).toEqual(["options.payTo invalid"]);
    expect(of({ networks: ["base-sepolia", "solana-devnet"] })).toEqual(["options.payTo required"]);
    expect(of({ network: "solana-devnet", payTo: SOLANA })).toEqual([]);
  });
});

describe("types", () => {
  it("refuse at compile time what the schema refuses at run time", () => {
    const right: (PaywallOptions | TableOptions)[] = [
      { payTo: SELLER, network: "base" },
      { payTo: { evm: SELLER }, networks: ["base", "polygon"] as const },
      { routes: { "GET /a": "$1", "/b": { price: () => "$1", flow: "upfront" } }, strict: true },
      { access: { for: "1h" } },
      { access: "once", routes: { "GET /a": { price: "$1", access: { uses: 10, for: "1d" } } } },
    ];
    expect(right).toHaveLength(5);
    const wrong: (PaywallOptions | TableOptions)[] = [
      // @ts-expect-error network and networks exclude each other
      { payTo: SELLER, network: "base", networks: ["polygon"] },
      // @ts-expect-error no such flow yet
      { flow: "deferred" },
      // @ts-expect-error uses without a time
      { access: { uses: 10 } },
      // @ts-expect-error no such unit of time
      { access: { for: "1w" } },
      // @ts-expect-error unknown option
      { pyaTo: SELLER },
      // @ts-expect-error a line of a table needs a price
      { routes: { "/a": { description: "A" } } },
      // @ts-expect-error a line excludes network and networks too
      { routes: { "/a": { price: "$1", network: "base", networks: ["base"] } } },
    ];
    for (const options of wrong) expect(refused({ ...good, receive, ...options })).not.toEqual([]);
  });
});
