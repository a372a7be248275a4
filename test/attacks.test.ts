// What attackers and unlucky buyers tried against the mechanism as a whole, each with the promise that it would break.
import { describe, expect, it } from "vitest";
import { paywall } from "../adapters/express.js";
import { transactionKey } from "../src/claims.js";
import { createReadiness } from "../src/readiness.js";
import { local } from "../src/receive/local.js";
import { boundedReason } from "../src/receive/reasons.js";
import { memoryStore } from "../src/store/memory.js";
import { REQUIREMENT } from "./support/bound-proof.js";
import { createFakeClock } from "./support/fake-clock.js";
import {
  BUYER,
  broken,
  codeOf,
  createWorld,
  makeRequest,
  ok,
  PAY_TO,
  scriptedReceiver,
  TRANSACTION,
  type World,
} from "./support/world.js";

const KEY = "retry-key-0123456789";
const unknown = () => ({ outcome: "unknown", message: "lost", transaction: TRANSACTION }) as const;

describe("a price that changes between a payment and its repeat", () => {
  const changing = () => {
    const price = { now: (): unknown => "$0.01" };
    const world = createWorld({ price: (() => price.now()) as never });
    return { world, price };
  };
  const PRICES: [string, () => unknown][] = [
    ["rises", () => "$0.02"],
    ["cannot be read", () => ""],
    [
      "throws",
      () => {
        throw new Error("no price");
      },
    ],
  ];

  it.each(PRICES)("and %s is no new bill for a payment whose outcome is unknown", async (_what, next) => {
    const { world, price } = changing();
    for (const version of [1, 2] as const) {
      price.now = () => "$0.01";
      const headers = await world.sign({ version, retryKey: KEY });
      world.receiver.settlements.push(unknown);
      await world.send({ headers });
      price.now = next;
      const sent = await world.send({ headers });
      expect(codeOf(sent)).toEqual([503, "settlement_unknown"]);
      expect(sent.header("PAYMENT-REQUIRED")).toBeUndefined();
    }
  });

  it.each(PRICES)("and %s does not keep the goods from a buyer who has paid", async (_what, next) => {
    const { world, price } = changing();
    const headers = await world.sign({ retryKey: KEY });
    await world.send({ headers, client: "leaves" });
    price.now = next;
    expect((await world.send({ headers })).answer.status).toBe(200);
    expect([world.runs.length, world.receiver.calls.settle]).toEqual([1, 1]);
  });

  it("and rises is asked for anew of a payment that was not taken", async () => {
    const { world, price } = changing();
    const headers = await world.sign();
    await world.send({ headers }, broken);
    price.now = () => "$0.02";
    expect(codeOf(await world.send({ headers }))).toEqual([402, "offer_mismatch"]);
  });

  it("tells a forger of that payment nothing of it", async () => {
    const { world, price } = changing();
    const headers = await world.sign({ retryKey: KEY });
    await world.send({ headers, client: "leaves" });
    price.now = () => "$0.02";
    const payload = JSON.parse(atob(headers["PAYMENT-SIGNATURE"] ?? "")) as { payload: { signature: string } };
    payload.payload.signature = `0x${"33".repeat(65)}`;
    const forged = await world.send({ headers: { "PAYMENT-SIGNATURE": btoa(JSON.stringify(payload)) } });
    expect(codeOf(forged)).toEqual([402, "offer_mismatch"]);
  });
});

describe("a payer who costs runs and gas and never pays", () => {
  const shutOut = async (world: World, tries: number) => {
    const codes: unknown[] = [];
    for (let index = 0; index < tries; index += 1) {
      codes.push((await world.send({ headers: await world.sign() })).json().code);
    }
    return codes;
  };

  it("because his money is gone when it is to be taken is shut out at the limit of uncharged runs", async () => {
    const world = createWorld({ limits: { unchargedRunsPerPayer: 3 } });
    const refused = () => ({ outcome: "refused", code: "insufficient_funds", reason: "insufficient_funds" }) as const;
    world.receiver.settlements.push(refused, refused, refused);
    expect(await shutOut(world, 4)).toEqual([
      "insufficient_funds",
      "insufficient_funds",
      "insufficient_funds",
      "too_many_failures",
    ]);
    expect(world.runs).toHaveLength(3);
  });

  it("because his settlements revert when they are mined is shut out after the third", async () => {
    const world = createWorld();
    const reverted = () => ({ ...unknown(), reverted: true });
    world.receiver.settlements.push(reverted, reverted, reverted);
    expect(await shutOut(world, 4)).toEqual([
      "settlement_unknown",
      "settlement_unknown",
      "settlement_unknown",
      "too_many_failures",
    ]);
  });
});

