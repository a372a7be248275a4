// The options of the paying fetch: defaults, names of networks and hosts, and every problem in one error.
import { describe, expect, it } from "vitest";
import { memoryBuyerStore } from "../../src/client/memory-store.js";
import { PaywallConfigError } from "../../src/errors.js";
import { good, linesOf, problemsOf, read, wallet } from "./option-cases.js";

const PAYEE = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const OWNER = "9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g";

describe("the options of a buyer", () => {
  it("have safe values where they are left out", () => {
    const settings = read(good);
    expect(settings).toMatchObject({
      wallets: [wallet],
      preferred: [],
      networks: undefined,
      hosts: undefined,
      allowHttp: new Set(),
      payTo: new Map(),
      maxValidityMs: 600_000,
      maxBodyBytes: 1_048_576,
      resend: { times: 7, maxDelayMs: 10_000 },
      breaker: { failures: 3, windowMs: 60_000 },
      approve: undefined,
    });
    expect(Object.isFrozen(settings)).toBe(true);
    expect(Math.abs(settings.now() - Date.now())).toBeLessThan(1000);
  });

  it("are taken as they are given", () => {
    const store = memoryBuyerStore();
    const approve = () => true;
    const settings = read({
      ...good,
      store,
      approve,
      networks: ["base", "eip155:84532", "solana"],
      prefer: ["base-sepolia", "base"],
      hosts: ["API.example", "api.example:8443", "bücher.example", "[::1]:402", "127.1", "dot.example."],
      allowHttp: ["shop.internal:80", "shop.internal:8080"],
      payTo: { "API.example:443": PAYEE.toLowerCase(), "two.example": [OWNER, PAYEE] },
      maxValiditySeconds: 60,
      maxBodyBytes: 0,
      resend: { times: 0 },
      breaker: { windowMs: 5000 },
    });
    expect(settings.store).toBe(store);
    expect(settings.approve).toBe(approve);
    expect([...(settings.networks ?? [])]).toEqual([
      "eip155:8453",
      "eip155:84532",
      "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
    ]);
    expect(settings.preferred).toEqual(["eip155:84532", "eip155:8453"]);
    const hosts = ["api.example", "api.example:8443", "xn--bcher-kva.example", "[::1]:402", "127.0.0.1", "dot.example"];
    expect([...(settings.hosts ?? [])]).toEqual(hosts);
    expect([...settings.allowHttp]).toEqual(["shop.internal", "shop.internal:8080"]);
    expect(settings.payTo).toEqual(
      new Map([
        ["api.example", new Set([PAYEE])],
        ["two.example", new Set([OWNER, PAYEE])],
      ]),
    );
    expect(settings).toMatchObject({ maxValidityMs: 60_000, maxBodyBytes: 0 });
    expect(settings.resend).toEqual({ times: 0, maxDelayMs: 10_000 });
    expect(settings.breaker).toEqual({ failures: 3, windowMs: 5000 });
  });

  it("give the inner fetch what it is called with, and no `this`", async () => {
    const calls: unknown[][] = [];
    async function fetch(this: unknown, ...given: unknown[]): Promise<Response> {
      calls.push([this, ...given]);
      return new Response();
    }
    const init = {};
    await read({ ...good, fetch }).fetch("https://api.example/", init);
    expect(calls).toEqual([[undefined, "https://api.example/", init]]);
    expect(calls[0]?.[2]).toBe(init);
  });

  it("take the global fetch as it is when they are read, lest one that replaces it asks itself", async () => {
    const original = globalThis.fetch;
    const asked: string[] = [];
    globalThis.fetch = async (url) => {
      asked.push(`first ${url}`);
      return new Response();
    };
    try {
      const { fetch } = read(good);
      globalThis.fetch = async (url) => {
        asked.push(`second ${url}`);
        return new Response();
      };
      await fetch("https://api.example/");
    } finally {
      globalThis.fetch = original;
    }
    expect(asked).toEqual(["first https://api.example/"]);
  });
});

