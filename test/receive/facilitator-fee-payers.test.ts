import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Requirement } from "../../src/requirement.js";
import { REQUIREMENT } from "../support/bound-proof.js";
import { type FacilitatorWorld, startFacilitatorWorld } from "../support/facilitator-world.js";
import { answer } from "../support/scripted-facilitator.js";
import { addressOf, DEVNET, makeSplProof, SPL_REQUIREMENT } from "../support/spl-proof.js";

let world: FacilitatorWorld;
beforeEach(async () => {
  world = await startFacilitatorWorld();
  return () => world.close();
});

const [A, B, C] = ["a", "b", "c"].map(addressOf) as [string, string, string];
const v2 = (feePayer?: unknown, network = DEVNET) => ({
  x402Version: 2,
  scheme: "exact",
  network,
  extra: { feePayer },
});
const v1 = (feePayer?: unknown) => ({ ...v2(feePayer, "solana-devnet"), x402Version: 1 });
const list = (kinds: readonly object[], signers: object = {}) => answer.json({ kinds, extensions: [], signers });
const ready = (requirements: readonly Requirement[] = [SPL_REQUIREMENT]) =>
  world.receiver.ready(requirements, world.signal);
const feePayer = () => world.receiver.feePayer?.(DEVNET);

/** Fetches the next list; the fee payer that is offered from then on. */
async function refreshed(kinds: readonly object[], signers?: object): Promise<string | undefined> {
  world.service.always("supported", list(kinds, signers));
  const before = world.sentTo("supported").length;
  if (before === 0) {
    await ready();
    return feePayer();
  }
  world.clock.advance(world.clock.pending[0]!);
  await world.service.received("supported", before + 1);
  // The list is read by the time that the next fetch is planned.
  await vi.waitFor(() => expect(world.clock.pending).toHaveLength(1), { timeout: 10_000 });
  return feePayer();
}

describe("the fee payer of a facilitator's Solana offers", () => {
  it("is not known before the first list, and is known once the receiver is ready", async () => {
    world.service.always("supported", list([v2(A)]));
    expect(feePayer()).toBeUndefined();
    expect(await ready([{ ...SPL_REQUIREMENT, extra: { feePayer: "", decimals: 6 } }])).toEqual({ state: "ready" });
    expect(feePayer()).toBe(A);
  });

  it.each([
    ["version 2 before version 1", [v1(B), v2(A)], A],
    ["version 1 where that is all", [v1(B)], B],
    ["version 1 where version 2 names none", [v2(), v1(B)], B],
    ["a pattern", [v2(A, "solana:*")], A],
    ["the first kind of its network", [v2(C, "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"), v2(A)], A],
  ])("is taken from %s", async (_name, kinds, expected) => {
    expect(await refreshed(kinds)).toBe(expected);
  });

  it.each([
    ["nothing", undefined, "nothing (v2)"],
    ["null", null, "null (v2)"],
    ["an EVM address", REQUIREMENT.payTo, `"${REQUIREMENT.payTo}" (v2)`],
    ["a number", 7, "7 (v2)"],
  ])("is missed at the start where the kind has %s", async (_name, given, got) => {
    world.service.always("supported", list([v2(given)], { "solana:*": [A] }));
    const expected = `extra.feePayer with a Solana address for exact on ${DEVNET}`;
    expect(await ready()).toMatchObject({
      state: "misconfigured",
      problems: [{ check: "feePayer", expected, got }],
    });
    expect(feePayer()).toBeUndefined();
  });

  it("is not missed on networks where nobody needs one, and a missing kind is named as such", async () => {
    world.service.always("supported", list([{ x402Version: 2, scheme: "exact", network: REQUIREMENT.network }]));
    expect(await ready([REQUIREMENT])).toEqual({ state: "ready" });
    expect(await ready()).toMatchObject({
      state: "misconfigured",
      problems: [{ check: "supported", expected: `exact on ${DEVNET}` }],
    });
  });

  it("stays the same while the facilitator names another one in each list, for as long as it lists the first", async () => {
    expect(await refreshed([v2(A)], { "solana:*": [A, B, C] })).toBe(A);
    expect(await refreshed([v2(B)], { "solana:*": [A, B, C] })).toBe(A);
    expect(await refreshed([v2(C)], { [DEVNET]: [A] })).toBe(A);
    expect(await refreshed([v2(C), v1(A)])).toBe(A);
    expect(await refreshed([v2(C)], { "solana:*": [B, C] })).toBe(C);
    expect(await refreshed([v2(B)], { "solana:*": [B, C] })).toBe(C);
  });

  it.each([
    ["signers of another network", { "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp": [A] }],
    ["signers of another family", { "eip155:*": [A] }],
  ])("is not kept by %s", async (_name, signers) => {
    await refreshed([v2(A)]);
    expect(await refreshed([v2(B)], signers)).toBe(B);
  });

  it("is nobody once the network is not served any more, whoever still signs", async () => {
    await refreshed([v2(A)], { "solana:*": [A] });
    expect(await refreshed([v2(A, "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp")], { "solana:*": [A] })).toBeUndefined();
  });
});

describe("a payment with another fee payer than that of today's offer", () => {
  const offerOf = (payer: string) => ({ ...SPL_REQUIREMENT, extra: { feePayer: payer, decimals: 6 } });

  it.each([1, 2] as const)(
    "is good in version %i while the facilitator lists that one, and sent with it",
    async (version) => {
      await refreshed([v2(A), v1(A)], { "solana:*": [A, B] });
      const proof = await makeSplProof(world.receiver, { version, requirement: offerOf(A), feePayer: B });
      expect(await world.verify(proof)).toMatchObject({ outcome: "valid" });
      expect(await world.settle(proof)).toMatchObject({ outcome: "settled" });
      const sent = [...world.sentTo("verify"), ...world.sentTo("settle")];
      expect(sent).toHaveLength(2);
      for (const { body } of sent) expect(body).toMatchObject({ paymentRequirements: { extra: { feePayer: B } } });
      if (version === 2)
        expect(sent[0]?.body).toMatchObject({ paymentPayload: { accepted: { extra: { feePayer: B } } } });
    },
  );

  it("is refused without a call where the facilitator does not list it", async () => {
    await refreshed([v2(A)], { "solana:*": [A, B] });
    const proof = await makeSplProof(world.receiver, { requirement: offerOf(A), feePayer: C });
    expect(await world.verify(proof)).toMatchObject({
      outcome: "invalid",
      code: "offer_mismatch",
      expected: A,
      got: C,
    });
    expect(world.sentTo("verify")).toHaveLength(0);
  });

  it("makes the list be fetched anew where the facilitator knows that key no more, once in a while", async () => {
    await refreshed([v2(A)]);
    world.service.always("verify", answer.invalid("invalid_exact_svm_fee_payer_not_managed_by_facilitator"));
    const refused = async () => world.verify(await makeSplProof(world.receiver, { requirement: offerOf(A) }));
    expect(await refused()).toMatchObject({ outcome: "invalid", code: "payment_rejected" });
    expect(world.sentTo("supported")).toHaveLength(1);
    world.clock.advance(11_000);
    world.service.always("supported", list([v2(B)]));
    await Promise.all([refused(), refused()]);
    await vi.waitFor(() => expect(feePayer()).toBe(B), { timeout: 10_000 });
    expect(world.sentTo("supported")).toHaveLength(2);
  });
});
