// The budget at work: in what unit an offer is counted, exactly; which cap and which limits bind it at which host.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Offer } from "../../src/client/offer.js";
import { DAY_MS } from "../../src/client/store.js";
import { DOLLARS } from "../../src/client/unit.js";
import { findNetwork, NETWORKS, tokenByAddress } from "../../src/networks.js";
import { good, read } from "./option-cases.js";

const OTHER = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const HOUR_MS = 3_600_000;

/** An offer of so many atomic units. */
function offerOf(name: string, asset: string, amount: bigint): Offer {
  const network = findNetwork(name)!;
  const token = tokenByAddress(network, asset);
  const given = { index: 0, version: 2, flow: "authorization", payTo: OTHER, maxTimeoutSeconds: 60 } as const;
  return { ...given, network, method: "eip3009", asset, token, amount, extra: {}, given: {} };
}
const budgetOf = (budget: unknown) => read({ ...good, budget }).budget;
const tokensOf = (symbol: string) =>
  NETWORKS.flatMap((network) =>
    network.tokens.filter((token) => token.symbol === symbol).map((token) => ({ network, token })),
  );

const budget = budgetOf({
  perRequest: ["$0.10", "0.001 SOL", "0.0002 ETH", { amount: "700", asset: OTHER.toLowerCase(), network: "base" }],
  perHour: ["$1", "0.01 SOL"],
  perDay: ["$5", "1 ETH", { amount: "7000", asset: OTHER, network: "eip155:8453" }],
  hosts: {
    "narrow.example": { perRequest: "$0.01", perDay: "$0.02" },
    "wide.example:8443": { perRequest: ["$0.50", "1 MON"], perHour: "2 MON" },
    "closed.example": { perRequest: "$0" },
  },
});

