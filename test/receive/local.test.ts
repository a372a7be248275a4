import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { PaywallConfigError } from "../../src/errors.js";
import { evm } from "../../src/evm.js";
import { local } from "../../src/receive/local.js";
import type { Readiness } from "../../src/receive/receiver.js";
import type { Eip3009Requirement } from "../../src/requirement.js";
import { createWorld, fault, settleContext, verifyContext, type World } from "../chains/evm/world.js";
import { makeProof } from "../support/bound-proof.js";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());
afterEach(() => world.rpc.clear());

const signal = new AbortController().signal;
const ready = (change: Partial<Eip3009Requirement> = {}, receiver = world.receiver) =>
  receiver.ready([{ ...world.requirement, ...change }], signal);
const problem = (facts: object): Readiness => ({ state: "misconfigured", problems: [expect.objectContaining(facts)] });

describe("the start-up check", () => {
  it("is ready when chain, token, domain, payee and gas are right", async () => {
    expect(await ready()).toEqual({ state: "ready" });
  });

  it("names both chain ids, and takes no URL of another chain even among good ones", async () => {
    world.rpc.script("eth_chainId", fault.wrongChain(8453), 9);
    const rpcUrl = [world.sandbox.rpcUrl, world.rpc.url];
    const facts = { check: "chain id", expected: "84532", got: "8453", remedy: expect.stringContaining("rpcUrl") };
    expect(await ready({}, world.open({ rpcUrl }))).toEqual(problem(facts));
  });

  it("refuses an asset without code on this chain", async () => {
    const facts = { expected: "a contract", got: "no code at this address" };
    expect(await ready({ asset: "0x00000000000000000000000000000000000000A5" })).toEqual(problem(facts));
  });

  it("names both domains when the token's is another one", async () => {
    const facts = {
      expected: expect.stringContaining('name "USD Coin", version "2"'),
      got: expect.stringContaining('name "USDC", version "2"'),
    };
    expect(await ready({ extra: { name: "USD Coin", version: "2" } })).toEqual(problem(facts));
    expect(await ready({ extra: { name: "USDC", version: "1" } })).toMatchObject({ state: "misconfigured" });
  });

  it("compares name and version where the token shows no separator, and refuses a token that shows neither", async () => {
    const receiver = world.open();
    const lie = (name: ReturnType<typeof fault.pass>) => {
      world.rpc.script("eth_call", fault.pass());
      world.rpc.script("eth_call", name);
      world.rpc.script("eth_call", fault.pass());
      world.rpc.script("eth_call", fault.error(3, "execution reverted"));
    };
    lie(fault.pass());
    expect(await ready({}, receiver)).toEqual({ state: "ready" });
    lie(fault.error(3, "execution reverted"));
    expect(await ready({}, receiver)).toMatchObject({ state: "misconfigured" });
  });

  it("names both numbers when the token has other decimals", async () => {
    await world.sandbox.token.setDecimals(18);
    expect(await ready()).toEqual(problem({ expected: "6", got: "18" }));
    await world.sandbox.token.setDecimals(6);
  });

  it("refuses the zero address and the token itself as payee", async () => {
    expect(await ready({ payTo: `0x${"0".repeat(40)}` })).toEqual(problem({ check: "payTo", got: "the zero address" }));
    expect(await ready({ payTo: world.requirement.asset })).toEqual(problem({ check: "payTo" }));
  });

  it("refuses a settler without gas and names its address, not its key; one of several may be empty", async () => {
    const key = generatePrivateKey();
    const { address } = privateKeyToAccount(key);
    const answer = await ready({}, world.open({ settler: key }));
    expect(answer).toEqual(problem({ check: `gas of settler ${address}`, got: "0 wei" }));
    expect(JSON.stringify(answer)).not.toContain(key.slice(2));
    expect(await ready({}, world.open({ settler: [key, world.sandbox.settlerKey] }))).toEqual({ state: "ready" });
  });

  it("wants Multicall3 where wallets may be deployed", async () => {
    const multicall = "0xcA11bde05977b3631167028862bE2a173976CA11";
    const receiver = world.open({ eip6492Factories: [world.sandbox.wallets.factory] });
    expect(await ready({}, receiver)).toEqual({ state: "ready" });
    const code = await world.sandbox.chain.rpc("eth_getCode", [multicall, "latest"]);
    await world.sandbox.chain.rpc("anvil_setCode", [multicall, "0x"]);
    expect(await ready({}, receiver)).toEqual(problem({ check: "Multicall3" }));
    await world.sandbox.chain.rpc("anvil_setCode", [multicall, code]);
  });

  it("lists the problems of all requirements at once", async () => {
    const payTo = `0x${"0".repeat(40)}`;
    const extra = { name: "Other", version: "2" };
    const answer = await world.receiver.ready([{ ...world.requirement, payTo, extra }, world.requirement], signal);
    expect(answer.state === "misconfigured" && answer.problems.length).toBe(2);
  });

  it.each([
    ["breaks the connection", fault.resetBefore()],
    ["answers HTML", fault.html()],
    ["says 429", fault.tooMany()],
  ])("is unreachable, to be tried again, when the chain %s", async (_, next) => {
    world.rpc.script("eth_chainId", next);
    expect(await ready()).toMatchObject({ state: "unreachable" });
    expect(await ready()).toEqual({ state: "ready" });
  });

  it("is misconfigured for a network that local() was not given", async () => {
    const answer = await ready({ network: "eip155:8453" });
    expect(answer).toEqual(problem({ remedy: expect.stringContaining("no network eip155:8453") }));
  });
});

