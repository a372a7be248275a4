// What became of a settlement is asked of every receiver: that survives a restart, because nobody has to know who sent it.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Again, Finality, Lookup, Receiver } from "../../src/receive/receiver.js";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { makeProof, REQUIREMENT, RESOURCE, traceOf } from "../support/bound-proof.js";
import { settle } from "../support/fake-clock.js";
import { answer } from "../support/scripted-facilitator.js";
import { settleOnChain } from "../support/settle-on-chain.js";
import { createFailoverWorld, type FailoverWorld, settleBy, signal, standIn } from "./failover-world.js";

let world: FailoverWorld;
beforeEach(() => {
  world = createFailoverWorld();
  return () => world.close();
});

const settled = { outcome: "settled", transaction: `0x${"ab".repeat(32)}` } as const satisfies Lookup;
const expired: Lookup = { outcome: "expired" };
const unknown: Lookup = { outcome: "unknown", message: "nobody knows" };
const says = (lookup: Lookup, own: Partial<Receiver> = {}) => standIn({ lookup: async () => lookup, ...own });
const byChain = (lookup: Lookup) => says(lookup, { evidence: "chain" });

const lookUp = async (...receivers: readonly Receiver[]) =>
  world.open(receivers).lookup(traceOf(await makeProof()), signal());

describe("a lookup by several receivers", () => {
  it.each([
    ["first", [says(settled), says(unknown)]],
    ["last", [says(unknown), says(settled)]],
  ])("takes positive evidence from the %s", async (_name, receivers) => {
    expect(await lookUp(...receivers)).toEqual(settled);
  });

  it("goes by the others where one throws at once, or answers what is no finding", async () => {
    const thrown = standIn({
      lookup() {
        throw new Error("broken");
      },
    });
    const oddly = (found: unknown) => standIn({ lookup: async () => found as never });
    for (const odd of [thrown, oddly(null), oddly({}), oddly({ outcome: "settled" })]) {
      expect(await lookUp(odd, byChain(expired))).toEqual(expired);
      expect(await lookUp(odd, says(expired))).toMatchObject({ outcome: "unknown" });
    }
  });

  it("waits for nobody once there is positive evidence", async () => {
    const silent = standIn({ lookup: () => new Promise(() => {}) });
    expect(await lookUp(silent, says(settled))).toEqual(settled);
  });

  it("goes by the chain although another one never answers, within the five seconds that who asks will wait", async () => {
    const silent = standIn({ lookup: () => new Promise(() => {}), finality: () => new Promise(() => {}) });
    const gone = standIn({
      lookup: async () => expired,
      finality: async () => ({ outcome: "gone" }),
      evidence: "chain",
    });
    const receiver = world.open([silent, gone]);
    const trace = traceOf(await makeProof());
    const found = receiver.lookup(trace, signal());
    const finality = receiver.finality?.(trace, signal());
    await settle();
    world.clock.advance(4_000);
    expect(await found).toEqual(expired);
    expect(await finality).toEqual({ outcome: "gone" });
  });

  it("is not over by the word of one that may not have been the one to settle", async () => {
    expect(await lookUp(says(expired), says(unknown))).toMatchObject({ outcome: "unknown" });
    expect(await lookUp(says(unknown), says(expired))).toMatchObject({ outcome: "unknown" });
    const broken = standIn({ lookup: () => Promise.reject(new Error("broken")) });
    expect(await lookUp(says(expired), broken)).toMatchObject({ outcome: "unknown" });
  });

  it("is over where the chain proves it, or where each of them says so", async () => {
    expect(await lookUp(says(unknown), byChain(expired))).toEqual(expired);
    expect(await lookUp(says(expired), says(expired))).toEqual(expired);
    expect(await lookUp(byChain(unknown), says(expired))).toMatchObject({ outcome: "unknown" });
  });

  it("of a buyer's own transaction that nobody has named is over only where each of them says so", async () => {
    const owned = { methods: ["transaction"], evidence: "chain" } as const;
    const trace = { ...traceOf(await makeProof()), method: "transaction" } as const;
    const ask = (other: Lookup, transaction: string | null) =>
      world
        .open([says(expired, owned), says(other, { methods: ["transaction"] })])
        .lookup({ ...trace, transaction }, signal());
    expect(await ask(unknown, null)).toMatchObject({ outcome: "unknown" });
    expect(await ask(expired, null)).toEqual(expired);
    expect(await ask(unknown, settled.transaction)).toEqual(expired);
  });

  it("asks nobody about a network or a kind of money that he does not take", async () => {
    const elsewhere = byChain(expired);
    const receivers = [
      { ...elsewhere, networks: ["eip155:8453"] },
      { ...elsewhere, methods: ["transaction"] } satisfies Receiver,
    ] as const;
    expect(await lookUp(...receivers)).toMatchObject({ outcome: "unknown" });
    expect(await lookUp(says(unknown), ...receivers)).toMatchObject({ outcome: "unknown" });
  });
});

