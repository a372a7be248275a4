// Settlements in the figures, by how they went: of the real engine on a real chain, and of every outcome that takes a fault to get.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fault, type Outcome } from "../../src/gateway/errors.js";
import { EXAMPLES } from "../../src/gateway/http/examples.js";
import { eip3009Payer } from "../../src/testing/index.js";
import { bodyOf, settle, wordOf } from "./facilitating.js";
import { onEvm, receive, sign, verdictOf } from "./receiving.js";
import { REQUESTS, scriptEngine } from "./scripted-engine.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

/** What was counted so far, by outcome. */
async function figures(world: GatewayWorld): Promise<Record<string, number>> {
  const { text } = await world.call("GET", "/metrics", undefined, { key: null });
  const lines = text.matchAll(/^tollgate_settlements_total\{outcome="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries([...lines].map(([, outcome, count]) => [outcome, Number(count)]));
}

describe("what the engine does", () => {
  let world: GatewayWorld;
  beforeAll(async () => {
    world = await createGatewayWorld({ chains: { evm: true } });
  });
  afterAll(() => world?.close());

  it("is counted as settled, verified or refused", async () => {
    const { evm } = world;
    if (!evm) throw new Error("the chain was not started");
    const kind = onEvm(evm, "usdc", 2);
    const payTo = await kind.newPayee();
    const proof = await sign(kind, payTo);
    expect(verdictOf(await receive(world, kind, payTo, proof, { settle: false }))).toBe("verified");
    expect(await figures(world)).toEqual({ verified: 1 });
    expect(verdictOf(await receive(world, kind, payTo, proof))).toBe("confirmed");
    expect(verdictOf(await receive(world, kind, payTo, proof))).toBe("400 INVALID_PAYMENT_PROOF already_used");
    expect(await figures(world)).toEqual({ verified: 1, settled: 1, refused: 1 });
    const body = await bodyOf(kind, payTo);
    const poor = await bodyOf(kind, payTo, { payer: eip3009Payer(await evm.newBuyer(0n)) });
    const words = [
      wordOf(await settle(world, body)),
      wordOf(await settle(world, body)),
      wordOf(await settle(world, poor)),
    ];
    expect(words).toEqual(["settled", "duplicate_settlement", "insufficient_funds"]);
    expect(await figures(world)).toEqual({ verified: 1, settled: 2, refused: 3 });
  });
});

describe("what nobody knows yet", () => {
  const { engine, answer } = scriptEngine();
  let world: GatewayWorld;
  beforeAll(async () => {
    world = await createGatewayWorld({ context: { engine } });
  });
  afterAll(() => world?.close());

  const record = { ...EXAMPLES.receive.answer, status: "submitted" };
  const pending = (errorReason: string): Outcome<object> => ({
    ok: true,
    pending: true,
    value: { ...EXAMPLES.settle.answer, success: false, errorReason },
  });
  const unknown = fault("PAYMENT_VERIFICATION_FAILED", "not known yet", { paymentId: record.paymentId });
  it.each([
    ["POST /settle in version 1", "settle", pending("unexpected_settle_error")],
    ["POST /settle in version 2", "settle", pending("settlement_pending")],
    ["POST /settle without a transaction", "settle", { ...unknown, status: 504 }],
    ["POST /payment/receive", "receive", unknown],
    ["a foreign facilitator's word", "receive", { ok: true, pending: true, value: record }],
  ] as const)("is counted as pending: %s", async (_what, verb, outcome) => {
    const { pending: before = 0, ...others } = await figures(world);
    answer(verb, async () => outcome);
    if (verb === "settle") await world.call("POST", "/settle", EXAMPLES.settle.request);
    else await world.call("POST", "/payment/receive", REQUESTS[1][2]);
    expect(await figures(world)).toEqual({ ...others, pending: before + 1 });
  });

  it("is another thing than what could not be verified at all", async () => {
    answer("receive", async () => fault("PAYMENT_VERIFICATION_FAILED", "no node answers"));
    await world.call("POST", "/payment/receive", REQUESTS[1][2]);
    expect(await figures(world)).toMatchObject({ refused: 1 });
  });
});
