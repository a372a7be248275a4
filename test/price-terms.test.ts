// An option that can mean nothing for the price it stands beside is refused where the seller wrote it for that price, and
// left alone where it came down from the options of many.
import { afterEach, describe, expect, it } from "vitest";
import { silentLogger } from "../src/logger.js";
import { suggestNetwork } from "../src/network-suggestion.js";
import { findNetwork } from "../src/networks.js";
import { createPaywallCore } from "../src/paywall.js";
import { resolvePrice } from "../src/price.js";
import { both, codes, good, problemsOf, receiveBoth, refused } from "./support/configurations.js";

const ETH = "0.000003 ETH";
const later = { from: "later" } as const;
const argument = (price: unknown) => ({ from: "argument", price }) as const;
/** `pay(price, options)` on shared options; nothing of it runs on. */
function payWith(shared: object, price: unknown, options?: object) {
  const core = createPaywallCore({ ...both, logger: silentLogger, ...shared }, later, {});
  closing.push(core.close);
  return problemsOf(() => core.priceGuard(price as "$1", options));
}
const closing: (() => Promise<void>)[] = [];
afterEach(() => Promise.all(closing.splice(0).map((close) => close())));

describe("flow: authorization beside a price that only a transaction pays", () => {
  const own = { flow: "authorization" };

  it("is refused wherever the seller wrote it for that price", () => {
    expect(codes(refused({ ...both, ...own }, {}, argument(ETH)))).toEqual(["flow contradiction"]);
    expect(codes(refused({ ...both, ...own }, { TOLLGATE_PRICE: ETH }, { from: "environment" }))).toEqual([
      "flow contradiction",
    ]);
    expect(codes(payWith({}, [ETH, "0.00005 SOL"], own))).toEqual(["options.flow contradiction"]);
    const routes = { "GET /a": { price: ETH, ...own } };
    expect(codes(refused({ ...both, routes }))).toEqual(['routes["GET /a"].flow contradiction']);
    const table = () => createPaywallCore(both, later, {}).tableGuard(routes as never);
    expect(codes(problemsOf(table))).toEqual(['routes["GET /a"].flow contradiction']);
    const [problem] = payWith({}, ETH, own);
    expect(problem?.message).toMatch(
      /"0.000003 ETH" is paid by a transaction .* write flow: "upfront", leave flow out/,
    );
  });

  it("is fine where it is inherited, beside a token, or beside a price that is not known yet", () => {
    expect(payWith(own, ETH)).toEqual([]);
    expect(payWith({}, ["$0.01", ETH], own)).toEqual([]);
    expect(payWith({}, () => ETH, own)).toEqual([]);
    expect(payWith({}, ETH, { flow: "upfront" })).toEqual([]);
    expect(refused({ ...both, ...own, routes: { "GET /a": ETH } })).toEqual([]);
    expect(refused({ ...both, ...own }, { TOLLGATE_PRICE: ETH })).toEqual([]);
    expect(refused(both, {}, argument(ETH))).toEqual([]);
  });
});

describe("confirmations beside a price that no transaction of the buyer's pays", () => {
  const own = { confirmations: 32 };

  it("are refused wherever the seller wrote them for that price", () => {
    expect(codes(refused({ ...both, ...own }, {}, argument("$0.01")))).toEqual(["confirmations contradiction"]);
    expect(codes(payWith({}, "0.01 USDC", own))).toEqual(["options.confirmations contradiction"]);
    const routes = { "GET /a": { price: "$0.01", ...own }, "GET /b": { price: ETH, ...own } };
    expect(codes(refused({ ...both, routes }))).toEqual(['routes["GET /a"].confirmations contradiction']);
    expect(payWith({}, "$0.01", own)[0]?.message).toContain(
      "(on Solana: when it is confirmed): leave confirmations out",
    );
    const onEvm = refused({ ...good, receive: receiveBoth, ...own }, {}, argument("$0.01"));
    expect(onEvm[0]?.message).toMatch(/in a block: leave/);
  });

  it("are fine where they are inherited, beside a transaction, or beside a price that is not known yet", () => {
    expect(payWith(own, "$0.01")).toEqual([]);
    expect(payWith({}, ["$0.01", ETH], own)).toEqual([]);
    expect(payWith({}, () => "$0.01", own)).toEqual([]);
    expect(refused({ ...both, ...own, routes: { "GET /a": "$0.01" } })).toEqual([]);
  });
});

describe("what a seller reads of a slip", () => {
  const networksOf = (...names: string[]) => names.map((name) => findNetwork(name)!);
  const problemOf = (price: unknown, ...names: string[]) => {
    const result = resolvePrice(price, networksOf(...names));
    return result.ok ? "" : result.problem;
  };

  it("is how a symbol is spelt, if only its case is wrong", () => {
    expect(problemOf("0.001 sol", "solana")).toContain("write SOL, letter for letter");
    expect(problemOf("1 usdc.E", "abstract")).toContain("write USDC.e, letter for letter");
  });

  it("is the member that the family of the network needs", () => {
    expect(problemOf("1 FOO", "solana")).toContain("{ amount, asset, decimals }");
    expect(problemOf("1 FOO", "base")).toContain("{ amount, asset, domain }");
    expect(problemOf("1 FOO", "base", "solana")).toContain("{ amount, asset, domain or decimals }");
    const unlisted = problemOf("$0.01", "eip155:31337");
    expect(unlisted).toContain('write { amount, asset, network: "eip155:31337", domain }, or asset: "native"');
  });

  it.each([
    ["solana-mainnet", "solana"],
    ["mainnet-beta", "solana"],
    ["devnet", "solana-devnet"],
    ["solana_mainnet", "solana"],
    ["base-sepoila", "base-sepolia"],
  ])("is the network that %s was meant to be", (written, meant) => {
    expect(suggestNetwork(written)).toBe(`did you mean "${meant}"?`);
    const [problem] = refused({ ...good, network: written });
    expect(problem?.message).toContain(`did you mean "${meant}"?`);
  });

  it("is no network of any name that JavaScript gives an object", () => {
    expect(suggestNetwork("constructor")).toContain("known: ");
  });

  it("is the strictest network's time for a handler: what fits there fits on all", () => {
    const [problem] = refused({ ...both, handlerTimeoutMs: 60_000 });
    expect(problem?.message).toContain("lower handlerTimeoutMs to 40000 or less");
    expect(refused({ ...both, handlerTimeoutMs: 40_000 })).toEqual([]);
    expect(codes(refused({ ...both, handlerTimeoutMs: 40_001 }))).toEqual(["handlerTimeoutMs contradiction"]);
  });
});