describe("a settlement that is asked for once more", () => {
  const open = () => {
    const shown: (Again | undefined)[][] = [[], []];
    const receivers = shown.map((list) =>
      standIn({
        settle: async () => ({ outcome: "unknown", message: "lost" }),
        async lookup(_trace, _signal, again) {
          list.push(again);
          return unknown;
        },
      }),
    );
    return { shown, receivers };
  };

  it("is shown only to who was asked to settle it", async () => {
    const { shown, receivers } = open();
    const down = standIn({ ...receivers[0], settle: async () => ({ outcome: "unavailable", message: "down" }) });
    const receiver = world.open([down, receivers[1]!]);
    const proof = await makeProof();
    expect(await settleBy(receiver, proof, world.clock, { settlementId: "one" })).toMatchObject({ outcome: "unknown" });
    const again = { proof, resource: RESOURCE, settlementId: "one" };
    await receiver.lookup(traceOf(proof), signal(), again);
    expect(shown).toEqual([[undefined], [again]]);
  });

  it("is shown to nobody after a restart, nor for a settlement of another process", async () => {
    const { shown, receivers } = open();
    const proof = await makeProof();
    await settleBy(world.open(receivers), proof, world.clock, { settlementId: "one" });
    const restarted = world.open(receivers);
    await restarted.lookup(traceOf(proof), signal(), { proof, resource: RESOURCE, settlementId: "one" });
    expect(shown).toEqual([[undefined], [undefined]]);
  });
});

describe("finality", () => {
  const final: Finality = { outcome: "final", transaction: "0x1" };
  const lost: Finality = { outcome: "lost" };
  const gone: Finality = { outcome: "gone" };
  const unread: Finality = { outcome: "unknown", message: "down" };
  const tells = (finality: Finality, own: Partial<Receiver> = {}) =>
    standIn({ finality: async () => finality, ...own });
  const chain = { evidence: "chain" } as const;
  const ask = async (...receivers: readonly Receiver[]) =>
    world.open(receivers).finality?.(traceOf(await makeProof()), signal());

  it("is told by the chain before anybody's word, and by words only where they are good news or one of all", async () => {
    expect(await ask(tells(final), tells(gone, chain))).toEqual(gone);
    expect(await ask(tells(final), tells(unread, chain))).toEqual(final);
    expect(await ask(tells(lost), tells(unread, chain))).toMatchObject({ outcome: "unknown" });
    expect(await ask(tells(lost), standIn())).toMatchObject({ outcome: "unknown" });
    expect(await ask(tells(lost), tells(lost))).toEqual(lost);
    expect(await ask(tells(gone), standIn())).toMatchObject({ outcome: "unknown" });
  });

  it("is untold where nobody can tell", async () => {
    expect(await ask(tells({ outcome: "untold" }), standIn())).toEqual({ outcome: "untold" });
    expect(world.open([standIn(), standIn()]).finality).toBeUndefined();
  });
});

describe("on a chain", () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await createSandbox();
  });
  afterAll(() => sandbox?.close());

  it("a settlement whose answer was lost is found by a restarted seller, whoever had sent it", async () => {
    const scripted = { settle: settleOnChain(sandbox) };
    const [first, second] = [await world.start(scripted), await world.start(scripted)];
    first.service.script("settle", answer.resetAfterActing());
    const requirement = { ...REQUIREMENT, payTo: sandbox.seller };
    const proof = await makeProof({ account: await sandbox.newBuyer(), requirement });
    const before = world.open([first.receiver, second.receiver]);
    expect(await settleBy(before, proof, world.clock)).toMatchObject({ outcome: "unknown" });
    expect(await before.lookup(traceOf(proof), signal())).toMatchObject({ outcome: "unknown" });
    await first.service.close();
    const restarted = world.open([first.receiver, sandbox.receive()]);
    const [transaction] = first.service.settled.values();
    expect(await restarted.lookup(traceOf(proof), signal())).toMatchObject({ outcome: "settled", transaction });
    expect(await sandbox.token.transfers({ to: sandbox.seller })).toHaveLength(1);
  });
});
