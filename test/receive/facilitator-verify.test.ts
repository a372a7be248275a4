import { beforeEach, describe, expect, it } from "vitest";
import { makeProof, PAYER, REQUIREMENT, RESOURCE } from "../support/bound-proof.js";
import { type FacilitatorWorld, SECRET, startFacilitatorWorld } from "../support/facilitator-world.js";
import { answer, type ScriptedAnswer, type ScriptedFacilitator } from "../support/scripted-facilitator.js";

let world: FacilitatorWorld;
let service: ScriptedFacilitator;
beforeEach(async () => {
  world = await startFacilitatorWorld();
  service = world.service;
  return () => world.close();
});

describe("verification by a facilitator", () => {
  it("takes isValid: true for a valid payment, with the payer who signed and no balance", async () => {
    expect(await world.verify(await makeProof())).toEqual({ outcome: "valid", payer: PAYER.address });
  });

  it("takes it without a payer too, and whatever the spelling of the address", async () => {
    service.script(
      "verify",
      answer.json({ isValid: true }),
      answer.json({ isValid: true, payer: PAYER.address, extra: {} }),
    );
    expect(await world.verify(await makeProof())).toMatchObject({ outcome: "valid" });
    expect(await world.verify(await makeProof())).toMatchObject({ outcome: "valid" });
  });

  it("sends the buyer's payload and our own requirement in the shape of the proof's version, with the credentials", async () => {
    const [v1, v2] = [await makeProof({ version: 1 }), await makeProof({ version: 2 })];
    await world.verify(v1);
    await world.verify(v2);
    const [first, second] = world.sentTo("verify");
    expect(first?.headers.authorization).toBe(SECRET);
    expect(first?.body).toMatchObject({
      x402Version: 1,
      paymentPayload: { x402Version: 1, network: "base-sepolia", payload: v1.payload.payload },
      paymentRequirements: {
        network: "base-sepolia",
        maxAmountRequired: "10000",
        payTo: REQUIREMENT.payTo,
        resource: RESOURCE.url,
      },
    });
    expect(second?.body).toMatchObject({
      x402Version: 2,
      paymentPayload: { x402Version: 2, payload: v2.payload.payload },
      paymentRequirements: {
        network: "eip155:84532",
        amount: "10000",
        payTo: REQUIREMENT.payTo,
        extra: REQUIREMENT.extra,
      },
    });
  });

  const codes: [reason: string, code: string][] = [
    ["insufficient_funds", "insufficient_funds"],
    ["invalid_exact_evm_insufficient_balance", "insufficient_funds"],
    ["invalid_exact_evm_payload_signature", "signature_invalid"],
    ["invalid_exact_evm_signature", "signature_invalid"],
    ["invalid_exact_evm_payload_authorization_valid_after", "payment_not_yet_valid"],
    ["invalid_exact_evm_payload_authorization_valid_before", "payment_expired"],
    ["invalid_exact_evm_payload_authorization_value_mismatch", "amount_mismatch"],
    ["invalid_exact_evm_recipient_mismatch", "recipient_mismatch"],
    ["invalid_exact_evm_payload_undeployed_smart_wallet", "wallet_not_deployed"],
    ["eip6492_factory_not_allowed", "wallet_factory_not_allowed"],
    ["invalid_exact_evm_transaction_simulation_failed", "simulation_failed"],
    ["invalid_network", "payment_rejected"],
    ["The moon was in the wrong house", "payment_rejected"],
    ["toString", "payment_rejected"],
  ];
  it.each(codes)("passes the reason %s through as %s", async (reason, code) => {
    service.script("verify", answer.invalid(reason), answer.invalid(reason, 400), answer.invalid(reason, 500));
    for (let i = 0; i < 3; i++) {
      expect(await world.verify(await makeProof())).toEqual({ outcome: "invalid", code, reason });
    }
  });

  it("cuts a reason to 128 printable characters", async () => {
    service.script(
      "verify",
      answer.invalid(`a\r\nset-cookie: x\u0000é${"z".repeat(500)}`),
      answer.json({ isValid: false }),
    );
    const cut = await world.verify(await makeProof());
    expect(cut).toMatchObject({
      outcome: "invalid",
      reason: expect.stringMatching(/^a\?\?set-cookie: x\?\?z{100,111}$/),
    });
    expect((cut as { reason: string }).reason).toHaveLength(128);
    expect(await world.verify(await makeProof())).toMatchObject({ outcome: "invalid", reason: "invalid_payment" });
  });

  it.each(["invalid_exact_evm_nonce_already_used", "nonce_already_used", "duplicate_settlement"])(
    "reads %s as a payment that is used",
    async (reason) => {
      service.script("verify", answer.invalid(reason));
      expect(await world.verify(await makeProof())).toEqual({ outcome: "used" });
    },
  );

  it("gives no verdict where the facilitator itself failed", async () => {
    service.script("verify", answer.invalid("unexpected_verify_error", 500));
    expect(await world.verify(await makeProof())).toMatchObject({
      outcome: "unavailable",
      code: "receiver_unreachable",
    });
  });

  const unavailable: [name: string, code: string, scripted: () => ScriptedAnswer][] = [
    ["status 401", "receiver_auth", () => answer.status(401)],
    ["status 403, whatever the body says", "receiver_auth", () => answer.json({ isValid: true }, 403)],
    ["status 429", "receiver_unreachable", () => answer.status(429, { "retry-after": "1" })],
    ["status 500 without a verdict", "receiver_unreachable", () => answer.status(500)],
    ["status 503 with HTML", "receiver_unreachable", () => answer.html(503)],
    ["a reset", "receiver_unreachable", () => answer.reset()],
    ["silence", "receiver_unreachable", () => answer.hang()],
    ["HTML with status 200", "receiver_bad_response", () => answer.html()],
    ["an empty body", "receiver_bad_response", () => answer.empty()],
    ["{}", "receiver_bad_response", () => answer.json({})],
    ["null", "receiver_bad_response", () => answer.json(null)],
    ["an array", "receiver_bad_response", () => answer.json([{ isValid: true }])],
    ["isValid as text", "receiver_bad_response", () => answer.json({ isValid: "true" })],
    ["isValid as a number", "receiver_bad_response", () => answer.json({ isValid: 1 })],
    ["a payer of another type", "receiver_bad_response", () => answer.json({ isValid: true, payer: 7 })],
    ["another payer", "receiver_bad_response", () => answer.json({ isValid: true, payer: REQUIREMENT.payTo })],
    ["isValid: true with status 400", "receiver_bad_response", () => answer.json({ isValid: true }, 400)],
    ["isValid: true with status 500", "receiver_bad_response", () => answer.json({ isValid: true }, 500)],
    ["status 404", "receiver_bad_response", () => answer.status(404)],
    ["status 308", "receiver_bad_response", () => answer.redirect(`${service.url}/settle`)],
    ["a body of 1 MB", "receiver_bad_response", () => answer.huge()],
    ["a slow drip", "receiver_bad_response", () => answer.drip()],
    ["an answer that breaks off", "receiver_bad_response", () => answer.cutOff()],
  ];
  describe.each(["node", "fetch"] as const)("over %s", (transport) => {
    it.each(unavailable)("gives no verdict on %s: %s", async (_name, code, scripted) => {
      service.script("verify", scripted());
      const by = world.open({ timeoutMs: 2_000 }, { transport });
      expect(await world.verify(await makeProof(), by)).toMatchObject({ outcome: "unavailable", code });
    });
  });

  it("gives no verdict where nobody listens", async () => {
    await service.close();
    expect(await world.verify(await makeProof())).toMatchObject({
      outcome: "unavailable",
      code: "receiver_unreachable",
    });
  });

  it("tells the operator of refused credentials once a minute", async () => {
    service.always("verify", answer.status(401));
    for (let i = 0; i < 3; i++) await world.verify(await makeProof());
    expect(world.log.filter((line) => line.includes("credentials"))).toHaveLength(1);
    world.clock.advance(61_000);
    await world.verify(await makeProof());
    expect(world.log.filter((line) => line.includes("credentials"))).toHaveLength(2);
  });

  it("uses one connection for verification and settlement in turn", async () => {
    for (let i = 0; i < 5; i++) {
      const proof = await makeProof();
      expect(await world.verify(proof)).toMatchObject({ outcome: "valid" });
      expect(await world.settle(proof)).toMatchObject({ outcome: "settled" });
    }
    expect(service.connections).toBe(1);
  });
});