describe("a network that local() was not given", () => {
  it("gets no verdict, no settlement and no outcome", async () => {
    const proof = await makeProof({ requirement: { ...world.requirement, network: "eip155:8453" } });
    expect(await world.receiver.verify(proof, verifyContext())).toMatchObject({
      outcome: "unavailable",
      code: "misconfigured",
    });
    expect(await world.receiver.settle(proof, settleContext())).toMatchObject({ outcome: "unavailable" });
  });
});

it("a payer with sixteen settlements on their way waits, which is no failure of the receiver", async () => {
  const requirement = world.requirement;
  const proofs = await Promise.all(Array.from({ length: 17 }, () => makeProof({ requirement })));
  const settled = proofs.map((proof, at) => world.receiver.settle(proof, settleContext(at < 16 ? 4_000 : 0)));
  expect(await settled.at(-1)).toMatchObject({ outcome: "unavailable", crowded: true });
  await Promise.all(settled);
});

describe("the options of local()", () => {
  const problemsOf = (input: unknown) => {
    try {
      local(input as Parameters<typeof local>[0]);
    } catch (error) {
      if (error instanceof PaywallConfigError) return error.problems;
      throw error;
    }
    return [];
  };
  const settler = generatePrivateKey();
  const rpcUrl = "https://rpc.example/secret-key";

  it("take names, ids, lists, accounts and evm() entries", () => {
    const account = privateKeyToAccount(settler);
    const asset = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
    const networks = {
      "base-sepolia": { rpcUrl, settler },
      "eip155:8453": { rpcUrl: [rpcUrl], settler: [account, settler] },
      mine: evm({ id: "eip155:31337", rpcUrl, settler: account, tokens: [{ address: asset, decimals: 6 }] }),
    };
    expect(local({ networks }).name).toBe("local");
  });

  it("are refused with every problem, its path and what was expected", () => {
    const networks = {
      base: { rpcUrl: "ftp://rpc.example", settler: "0x12" },
      "base-sepolia": { rpcUrl: [], settler: [], polling: 5 },
    };
    expect(problemsOf({ networks, retries: 3 }).map(({ path, code }) => [path, code])).toEqual([
      ["local.networks.base.rpcUrl", "invalid"],
      ["local.networks.base.settler", "invalid"],
      ['local.networks["base-sepolia"].rpcUrl', "invalid"],
      ['local.networks["base-sepolia"].settler', "invalid"],
      ['local.networks["base-sepolia"].polling', "unknown_option"],
      ["local.retries", "unknown_option"],
    ]);
    for (const { message } of problemsOf({ networks })) expect(message).toMatch(/^expected|^no such option/);
  });

  it("say what is missing", () => {
    expect(problemsOf({ networks: { base: {} } })).toMatchObject([
      { path: "local.networks.base.rpcUrl", code: "required" },
      { path: "local.networks.base.settler", code: "required" },
    ]);
    expect(problemsOf({ networks: {} })).toMatchObject([{ path: "local.networks", code: "required" }]);
  });

  it("refuse unknown networks, and one network under two names", () => {
    const entry = { rpcUrl, settler };
    expect(problemsOf({ networks: { nowhere: entry, "solana:nowhere": entry } })).toMatchObject([
      { path: "local.networks.nowhere", code: "unknown_network" },
      { path: 'local.networks["solana:nowhere"]', code: "unknown_network" },
    ]);
    expect(problemsOf({ networks: { base: entry, "eip155:8453": entry } })).toMatchObject([{ code: "contradiction" }]);
  });

  it("never show a key or an RPC URL in a problem", () => {
    const bad = { rpcUrl: "wss://rpc.example/secret-key", settler: `${settler}00` };
    const text = JSON.stringify(problemsOf({ networks: { base: bad } }));
    expect(text).not.toContain("secret-key");
    expect(text).not.toContain(settler.slice(2));
  });
});

describe("without viem", () => {
  it("a key cannot become a settler, and the sentence names the package to install", async () => {
    vi.doMock("viem/accounts", () => {
      throw new Error("Cannot find package 'viem'");
    });
    vi.resetModules();
    const { local: fresh } = await import("../../src/receive/local.js");
    const receiver = fresh({ networks: { "base-sepolia": { rpcUrl: world.rpc.url, settler: generatePrivateKey() } } });
    const remedy = expect.stringContaining("npm install viem");
    expect(await receiver.ready([world.requirement], signal)).toEqual(problem({ remedy }));
    const verdict = await receiver.verify(await world.proof(), verifyContext());
    expect(verdict).toMatchObject({ outcome: "unavailable", code: "misconfigured", message: remedy });
    vi.doUnmock("viem/accounts");
  });
});

it("says a key that is no key is none, without showing it", async () => {
  const zero = `0x${"0".repeat(64)}` as const;
  const answer = await ready({}, world.open({ settler: zero }));
  expect(answer).toEqual(problem({ remedy: expect.stringContaining("not a valid secp256k1 key") }));
});