describe("a budget", () => {
  it("counts each token of our own table as a dollar or alone, and a new one is a decision", () => {
    const symbols = new Set(NETWORKS.flatMap((network) => network.tokens.map(({ symbol }) => symbol)));
    // Whoever adds a token to the table says here, and in unit.ts, whether it is worth a dollar.
    expect([...symbols].sort()).toEqual([...DOLLARS].sort());
    expect([...DOLLARS].filter((symbol) => /EUR|GBP|JPY|CHF/i.test(symbol))).toEqual([]);
    // 18 decimals hold every one of them, and a native symbol has one size everywhere.
    const all = NETWORKS.flatMap(({ tokens, native }) => [native, ...tokens]);
    expect(all.filter(({ decimals }) => decimals > 18)).toEqual([]);
    for (const { native } of NETWORKS) {
      const alike = NETWORKS.filter((network) => network.native.symbol === native.symbol);
      expect(new Set(alike.map((network) => network.native.decimals)).size).toBe(1);
    }
  });

  it("counts a dollar of any stablecoin on any network as the same, whatever its decimals", () => {
    for (const symbol of DOLLARS) {
      for (const { network, token } of tokensOf(symbol)) {
        const cost = budget.costOf(offerOf(network.id, token.address, 10n ** BigInt(token.decimals)), "api.example");
        expect(cost).toMatchObject({ unit: "usd", amount: 10n ** 18n, cap: 10n ** 17n });
        expect(cost.format(cost.amount)).toBe("$1");
      }
    }
  });

  it("counts to the atomic unit, however large or small", () => {
    const { token } = tokensOf("USDC")[0]!;
    const costOf = (amount: bigint) => budget.costOf(offerOf("base", token.address, amount), "api.example");
    fc.assert(
      fc.property(fc.bigInt(0n, 2n ** 256n - 1n), (amount) => {
        expect(costOf(amount).amount).toBe(amount * 10n ** 12n);
      }),
    );
    expect(costOf(100_000n).amount <= costOf(100_000n).cap!).toBe(true);
    expect(costOf(100_001n).amount <= costOf(100_001n).cap!).toBe(false);
  });

  it("counts native currency under its symbol on every network, and never as dollars", () => {
    const sol = budget.costOf(offerOf("solana-devnet", "native", 1_000_000n), "api.example");
    expect(sol).toMatchObject({ unit: "native:SOL", amount: 10n ** 15n, cap: 10n ** 15n });
    expect(sol.format(sol.amount)).toBe("0.001 SOL");
    const eth = ["base", "mainnet", "arbitrum"].map((name) =>
      budget.costOf(offerOf(name, "native", 5n), "api.example"),
    );
    expect(eth.map(({ unit, amount, cap }) => [unit, amount, cap])).toEqual(
      eth.map(() => ["native:ETH", 5n, 200_000_000_000_000n]),
    );
  });

  it("counts any other asset alone, and pays it only where it has a cap of its own", () => {
    const costOf = (name: string, asset: string) => budget.costOf(offerOf(name, asset, 3n), "api.example");
    const own = costOf("base", OTHER);
    expect(own).toMatchObject({ unit: `eip155:8453/${OTHER}`, amount: 3n, cap: 700n });
    expect(own.format(3n)).toBe(`3 atomic units of ${OTHER} on base`);
    expect(costOf("base", OTHER.toLowerCase())).toMatchObject({ unit: own.unit, cap: 700n });
    expect(costOf("polygon", OTHER).cap).toBeUndefined();
    expect(costOf("eip155:31337", OTHER).cap).toBeUndefined();
    // The same address as USDC of Base, on another chain: somebody else's token.
    const [usdc] = tokensOf("USDC").filter(({ network }) => network.name === "base");
    expect(costOf("polygon", usdc!.token.address)).toMatchObject({
      unit: `eip155:137/${usdc!.token.address}`,
      cap: undefined,
    });
  });

  it("counts the own currency of a chain apart where its symbol says nothing or says dollar", () => {
    const costOf = (name: string) => budget.costOf(offerOf(name, "native", 10n ** 18n), "api.example");
    expect(costOf("eip155:31337")).toMatchObject({ unit: "eip155:31337/native", cap: undefined });
    expect(costOf("stable")).toMatchObject({ unit: "eip155:988/native", cap: undefined });
    expect(costOf("stable").format(10n ** 18n)).toBe("1 USDT0 on stable");
    const capped = budgetOf({
      perRequest: { amount: "9", asset: "native", network: "eip155:31337" },
      perDay: { amount: "9", asset: "native", network: "eip155:31337" },
    });
    expect(capped.costOf(offerOf("eip155:31337", "native", 1n), "api.example").cap).toBe(9n);
    expect(capped.costOf(offerOf("eip155:31338", "native", 1n), "api.example").cap).toBeUndefined();
  });

  const usdc = (amount: bigint) => offerOf("base", tokensOf("USDC")[0]!.token.address, amount);
  const capAt = (host: string) => budget.costOf(usdc(1n), host).cap;

  it("takes a host's own cap in place of the general one, for the money that it names", () => {
    expect(capAt("api.example")).toBe(10n ** 17n);
    expect(capAt("narrow.example")).toBe(10n ** 16n);
    expect(capAt("wide.example:8443")).toBe(5n * 10n ** 17n);
    expect(capAt("closed.example")).toBe(0n);
    expect(budget.costOf(offerOf("solana", "native", 1n), "narrow.example").cap).toBe(10n ** 15n);
    expect(budget.costOf(offerOf("monad", "native", 1n), "wide.example:8443").cap).toBe(10n ** 18n);
    expect(budget.costOf(offerOf("monad", "native", 1n), "api.example").cap).toBeUndefined();
  });

  it.each(["narrow.example", "NARROW.example", "narrow.example."])("knows a host in any spelling: %s", (host) => {
    expect(capAt(host)).toBe(10n ** 16n);
    expect(budget.limitsOf(budget.costOf(usdc(1n), host), host)).toHaveLength(3);
  });

  it("takes a host with another port for another host", () => {
    expect(capAt("narrow.example:8443")).toBe(10n ** 17n);
    expect(capAt("wide.example")).toBe(10n ** 17n);
  });

  it("binds a payment by the limits of all hosts together and by its own host's", () => {
    const limitsAt = (host: string, offer = usdc(1n)) => budget.limitsOf(budget.costOf(offer, host), host);
    const hour = { name: "budget.perHour", unit: "usd", windowMs: HOUR_MS, amount: 10n ** 18n };
    const day = { name: "budget.perDay", unit: "usd", windowMs: DAY_MS, amount: 5n * 10n ** 18n };
    expect(limitsAt("api.example")).toEqual([hour, day]);
    expect(limitsAt("narrow.example")).toEqual([
      hour,
      day,
      {
        name: 'budget.hosts["narrow.example"].perDay',
        host: "narrow.example",
        unit: "usd",
        windowMs: DAY_MS,
        amount: 2n * 10n ** 16n,
      },
    ]);
    const sol = limitsAt("narrow.example", offerOf("solana", "native", 1n));
    expect(sol).toEqual([{ name: "budget.perHour", unit: "native:SOL", windowMs: HOUR_MS, amount: 10n ** 16n }]);
  });

  it("writes dollars as people do", () => {
    const { format } = budget.costOf(usdc(1n), "api.example");
    const texts = [10n ** 17n, 125n * 10n ** 16n, 10n ** 12n, 0n, 5n * 10n ** 18n].map(format);
    expect(texts).toEqual(["$0.10", "$1.25", "$0.000001", "$0", "$5"]);
  });
});
