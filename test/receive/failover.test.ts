// What several receivers are as one: their options, what they take together, and their start-up checks.
import { afterEach, describe, expect, it, vi } from "vitest";
import { failover, local } from "../../src/index.js";
import type { Readiness, ReadinessProblem, Receiver } from "../../src/receive/receiver.js";
import { makeProof, REQUIREMENT } from "../support/bound-proof.js";
import { codes, good, KEY, problemsOf, RPC_URL, refused, SOLANA_KEY } from "../support/configurations.js";
import { createFailoverWorld, settleBy, signal, standIn, verifyBy } from "./failover-world.js";

const BASE_SEPOLIA = REQUIREMENT.network;
const world = createFailoverWorld();
afterEach(() => world.close());

describe("the options of failover()", () => {
  const one = standIn();
  const nested = () => failover([standIn(), standIn()]);
  it.each<[name: string, list: unknown, options: unknown, problems: string[]]>([
    ["no list", one, {}, ["failover invalid"]],
    ["nothing", undefined, {}, ["failover required"]],
    ["an empty list", [], {}, ["failover invalid"]],
    ["a single receiver", [one], {}, ["failover invalid"]],
    ["the same receiver twice", [one, one], {}, ["failover invalid"]],
    ["what is no receiver", [one, { url: "https://f.example" }], {}, ["failover[1] invalid"]],
    ["a function that was not called", [local, one], {}, ["failover[0] invalid"]],
    ["another failover", [one, nested()], {}, ["failover[1] invalid"]],
    ["options that are none", [one, standIn()], "fast", ["failover invalid"]],
    ["an unknown option", [one, standIn()], { failuers: 3 }, ["failover.failuers unknown_option"]],
    ["no failures", [one, standIn()], { failures: 0 }, ["failover.failures invalid"]],
    ["a pause in words", [one, standIn()], { pauseMs: "10s" }, ["failover.pauseMs invalid"]],
    ["shares that do not fit", [one, standIn()], { verifyMs: 5_001 }, ["failover.verifyMs contradiction"]],
    ["too many for a share", Array.from({ length: 21 }, () => standIn()), {}, ["failover.verifyMs contradiction"]],
    [
      "all of it",
      [one],
      { failures: 0, x: 1 },
      ["failover invalid", "failover.failures invalid", "failover.x unknown_option"],
    ],
  ])("refuse %s, with path and remedy", (_name, list, options, expected) => {
    const problems = problemsOf(() => failover(list as Receiver[], options as object));
    expect(codes(problems).sort()).toEqual(expected);
    for (const { message } of problems) expect(message.length).toBeGreaterThan(15);
  });

  it("let as many share the time of a verification as it is enough for", () => {
    expect(problemsOf(() => failover([one, standIn()], { verifyMs: 5_000, failures: 1, pauseMs: 100 }))).toEqual([]);
    expect(problemsOf(() => failover(Array.from({ length: 20 }, () => standIn())))).toEqual([]);
  });

  it("refuse to sell where handler and all settlements do not fit into a payment's life", () => {
    const slow = () => standIn({ settleMs: () => 16_000 });
    expect(refused({ ...good, receive: failover([slow(), slow()]) })).toMatchObject([
      { path: "handlerTimeoutMs", code: "contradiction", message: expect.stringContaining("32000 ms to settle") },
    ]);
    expect(refused({ ...good, receive: failover([slow(), slow()]), handlerTimeoutMs: 28_000 })).toEqual([]);
    const upfront = { ...good, flow: "upfront" };
    expect(refused({ ...upfront, receive: failover([slow(), slow()]) })).toEqual([]);
    expect(refused({ ...upfront, receive: failover([slow(), slow(), slow(), slow()]) })).toMatchObject([
      { path: "maxTimeoutSeconds", code: "contradiction", message: expect.stringContaining("set it to 64 or more") },
    ]);
  });
});

