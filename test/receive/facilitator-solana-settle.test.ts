import { beforeEach, describe, expect, it, vi } from "vitest";
import { encodeBase58 } from "../../src/chains/solana/base58.js";
import { type FacilitatorWorld, TRANSACTION as HEX, startFacilitatorWorld } from "../support/facilitator-world.js";
import { answer, type ScriptedAnswer } from "../support/scripted-facilitator.js";
import {
  addressOf,
  DEVNET,
  makeSplProof,
  SOLANA_KINDS,
  SPL_REQUIREMENT,
  type SplOptions,
} from "../support/spl-proof.js";

let world: FacilitatorWorld;
beforeEach(async () => {
  world = await startFacilitatorWorld({ kinds: SOLANA_KINDS });
  await world.receiver.ready([SPL_REQUIREMENT], world.signal);
  return () => world.close();
});

const payer = "AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9";
const TRANSACTION = encodeBase58(Buffer.alloc(64, 7));
const proofOf = (options?: SplOptions) => makeSplProof(world.receiver, options);
const success = { success: true, transaction: TRANSACTION, network: DEVNET, payer };

describe("settlement on Solana by a facilitator", () => {
  it.each([1, 2] as const)("in version %i is settled by success: true with a transaction", async (version) => {
    const settlement = await world.settle(await proofOf({ version }));
    const [transaction] = world.service.settled.values();
    expect(settlement).toEqual({ outcome: "settled", evidence: "word", transaction, payer });
    const network = version === 1 ? "solana-devnet" : DEVNET;
    expect(world.sentTo("settle")[0]?.body).toMatchObject({
      x402Version: version,
      paymentPayload: version === 1 ? { network } : { accepted: { network } },
      paymentRequirements: { network },
    });
  });

  it("may take 20 seconds, or as long as it is told", async () => {
    const patient = world.open({ timeoutMs: undefined });
    expect(patient.settleMs(DEVNET)).toBe(20_000);
    expect(world.receiver.settleMs(DEVNET)).toBe(9_000);
    world.service.script("settle", answer.hang());
    const settling = world.settle(await proofOf(), { deadlineAt: world.clock.now() + 2_000 }, patient);
    expect(await settling).toMatchObject({ outcome: "unknown" });
  });

  const good: [name: string, body: object][] = [
    ["the network's name of version 1", { ...success, network: "solana-devnet" }],
    ["another name of the network", { ...success, network: "solana:devnet" }],
    ["no network", { ...success, network: "" }],
    ["no payer", { ...success, payer: undefined }],
    ["the fee payer as payer", { ...success, payer: SPL_REQUIREMENT.extra.feePayer }],
  ];
  it.each(good)("is settled for the one who signed where the answer names %s", async (_name, body) => {
    world.service.script("settle", answer.json(body));
    expect(await world.settle(await proofOf())).toMatchObject({ outcome: "settled", transaction: TRANSACTION, payer });
  });

  const unknown: [name: string, scripted: () => ScriptedAnswer][] = [
    ["success for a third payer", () => answer.json({ ...success, payer: addressOf("somebody") })],
    ["success on another cluster", () => answer.json({ ...success, network: "solana" })],
    ["success with a hash of EVM", () => answer.json({ ...success, transaction: HEX })],
    ["success with an address as transaction", () => answer.json({ ...success, transaction: payer })],
    ["success with a transaction in base64", () => answer.json({ ...success, transaction: "A+b/".repeat(20) })],
    ["success with a transaction and a blank", () => answer.json({ ...success, transaction: ` ${TRANSACTION}` })],
    ["success without a transaction", () => answer.json({ ...success, transaction: "" })],
    ["success for another amount", () => answer.json({ ...success, amount: "9999" })],
    ["a duplicate", () => answer.refuse("duplicate_settlement")],
    ["a transaction that failed", () => answer.refuse("invalid_exact_svm_transaction_failed")],
    ["a transaction that failed, in the words of version 1", () => answer.refuse("transaction_failed")],
    ["a block height that passed", () => answer.refuse("settle_exact_svm_block_height_exceeded")],
    ["a confirmation that timed out", () => answer.refuse("settle_exact_svm_transaction_confirmation_timed_out")],
    ["a transfer that nobody saw", () => answer.refuse("post_settlement_transfer_not_confirmed")],
    [
      "a signature that the facilitator could not make",
      () => answer.refuse("invalid_exact_svm_transaction_signing_failed"),
    ],
    ["a fee payer that it has no more", () => answer.refuse("invalid_exact_svm_fee_payer_not_managed_by_facilitator")],
    [
      "a failed simulation of a sent transaction",
      () => answer.json({ ...success, success: false, errorReason: "transaction_simulation_failed" }),
    ],
    ["a reset after it acted", () => answer.resetAfterActing()],
  ];
  it.each(unknown)("is unknown after %s, and is not tried again", async (_name, scripted) => {
    world.service.script("settle", scripted());
    expect(await world.settle(await proofOf())).toMatchObject({ outcome: "unknown" });
    expect(world.sentTo("settle")).toHaveLength(1);
  });

  it.each([
    ["invalid_exact_svm_transaction_simulation_failed", "simulation_failed"],
    ["transaction_simulation_failed", "simulation_failed"],
    ["invalid_exact_svm_payload_amount_mismatch", "amount_mismatch"],
    ["invalid_exact_svm_payload_transaction_sender_ata_not_found", "insufficient_funds"],
  ])(
    "is refused where the first and only answer is the payer's fault (%s) without a transaction",
    async (reason, code) => {
      world.service.script("settle", answer.refuse(reason), answer.refuse(reason, 400));
      for (let i = 0; i < 2; i++) {
        expect(await world.settle(await proofOf())).toEqual({ outcome: "refused", code, reason });
      }
    },
  );

  it("lets one transaction back one proof, and has no second spelling of it", async () => {
    world.service.always("settle", answer.claim(TRANSACTION));
    const [mine, other] = [await proofOf(), await proofOf()];
    expect(await world.settle(mine)).toMatchObject({ outcome: "settled" });
    expect(await world.settle(other)).toMatchObject({ outcome: "unknown" });
    expect(await world.settle(mine)).toMatchObject({ outcome: "settled" });
  });

  it("that is pending is asked for once more with the identical request, after its transaction is recorded", async () => {
    world.service.script("settle", answer.pending(TRANSACTION));
    const recorded: string[] = [];
    const sending = async (transaction: string) => void recorded.push(transaction);
    const settling = world.settle(await proofOf(), { sending });
    await vi.waitFor(() => expect(world.clock.pending).toContain(1_000), { timeout: 10_000 });
    world.clock.advance(1_000);
    expect(await settling).toMatchObject({ outcome: "settled" });
    expect(recorded).toEqual([TRANSACTION]);
    const [first, second] = world.sentTo("settle");
    expect(second?.body).toEqual(first?.body);
  });
});