describe("options that cannot be meant", () => {
  it("are told all at once, as the buyer's", () => {
    const options = {
      wallet,
      budget: { perRequest: "0.10", perday: "$5" },
      networks: ["bse"],
      hosts: ["https://api.example/x"],
      payTo: { "api.example": "0x123" },
      maxValiditySeconds: 0,
      resend: { time: 3 },
      onPayment: "log",
    };
    expect(() => read(options)).toThrow(/^The buyer's configuration has problems:\n {2}/);
    expect(() => read(options)).toThrow(PaywallConfigError);
    expect(linesOf(options)).toEqual([
      "wallets: required: there is no wallet to pay with: wallets: [evmWallet(account)]",
      "maxValiditySeconds: invalid: expected whole seconds from 15 to 86400; got 0",
      'resend.time: unknown_option: there is no option "time": did you mean "times"?',
      'onPayment: invalid: expected a function; got "log"',
      'budget.perDay: required: there is no limit for an hour or a day, so a loop would not end: add perDay, for example "$5"',
      'budget.perday: unknown_option: there is no option "perday": did you mean "perDay"?',
      'wallet: unknown_option: there is no option "wallet": did you mean "wallets"?',
      'budget.perRequest: invalid: "0.10" is no amount of money: write "$0.10" if these are dollars',
      'networks[0]: unknown_network: "bse" is no known network: did you mean "base"?',
      'hosts[0]: invalid: expected a host alone: write "api.example"; got "https://api.example/x"',
      expect.stringMatching(/^payTo\["api\.example"\]: invalid: expected the seller's address \(.*\); got "0x123"$/),
    ]);
  });

  it.each<[string, unknown, string]>([
    ["no options", undefined, "options: required: expected an object of options; got undefined"],
    ["null", null, "options: invalid: expected an object of options; got null"],
    ["a list", [], "options: invalid: expected an object of options; got a list of 0"],
    ["no wallet in the list", { ...good, wallets: [] }, "wallets: invalid: expected a list of at least one wallet"],
    ["a wallet alone", { ...good, wallets: wallet }, "wallets: invalid: expected a list of at least one wallet"],
    ["an account for a wallet", { ...good, wallets: [{ address: PAYEE }] }, "wallets[0]: invalid: expected a wallet"],
    ["a path for a store", { ...good, store: "x.json" }, "store: invalid: expected a store"],
    ["no networks", { ...good, networks: [] }, "networks: invalid: expected a list of networks"],
    ["one network without a list", { ...good, networks: "base" }, "networks: invalid: expected a list of networks"],
    [
      "a network that is a number",
      { ...good, networks: [8453] },
      "networks[0]: invalid: expected the name of a network",
    ],
    [
      "a preferred network that may not be paid on",
      { ...good, networks: ["base"], prefer: ["solana"] },
      "prefer: contradiction: solana",
    ],
    [
      "a limit of redials",
      { ...good, resend: { times: 21 } },
      "resend.times: invalid: expected a whole number from 0 to 20",
    ],
    ["a breaker that never breaks", { ...good, breaker: { failures: 0 } }, "breaker.failures: invalid"],
    ["a life of days", { ...good, maxValiditySeconds: 86_401 }, "maxValiditySeconds: invalid"],
    ["a life in which nothing could be signed", { ...good, maxValiditySeconds: 14 }, "maxValiditySeconds: invalid"],
    ["half a second", { ...good, maxValiditySeconds: 15.5 }, "maxValiditySeconds: invalid"],
    ["pins without an address", { ...good, payTo: { "api.example": [] } }, 'payTo["api.example"]: invalid'],
    [
      "a pin with a slip",
      { ...good, payTo: { "api.example": [PAYEE.replace("c79C8", "c79c8")] } },
      'payTo["api.example"][0]: invalid',
    ],
    [
      "pins of one host twice",
      { ...good, payTo: { "a.example": PAYEE, "A.example:443": PAYEE } },
      'payTo["A.example:443"]: contradiction',
    ],
    ["an approval that is true", { ...good, approve: true }, "approve: invalid: expected a function that answers"],
  ])("are refused: %s", (_, options, line) => {
    const lines = linesOf(options);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(line);
  });

  it.each([
    ["*.example", "expected a host without *"],
    ["https://api.example", 'write "api.example"'],
    ["http://API.example:8080/x", 'write "api.example:8080"'],
    ["api.example/x", "expected a host such as"],
    ["user@api.example", "expected a host such as"],
    ["api.example:99999", "expected a host such as"],
    ["api .example", "expected a host such as"],
    ["api\t.example", "expected a host such as"],
    ["api.example?x", "expected a host such as"],
    ["", "expected a host such as"],
    ["api.example:80", "write api.example"],
  ])("are refused: the host %j", (host, message) => {
    expect(problemsOf({ ...good, hosts: [host] })[0]?.message).toContain(message);
    expect(problemsOf({ ...good, payTo: { [host]: PAYEE } })[0]?.message).toContain(message);
    const budget = { ...good.budget, hosts: { [host]: { perDay: "$1" } } };
    expect(problemsOf({ ...good, budget })[0]?.message).toContain(message);
  });

  it("never show what may be a key", () => {
    const key = `0x${"ab".repeat(32)}`;
    const options = { ...good, wallets: [key], payTo: { "api.example": key }, hosts: [key], [key]: 1 };
    expect(() => read(options)).toThrow(PaywallConfigError);
    expect(() => read(options)).not.toThrow("abab");
  });
});