describe("several receivers together", () => {
  const own = (networks: readonly string[]) => standIn({ networks });

  it("take what any of them takes", () => {
    const all = world.open([own(["a", "b"]), standIn({ networks: ["b", "c"], methods: ["spl", "transaction"] })]);
    expect([all.name, all.networks, all.methods]).toEqual([
      "failover",
      ["a", "b", "c"],
      ["eip3009", "spl", "transaction"],
    ]);
    expect(world.open([own(["a"]), standIn()]).networks).toBeUndefined();
  });

  it("may take as long as all of them on EVM, and as the slowest on Solana, where none follows another one", () => {
    const ms = (own: number, networks?: readonly string[]) =>
      standIn({ settleMs: () => own, ...(networks && { networks }) });
    const all = world.open([ms(10_000), ms(5_000), ms(3_000, ["eip155:8453"])]);
    expect(all.settleMs(BASE_SEPOLIA)).toBe(15_000);
    expect(all.settleMs("eip155:8453")).toBe(18_000);
    expect(all.settleMs("solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1")).toBe(10_000);
    const pair = local({
      networks: {
        "base-sepolia": { rpcUrl: RPC_URL, settler: KEY },
        "solana-devnet": { rpcUrl: RPC_URL, settler: SOLANA_KEY },
      },
    });
    expect(world.open([pair, standIn()]).settleMs("solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1")).toBe(20_000);
  });

  it("give their own money to whom it is for: what one does not take, another one gets", async () => {
    const elsewhere = standIn({ networks: ["eip155:8453"], settle: () => Promise.reject(new Error("not mine")) });
    const all = world.open([elsewhere, standIn()]);
    expect(await verifyBy(all, await makeProof())).toMatchObject({ outcome: "valid" });
    expect(await settleBy(all, await makeProof(), world.clock)).toMatchObject({ outcome: "settled" });
  });

  it("are told of the store, of observers and of the end, each of them", async () => {
    const told: string[] = [];
    const telling = (name: string, close: () => Promise<void>) =>
      standIn({
        share: () => void told.push(`${name} share`),
        observe() {
          told.push(`${name} observe`);
          return () => void told.push(`${name} end`);
        },
        close,
      });
    const broken = telling("a", () => Promise.reject(new Error("it does not close")));
    const all = world.open([broken, telling("b", async () => void told.push("b close"))]);
    all.share?.({} as never);
    all.observe?.(() => {})();
    await expect(all.close()).rejects.toThrow("it does not close");
    expect(told).toEqual(["a share", "b share", "a observe", "b observe", "a end", "b end", "b close"]);
  });
});