describe("what a refusal says of money", () => {
  it("in a 409: none while the handler runs first, settled once the money is there", async () => {
    for (const [flow, payment] of [
      ["authorization", "none"],
      ["upfront", "settled"],
    ] as const) {
      const world = createWorld({ terms: { flow } });
      const headers = await world.sign();
      void world.send({ headers }, () => new Promise(() => {}));
      await world.clock.advance(0);
      expect((await world.send({ headers })).json()).toMatchObject({ code: "payment_in_progress", payment });
    }
  });

  it("when the store is down: unknown with a proof, none without one", async () => {
    const clock = createFakeClock();
    const inner = memoryStore({}, clock);
    let down = false;
    const store = {
      ...inner,
      read: (...args: Parameters<typeof inner.read>) =>
        down ? Promise.reject(new Error("down")) : inner.read(...args),
    };
    const world = createWorld({ clock, store });
    const headers = await world.sign();
    await world.send({ headers });
    down = true;
    expect((await world.send({ headers })).json()).toMatchObject({ code: "store_unavailable", payment: "unknown" });
    expect((await world.send({})).json()).toMatchObject({ payment: "none" });
  });
});

it("a second paywall on one request refuses instead of holding the proof against itself, and the first charges nothing", async () => {
  const world = createWorld();
  const headers = await world.sign();
  const request = { ...makeRequest({ headers }), native: {} };
  const first = await world.guard(request);
  if (first.kind !== "admit") throw new Error("not admitted");
  const second = await world.guard(request);
  expect(second).toMatchObject({ kind: "refuse", answer: { status: 503 } });
  await first.capture.answered({ status: 503, headers: [], body: "" });
  expect(world.receiver.calls.settle).toBe(0);
  expect(world.log.some((line) => line.includes("two paywalls"))).toBe(true);
});

it("one transaction on a receiver's word settles one proof, also through another receiver that shares the store or writes it in capitals", async () => {
  const clock = createFakeClock();
  const store = memoryStore({}, clock);
  const statuses: number[] = [];
  for (const [at, transaction] of [TRANSACTION, TRANSACTION, `0x${"AB".repeat(32)}`].entries()) {
    const world = createWorld({ clock, store });
    world.receiver.settlements.push(() => ({
      outcome: "settled",
      transaction,
      payer: BUYER.address,
      evidence: "word",
    }));
    const authorization = { nonce: `0x${String(at + 1).repeat(64)}` };
    statuses.push((await world.send({ headers: await world.sign({ authorization }) })).answer.status);
  }
  expect(statuses).toEqual([200, 503, 503]);
  // A signature on Solana is told from another by its case.
  const onSolana = (signature: string) => transactionKey("solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", signature);
  expect(onSolana("5aB")).not.toBe(onSolana("5Ab"));
});

it("a proof that we released and somebody else submitted has paid us: its buyer gets the goods", async () => {
  const world = createWorld();
  const headers = await world.sign();
  await world.send({ headers }, broken);
  world.receiver.verification = { outcome: "used" };
  world.receiver.lookups = [{ outcome: "settled", transaction: TRANSACTION }];
  await world.clock.advance(3000);
  const sent = await world.send({ headers });
  expect(sent.answer.status).toBe(200);
  expect([world.runs.length, world.receiver.calls.settle]).toEqual([2, 0]);
});

it("a redelivery for other headers is kept for those, and not for the first", async () => {
  const world = createWorld();
  const headers = await world.sign({ retryKey: KEY });
  await world.send({ headers: { ...headers, Accept: "a" }, client: "leaves" });
  const other = () => ({ status: 200, headers: [], body: "for b" });
  await world.send({ headers: { ...headers, Accept: "b" } }, other);
  expect((await world.send({ headers: { ...headers, Accept: "a" } })).answer.status).toBe(409);
  const kept = await world.send({ headers: { ...headers, Accept: "b" } });
  expect(new TextDecoder().decode(kept.answer.body as Uint8Array)).toBe("for b");
});

it("an asynchronous listener that rejects ends up in the log, not in the process", async () => {
  const world = createWorld();
  world.events.on("claimed", async () => {
    throw new Error("observer rejects");
  });
  expect((await world.send({ headers: await world.sign() }, ok)).answer.status).toBe(200);
  await world.clock.advance(0);
  expect(world.log.some((line) => line.includes("observer rejects"))).toBe(true);
});

