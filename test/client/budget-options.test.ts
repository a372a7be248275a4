// Amounts of a budget: what they are read as, and what is refused with the text to write instead.
import { describe, expect, it } from "vitest";
import { budgetLines } from "./option-cases.js";

const USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
const OTHER = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const token = (amount: string, more: object = {}) => ({ amount, asset: OTHER, network: "base", ...more });
const both = (amount: unknown) => ({ perRequest: amount, perDay: amount });

describe("an amount of a budget", () => {
  it.each<unknown>([
    "$0.10",
    "$1",
    "$0.000000000000000001",
    "0.001 SOL",
    "0.000000001 SOL",
    "1 S-CELO",
    token("10000"),
    token("5", { asset: "native", network: "eip155:31337" }),
    // The native currency of this chain has the symbol of a dollar, and only its id tells them apart.
    token("5", { asset: "native", network: "stable" }),
    ["$0.10", "0.001 SOL", "0.0002 ETH", token("10000"), token("1", { network: "polygon" })],
  ])("is read: %j", (amount) => {
    expect(budgetLines(both(amount))).toEqual([]);
  });

  it.each<[unknown, string]>([
    ["0.10", '"0.10" is no amount of money: write "$0.10" if these are dollars'],
    ["5", 'write "$5" if these are dollars'],
    [0.1, "expected an amount of money; got 0.1"],
    [true, "expected an amount of money; got true"],
    [null, "expected an amount of money; got null"],
    ["$0.1e1", '"$0.1e1" is no amount of money'],
    ["-$1", '"-$1" is no amount of money'],
    ["$-1", '"$-1" is no amount of money'],
    ["$", '"$" is no amount of money'],
    ["", '"" is no amount of money'],
    ["$ 1", '"$ 1" is no amount of money'],
    ["$1,000", '"$1,000" is no amount of money'],
    ["$1 ", '"$1 " is no amount of money'],
    ["€1", '"€1" is no amount of money'],
    ["$.5", '"$.5" is not a decimal number'],
    ["$1.2.3", '"$1.2.3" is not a decimal number'],
    ["$01", '"$01" has leading zeros'],
    ["$0.0000000000000000001", "has 19 decimals where the asset has 18"],
    ["0.0000000001 SOL", "has 10 decimals where the asset has 9"],
    ["0.01 USDC", 'USDC is counted with the other dollar stablecoins: write "$0.01"'],
    ["0.01 usdt", 'usdt is counted with the other dollar stablecoins: write "$0.01"'],
    ["0.01 USDT0", 'write "$0.01"'],
    ["0.001 sol", 'sol is no native currency: write "0.001 SOL"'],
    ["1 EURC", "EURC is no native currency"],
    ["1 native", "native is no native currency"],
    [[], "the list is empty"],
    [{}, "expected atomic units as text"],
    [{ amount: 1, asset: OTHER, network: "base" }, "expected atomic units as text"],
    [token("1", { decimals: 6 }), 'there is no option "decimals"'],
    [token("0.5"), '"0.5" is not a whole number'],
    [token("1", { network: "bse" }), 'did you mean "base"?'],
    [token("1", { asset: "0x12" }), "expected the address of a token on base"],
    [token("1", { asset: OTHER, network: "solana" }), "expected the address of a token on solana"],
    [token("10000", { asset: USDC }), 'it is counted together with other assets: write "$0.01"'],
    [token("10000", { asset: USDC.toLowerCase() }), 'write "$0.01"'],
    [token("200000000000000", { asset: "native" }), 'write "0.0002 ETH"'],
  ])("is refused: %j", (amount, message) => {
    const lines = budgetLines({ perRequest: amount, perDay: "$5" });
    expect(lines[0]).toMatch(/^budget\.perRequest[.[:]/);
    expect(lines.join("\n")).toContain(message);
  });

  it("stands once for each kind of money", () => {
    expect(budgetLines({ perRequest: ["$0.10", "1 SOL", "$0.2"], perDay: ["$5", "1 SOL"] })).toEqual([
      "budget.perRequest[2]: contradiction: $0.10 stands in the list already: keep one of the two",
    ]);
  });
});

describe("a budget that contradicts itself is refused", () => {
  it.each<[string, unknown, string[]]>([
    ["without limits", {}, ["budget.perRequest: required", "budget.perDay: required"]],
    ["of another form", "$5", ["budget: invalid: expected limits such as { perRequest"]],
    ["without a limit for one request", { perDay: "$5" }, ["budget.perRequest: required"]],
    ["without an end", { perRequest: "$0.10" }, ["budget.perDay: required: there is no limit for an hour or a day"]],
    [
      "with money that has no end",
      { perRequest: ["$0.10", "0.001 SOL"], perDay: "$5" },
      ["budget.perRequest[1]: contradiction: 0.001 SOL has no limit for an hour or a day, so a loop would not end"],
    ],
    [
      "with money that is never paid",
      { perRequest: "$0.10", perDay: ["$5", "1 SOL"] },
      [
        "budget.perDay[1]: contradiction: 1 SOL has no limit for one request, so it is never paid: add an amount of this money to budget.perRequest",
      ],
    ],
    [
      "whose request is above its day",
      { perRequest: "$5.000000000000000001", perDay: "$5" },
      [
        "budget.perRequest: contradiction: $5.000000000000000001 is above budget.perDay, which is $5: lower it, or raise that",
      ],
    ],
    [
      "whose request is above its hour",
      { perRequest: "$2", perHour: "$1", perDay: "$5" },
      ["budget.perRequest: contradiction: $2 is above budget.perHour"],
    ],
    [
      "whose hour is above its day",
      { perRequest: "$1", perHour: "$6", perDay: "$5" },
      ["budget.perHour: contradiction"],
    ],
    ["that stops all", both("$0"), ["budget.perRequest: contradiction: 0 stops every", "budget.perDay: contradiction"]],
    [
      "of a host, with money that has no end",
      { perRequest: "$1", perDay: "$5", hosts: { "a.example": { perRequest: "1 SOL" } } },
      ['budget.hosts["a.example"].perRequest: contradiction: 1 SOL has no limit for an hour or a day'],
    ],
    [
      "of a host, with money that is never paid",
      { perRequest: "$1", perDay: "$5", hosts: { "a.example": { perDay: "1 SOL" } } },
      ['budget.hosts["a.example"].perDay: contradiction: 1 SOL has no limit for one request'],
    ],
    [
      "of a host, whose request is above the day of all",
      { perRequest: "$1", perDay: "$5", hosts: { "a.example": { perRequest: "$6" } } },
      ['budget.hosts["a.example"].perRequest: contradiction: $6 is above budget.perDay, which is $5'],
    ],
    [
      "of one host twice",
      { perRequest: "$1", perDay: "$5", hosts: { "a.example": {}, "A.example.": {} } },
      ['budget.hosts["A.example."]: contradiction: a.example stands there twice'],
    ],
    [
      "of a host that says more",
      { perRequest: "$1", perDay: "$5", hosts: { "a.example": { perHours: "$1" } } },
      ['budget.hosts["a.example"].perHours: unknown_option: there is no option "perHours": did you mean "perHour"?'],
    ],
    [
      "of a host that is text",
      { perRequest: "$1", perDay: "$5", hosts: { "a.example": "$1" } },
      ['budget.hosts["a.example"]: invalid: expected { perRequest, perHour, perDay }'],
    ],
  ])("%s", (_, budget, lines) => {
    const found = budgetLines(budget);
    expect(found).toHaveLength(lines.length);
    for (const [index, line] of lines.entries()) expect(found[index]).toContain(line);
  });

  it.each<[string, unknown]>([
    [
      "of a host alone, wider for one request",
      { perRequest: "$0.1", perDay: "$5", hosts: { "a.example": { perRequest: "$2" } } },
    ],
    [
      "of a host where nothing is paid",
      { perRequest: "$1", perDay: "$5", hosts: { "a.example": { perRequest: ["$0", "0 SOL"] } } },
    ],
    [
      "of a host with less in a day than in a request",
      { perRequest: "$1", perDay: "$5", hosts: { "a.example": { perDay: "$0.5" } } },
    ],
    [
      "with money for one host only",
      { perRequest: "$1", perDay: ["$5", "1 SOL"], hosts: { "a.example": { perRequest: "1 SOL" } } },
    ],
    [
      "with money for one host, its end too",
      { perRequest: "$1", perHour: "$5", hosts: { "a.example": { perRequest: "1 SOL", perHour: "2 SOL" } } },
    ],
  ])("but not one %s", (_, budget) => {
    expect(budgetLines(budget)).toEqual([]);
  });
});