describe("the start-up checks of several receivers", () => {
  const problem: ReadinessProblem = { check: "chain id", expected: "1", got: "2", remedy: "Look." };
  const unreachable: Readiness = { state: "unreachable", message: "down" };
  const wrong: Readiness = { state: "misconfigured", problems: [problem] };
  const is = (readiness: Readiness, own: Partial<Receiver> = {}) => standIn({ ready: async () => readiness, ...own });
  /** The lines of the log that name one left out, of those that came after so many. */
  const leftOut = (before: number) =>
    world.log.slice(before).filter((line) => line.includes("until a later check passes"));
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const check = (...receivers: Receiver[]) => world.open(receivers).ready([REQUIREMENT], signal());

  it("are passed while one of them has passed, and not while none has", async () => {
    expect(await check(is(unreachable), standIn())).toEqual({ state: "ready" });
    expect(await check(is(unreachable), is(unreachable))).toMatchObject({
      state: "unreachable",
      message: expect.stringMatching(/failover\[0\].*down.*failover\[1\].*down/),
    });
    expect(await check(standIn({ ready: () => Promise.reject(new Error("broken")) }), standIn())).toEqual({
      state: "ready",
    });
  });

  it("fail with one that is misconfigured, whatever the other one says, and name which one", async () => {
    for (const receivers of [
      [standIn(), is(wrong)],
      [is(unreachable), is(wrong)],
    ]) {
      expect(await check(...receivers)).toEqual({
        state: "misconfigured",
        problems: [{ ...problem, check: "failover[1] (stand-in): chain id" }],
      });
    }
  });

  it("want somebody who is ready for each requirement", async () => {
    const other = { ...REQUIREMENT, network: "eip155:8453" };
    const only = (network: string, readiness: Readiness) => is(readiness, { networks: [network] });
    const all = world.open([only(BASE_SEPOLIA, unreachable), only(other.network, { state: "ready" })]);
    expect(await all.ready([other], signal())).toEqual({ state: "ready" });
    expect(await all.ready([REQUIREMENT, other], signal())).toMatchObject({ state: "unreachable" });
    const foreign = await all.ready([{ ...REQUIREMENT, network: "eip155:137" }], signal());
    expect(foreign).toMatchObject({
      state: "misconfigured",
      problems: [{ check: "failover", got: "none in the list" }],
    });
  });

  const late = async (then: Readiness) => {
    let answer: Readiness = unreachable;
    let calls = 0;
    const first = standIn({
      ready: async () => answer,
      async settle(proof) {
        calls += 1;
        return { outcome: "settled", transaction: "0x1", payer: proof.payer };
      },
    });
    const all = world.open([first, standIn()], { pauseMs: 1_000 });
    expect(await all.ready([REQUIREMENT], signal())).toEqual({ state: "ready" });
    const sell = async () => settleBy(all, await makeProof(), world.clock);
    for (let i = 0; i < 3; i += 1) await sell();
    const before = calls;
    answer = then;
    world.clock.advance(1_000);
    await sell();
    await vi.waitFor(() => expect(world.log.join("\n")).toContain("failover[0]"), { timeout: 10_000 });
    for (let i = 0; i < 3; i += 1) await sell();
    return [before, calls];
  };

  it("are made up for, and nothing is sold over a receiver before they are", async () => {
    expect(await late({ state: "ready" })).toEqual([0, 3]);
  });

  it("leave out one that turns out later not to fit, and log both values", async () => {
    expect(await late(wrong)).toEqual([0, 0]);
    expect(world.log.join("\n")).toMatch(/misconfigured.*chain id/);
  });

  it("are made again after a late mismatch, once a minute at most, so one odd answer leaves nobody out for good", async () => {
    const before = world.log.length;
    const answers = [unreachable, wrong, wrong];
    let checks = 0;
    const first = standIn({
      async ready() {
        checks += 1;
        return answers.shift() ?? { state: "ready" };
      },
    });
    const down = standIn({
      verify: async () => ({ outcome: "unavailable", code: "receiver_unreachable", message: "" }),
    });
    const all = world.open([first, down], { pauseMs: 1_000 });
    await all.ready([REQUIREMENT], signal());
    const proof = await makeProof();
    /** The checks so far, once those that a payment began are over, and whether the next payment is taken. */
    const later = async (ms: number) => {
      world.clock.advance(ms);
      await verifyBy(all, proof);
      await turn();
      return [checks, (await verifyBy(all, proof)).outcome];
    };
    expect(await later(1_000)).toEqual([2, "unavailable"]);
    expect(await later(59_999)).toEqual([2, "unavailable"]);
    expect(await later(1)).toEqual([3, "unavailable"]);
    expect(leftOut(before)).toHaveLength(1);
    expect(await later(60_000)).toEqual([4, "valid"]);
  });

  it("are made up for where the clock was set back meanwhile", async () => {
    let answer: Readiness = unreachable;
    const all = world.open([standIn({ ready: async () => answer }), standIn({ networks: ["eip155:1"] })]);
    await all.ready([REQUIREMENT, { ...REQUIREMENT, network: "eip155:1" }], signal());
    answer = { state: "ready" };
    world.clock.advance(-600_000);
    await verifyBy(all, await makeProof());
    await turn();
    expect(await verifyBy(all, await makeProof())).toMatchObject({ outcome: "valid" });
  });

  it("that are owed for one requirement are not made up for by another one's", async () => {
    const other = { ...REQUIREMENT, payTo: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC" };
    let isUp = false;
    let verified = 0;
    const first = standIn({
      async ready(requirements) {
        if (!isUp) return unreachable;
        return requirements.some(({ payTo }) => payTo === REQUIREMENT.payTo) ? wrong : { state: "ready" };
      },
      async verify(proof) {
        verified += 1;
        return { outcome: "valid", payer: proof.payer };
      },
    });
    const all = world.open([first, standIn()], { pauseMs: 1_000 });
    await all.ready([REQUIREMENT, other], signal());
    isUp = true;
    expect(await all.ready([other], signal())).toEqual({ state: "ready" });
    const proof = await makeProof();
    for (let i = 0; i < 3; i += 1) {
      expect(await verifyBy(all, proof)).toMatchObject({ outcome: "valid" });
      await turn();
      world.clock.advance(1_000);
    }
    expect(verified).toBe(0);
    // What one of them cannot take for the first payee it takes for the other one.
    await verifyBy(all, { ...proof, requirement: { ...proof.requirement, payTo: other.payTo } });
    expect(verified).toBe(1);
  });

  it("leave out one that the chain can mend until it has, and log it once, whatever figures it names", async () => {
    const before = world.log.length;
    let checks = 0;
    let answer: Readiness | undefined = unreachable;
    const first = standIn({
      async ready() {
        checks += 1;
        const gas = { ...problem, check: "gas", got: `${checks} wei`, passing: true };
        return answer ?? { state: "misconfigured", problems: [gas] };
      },
    });
    const all = world.open([first, standIn()], { pauseMs: 1_000 });
    await all.ready([REQUIREMENT], signal());
    answer = undefined;
    const sellUntil = (holds: () => void) =>
      vi.waitFor(
        async () => {
          world.clock.advance(1_000);
          await settleBy(all, await makeProof(), world.clock);
          holds();
        },
        { timeout: 10_000 },
      );
    for (let round = 2; round < 5; round += 1) {
      await sellUntil(() => expect(checks).toBeGreaterThanOrEqual(round));
    }
    answer = { state: "ready" };
    await sellUntil(() => expect(world.log.join("\n")).toContain("has passed"));
    expect(leftOut(before)).toHaveLength(1);
  });
});