it("a network that cannot be reached at start does not close another one", async () => {
  const receiver = scriptedReceiver();
  receiver.ready = async ([requirement]) =>
    requirement?.network === REQUIREMENT.network ? { state: "ready" } : { state: "unreachable", message: "down" };
  const clock = createFakeClock();
  const log = () => {};
  const gate = createReadiness(receiver, clock, { debug: log, info: log, warn: log, error: log });
  const dead = { ...REQUIREMENT, network: "eip155:80002" };
  gate.cover([REQUIREMENT, dead]);
  expect(await gate.settled([REQUIREMENT])).toBe("ready");
  const waiting = gate.settled([dead]);
  await clock.advance(5000);
  expect(await waiting).toBe("starting");
});

it("a facilitator's reason never carries a nonce or a signature on", () => {
  const nonce = `0x${"ab".repeat(32)}`;
  expect(boundedReason(`execution reverted: nonce ${nonce} used`)).toBe("execution reverted: nonce (hex) used");
});

it("a body is not read before its proof has passed", async () => {
  const world = createWorld();
  world.receiver.verification = { outcome: "invalid", code: "insufficient_funds" };
  const headers = await world.sign();
  let read = 0;
  const request = makeRequest({ method: "POST", headers });
  await world.guard({
    ...request,
    body: async (limit) => {
      read += 1;
      return request.body(limit);
    },
  });
  expect(read).toBe(0);
});

it("a transaction that settled one proof settles no other by a late answer either", async () => {
  const clock = createFakeClock();
  const store = memoryStore({}, clock);
  const settled = (world: World, late: boolean) =>
    world.receiver.settlements.push(async () => {
      if (late) await new Promise<void>((resolve) => clock.after(12_000, resolve));
      return { outcome: "settled", transaction: TRANSACTION, payer: BUYER.address, evidence: "word" };
    });
  const first = createWorld({ clock, store });
  settled(first, false);
  expect((await first.send({ headers: await first.sign() })).answer.status).toBe(200);
  const second = createWorld({ clock, store });
  settled(second, true);
  const headers = await second.sign({ authorization: { nonce: `0x${"7".repeat(64)}` } });
  const sent = second.send({ headers });
  await clock.advance(13_000);
  expect((await sent).answer.status).toBe(503);
  await clock.advance(2000);
  expect((await second.send({ headers })).answer.status).toBe(503);
});

it("a store that is full when the money has moved keeps neither the money's record nor the goods back", async () => {
  const clock = createFakeClock();
  const world = createWorld({ clock, store: memoryStore({ maxEntries: 1 }, clock) });
  world.receiver.settlements.push(() => ({
    outcome: "settled",
    transaction: TRANSACTION,
    payer: BUYER.address,
    evidence: "word",
  }));
  expect((await world.send({ headers: await world.sign() })).answer.status).toBe(200);
});

it("an answer that was kept for other headers is gone once the handler has run for these", async () => {
  const world = createWorld();
  const headers = await world.sign({ retryKey: KEY });
  await world.send({ headers: { ...headers, Accept: "a" }, client: "leaves" });
  const large = () => ({ status: 200, headers: [], body: "x".repeat(70_000) });
  await world.send({ headers: { ...headers, Accept: "b" } }, large);
  expect(codeOf(await world.send({ headers: { ...headers, Accept: "b" } }))).toEqual([409, "payment_already_used"]);
});

it("a body that never arrives takes no room from answers, and its request goes on without a digest", async () => {
  const world = createWorld();
  const request = makeRequest({ method: "POST", headers: { ...(await world.sign()), "Content-Length": "1048576" } });
  const verdict = world.guard({ ...request, body: () => new Promise(() => {}) });
  await world.clock.advance(10_000);
  expect((await verdict).kind).toBe("admit");
  expect(world.context.held.open().add(1024 * 1024)).toBe(true);
});

it("a private key in the wrong place is not shown by the error that refuses it", () => {
  const key = `0x${"5e".repeat(32)}`;
  const wrong = [
    () => paywall(key, { payTo: PAY_TO, network: "base-sepolia" }),
    () => paywall({ payTo: PAY_TO, network: "base-sepolia", routes: { [`GET /${key}?`]: "$1" } }),
    () => local({ networks: { [key]: { rpcUrl: "http://127.0.0.1:1", settler: `0x${"11".repeat(32)}` } } }),
  ];
  for (const make of wrong) {
    expect(make).toThrow(/problems/);
    try {
      make();
    } catch (error) {
      expect(String(error)).not.toContain("5e5e5e5e");
    }
  }
});
