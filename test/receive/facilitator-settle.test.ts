import { beforeEach, describe, expect, it, vi } from "vitest";
import { makeProof, PAYER, REQUIREMENT } from "../support/bound-proof.js";
import { type FacilitatorWorld, startFacilitatorWorld, TRANSACTION } from "../support/facilitator-world.js";
import { answer, type ScriptedAnswer, type ScriptedFacilitator } from "../support/scripted-facilitator.js";

let world: FacilitatorWorld;
let service: ScriptedFacilitator;
beforeEach(async () => {
  world = await startFacilitatorWorld();
  service = world.service;
  return () => world.close();
});

describe("settlement by a facilitator", () => {
  it("is settled by success: true with a transaction", async () => {
    const proof = await makeProof();
    const settlement = await world.settle(proof);
    expect(settlement).toEqual({
      outcome: "settled",
      evidence: "word",
      transaction: [...service.settled.values()][0],
      payer: PAYER.address,
    });
  });

  it.each(["", "base-sepolia", "eip155:84532"])(
    "is settled where the answer names the network as %j",
    async (network) => {
      service.script("settle", answer.json({ success: true, transaction: TRANSACTION, network, payer: PAYER.address }));
      expect(await world.settle(await makeProof())).toMatchObject({ outcome: "settled", transaction: TRANSACTION });
    },
  );

  it.each(["insufficient_funds", "invalid_exact_evm_payload_signature", "payment_expired"])(
    "is refused where the first and only answer is a failure by the payer's fault (%s) without a transaction",
    async (reason) => {
      service.script(
        "settle",
        answer.refuse(reason),
        answer.refuse(reason, 400),
        answer.json({ success: false, error_reason: reason }),
      );
      for (let i = 0; i < 3; i++)
        expect(await world.settle(await makeProof())).toMatchObject({ outcome: "refused", reason });
      expect(world.sentTo("settle")).toHaveLength(3);
    },
  );

  const success = { success: true, transaction: TRANSACTION, network: "eip155:84532" };
  const unknown: [name: string, scripted: () => ScriptedAnswer][] = [
    ["status 401", () => answer.status(401)],
    ["status 403", () => answer.json(success, 403)],
    ["status 429", () => answer.status(429)],
    ["status 500", () => answer.status(500)],
    ["status 404", () => answer.status(404)],
    ["status 308", () => answer.redirect(`${service.url}/verify`)],
    ["a reset before the facilitator acts", () => answer.reset()],
    ["a reset after it acted", () => answer.resetAfterActing()],
    ["silence", () => answer.hang()],
    ["silence after it acted", () => answer.hangAfterActing()],
    ["HTML", () => answer.html()],
    ["an empty body", () => answer.empty()],
    ["{}", () => answer.json({})],
    ["a body of 1 MB", () => answer.huge()],
    ["a slow drip", () => answer.drip()],
    ["an answer that breaks off", () => answer.cutOff()],
    ["success as text", () => answer.json({ ...success, success: "true" })],
    ["success with a transaction that is a number", () => answer.json({ ...success, transaction: 7 })],
    ["success without a transaction", () => answer.json({ success: true, network: "eip155:84532" })],
    ["success with an empty transaction", () => answer.json({ ...success, transaction: "" })],
    ["success with a blank transaction", () => answer.json({ ...success, transaction: "  \t" })],
    [
      "success with a transaction that cannot stand in a header",
      () => answer.json({ ...success, transaction: "0x1\r\nx: y" }),
    ],
    ["success with status 500", () => answer.json(success, 500)],
    ["success on another network", () => answer.json({ ...success, network: "eip155:8453" })],
    ["success for another payer", () => answer.json({ ...success, payer: REQUIREMENT.payTo })],
    ["success for another amount", () => answer.json({ ...success, amount: "1" })],
    [
      "failure with a transaction",
      () => answer.json({ ...success, success: false, errorReason: "insufficient_funds" }),
    ],
    ["failure by a used nonce", () => answer.refuse("invalid_exact_evm_nonce_already_used")],
    ["failure as a duplicate", () => answer.refuse("duplicate_settlement")],
    ["failure that is pending without a transaction", () => answer.refuse("settlement_pending")],
    ["failure of the facilitator itself", () => answer.refuse("unexpected_settle_error", 500)],
    ["failure of the transaction", () => answer.refuse("invalid_transaction_state")],
    ["failure for the seller's terms", () => answer.refuse("invalid_network")],
    ["failure for a reason of its own", () => answer.refuse("Computer says no")],
    ["failure without a reason", () => answer.json({ success: false, transaction: "", network: "" })],
  ];
  describe.each(["node", "fetch"] as const)("over %s", (transport) => {
    it.each(unknown)("is unknown after %s, and is not tried again", async (_name, scripted) => {
      service.script("settle", scripted());
      const by = world.open({ timeoutMs: 2_000 }, { transport });
      expect(await world.settle(await makeProof(), {}, by)).toMatchObject({ outcome: "unknown" });
      expect(world.sentTo("settle")).toHaveLength(1);
    });

    it("is unavailable where nobody listens: nothing left", async () => {
      await service.close();
      const by = world.open({}, { transport });
      expect(await world.settle(await makeProof(), {}, by)).toMatchObject({ outcome: "unavailable" });
    });
  });

  it("is unavailable when no time is left, and nothing is sent", async () => {
    expect(await world.settle(await makeProof(), { deadlineAt: world.clock.now() })).toMatchObject({
      outcome: "unavailable",
    });
    expect(world.sentTo("settle")).toHaveLength(0);
  });

  it("waits for an answer no longer than its deadline", async () => {
    service.script("settle", answer.hang());
    const startedAt = Date.now();
    expect(await world.settle(await makeProof(), { deadlineAt: world.clock.now() + 2_000 })).toMatchObject({
      outcome: "unknown",
    });
    expect(Date.now() - startedAt).toBeLessThan(8_000);
  });

  it("lets one transaction back one proof, however many it is named for", async () => {
    service.always("settle", answer.claim(TRANSACTION));
    const proofs = await Promise.all(Array.from({ length: 5 }, () => makeProof()));
    const outcomes = (await Promise.all(proofs.map((proof) => world.settle(proof)))).map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome === "settled")).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === "unknown")).toHaveLength(4);
    expect(world.log.filter((line) => line.includes("duplicate settlement reference"))).toHaveLength(4);
  });

  it("does not take another spelling of the transaction for another one, and tells the same proof the same again", async () => {
    service.script(
      "settle",
      answer.claim(TRANSACTION),
      answer.claim(TRANSACTION.toUpperCase()),
      answer.claim(TRANSACTION),
    );
    const [mine, other] = [await makeProof(), await makeProof()];
    expect(await world.settle(mine)).toMatchObject({ outcome: "settled" });
    expect(await world.settle(other)).toMatchObject({ outcome: "unknown" });
    expect(await world.settle(mine)).toMatchObject({ outcome: "settled" });
  });
});

describe("a settlement that the facilitator calls pending", () => {
  /** Runs the pause before the resend as soon as it has begun. */
  async function passPause(ms = 1_000): Promise<void> {
    await vi.waitFor(() => expect(world.clock.pending).toContain(ms), { timeout: 10_000 });
    world.clock.advance(ms);
  }

  it("is asked for once more with the identical request, after the transaction is recorded", async () => {
    service.script("settle", answer.pending(TRANSACTION));
    const recorded: string[] = [];
    const settling = world.settle(await makeProof(), {
      sending: async (transaction) => void recorded.push(transaction),
    });
    await passPause();
    expect(await settling).toMatchObject({ outcome: "settled" });
    expect(recorded).toEqual([TRANSACTION]);
    const [first, second] = world.sentTo("settle");
    expect(second?.body).toEqual(first?.body);
  });

  const second: [name: string, scripted: () => ScriptedAnswer][] = [
    ["pending again", () => answer.pending(TRANSACTION)],
    ["a failure by the payer's fault", () => answer.refuse("insufficient_funds")],
    ["a lost answer", () => answer.reset()],
    ["refused credentials", () => answer.status(401)],
  ];
  it.each(second)(
    "stays unknown with its transaction after %s, and is not asked for a third time",
    async (_name, scripted) => {
      service.script("settle", answer.pending(TRANSACTION), scripted());
      const settling = world.settle(await makeProof());
      await passPause();
      expect(await settling).toMatchObject({ outcome: "unknown", transaction: TRANSACTION });
      expect(world.sentTo("settle")).toHaveLength(2);
    },
  );

  it("is not asked for again when the claim has been lost", async () => {
    service.script("settle", answer.pending(TRANSACTION));
    const sending = () => Promise.reject(new Error("taken over"));
    expect(await world.settle(await makeProof(), { sending })).toMatchObject({
      outcome: "unknown",
      transaction: TRANSACTION,
    });
    expect(world.sentTo("settle")).toHaveLength(1);
  });

  it("is not asked for again past the deadline", async () => {
    service.script("settle", (exchange) => {
      // Less than the pause before the resend is left.
      world.clock.advance(8_000);
      return answer.pending(TRANSACTION)(exchange);
    });
    const deadlineAt = world.clock.now() + 8_900;
    expect(await world.settle(await makeProof(), { deadlineAt })).toMatchObject({
      outcome: "unknown",
      transaction: TRANSACTION,
    });
    expect(world.sentTo("settle")).toHaveLength(1);
  });
});
