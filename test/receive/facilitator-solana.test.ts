import { TOKEN_2022_PROGRAM_ID } from "@solana/spl-token";
import { beforeEach, describe, expect, it } from "vitest";
import type { Receiver } from "../../src/receive/receiver.js";
import {
  CLIENTS,
  call,
  FEE_PAYER,
  LIGHTHOUSE,
  limit,
  MEMO,
  memo,
  price,
  STRANGER,
  transfer,
} from "../chains/solana/payment.js";
import { REQUIREMENT, RESOURCE } from "../support/bound-proof.js";
import { type FacilitatorWorld, startFacilitatorWorld } from "../support/facilitator-world.js";
import { answer, type ScriptedAnswer } from "../support/scripted-facilitator.js";
import {
  addressOf,
  DEVNET,
  makeSplProof,
  SOLANA_KINDS,
  SPL_REQUIREMENT,
  type SplOptions,
  splTransaction,
} from "../support/spl-proof.js";

let world: FacilitatorWorld;
beforeEach(async () => {
  world = await startFacilitatorWorld({ kinds: SOLANA_KINDS });
  await world.receiver.ready([SPL_REQUIREMENT], world.signal);
  return () => world.close();
});

const payer = "AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9";
const proofOf = (options?: SplOptions) => makeSplProof(world.receiver, options);
const calls = () => world.service.requests.filter(({ endpoint }) => endpoint !== "supported").length;

describe("a Solana payment at a facilitator's receiver", () => {
  const identify = (transaction: string, network = DEVNET) =>
    world.receiver.identify?.({ transaction }, network, world.signal);

  it("is known by its message, whoever fills the fee payer's signature", async () => {
    const transaction = splTransaction();
    const filled = Buffer.from(transaction, "base64").fill(7, 1, 65).toString("base64");
    const [first, second] = [await identify(transaction), await identify(filled)];
    expect(first).toMatchObject({ ok: true, payer, asset: SPL_REQUIREMENT.asset, transaction });
    expect(second).toEqual({ ...first, transaction: filled });
  });

  it.each([
    ["bytes that are none", "AAAA".repeat(50), DEVNET, "payment_malformed"],
    ["the id of a transaction", "5".repeat(87), DEVNET, "unsupported_scheme"],
    ["a transaction on EVM", "AAAA".repeat(50), REQUIREMENT.network, "unsupported_scheme"],
    ["the hash of one", `0x${"ab".repeat(32)}`, REQUIREMENT.network, "unsupported_scheme"],
  ])("is not read from %s", async (_name, transaction, network, code) => {
    expect(await identify(transaction, network)).toMatchObject({ ok: false, code });
  });

  it.each(Object.entries(CLIENTS))("is good as %s builds it, in both versions and modes", async (_name, build) => {
    const local = world.open({ verify: "local" });
    await local.ready([SPL_REQUIREMENT], world.signal);
    for (const version of [1, 2] as const) {
      const proof = await proofOf({ version, instructions: build() });
      const before = calls();
      expect(await world.verify(proof, local)).toEqual({ outcome: "valid", payer });
      expect(calls()).toBe(before);
      expect(await world.verify(proof)).toEqual({ outcome: "valid", payer });
      expect(calls()).toBe(before + 1);
    }
  });

  it("is good whatever it costs the facilitator within the protocol's limits", async () => {
    const instructions = [limit(1_400_000), price(5_000_000n), transfer(), memo("in a hurry")];
    expect(await world.verify(await proofOf({ instructions }))).toMatchObject({ outcome: "valid" });
  });

  const [units, micro] = [limit(20_000), price(1n)];
  const spoilt: [name: string, code: string, word: string, options: () => SplOptions][] = [
    [
      "less money",
      "amount_mismatch",
      "amount_mismatch",
      () => ({ instructions: [units, micro, transfer({ amount: 9_999n })] }),
    ],
    [
      "more money",
      "amount_mismatch",
      "amount_mismatch",
      () => ({ instructions: [units, micro, transfer({ amount: 10_001n })] }),
    ],
    [
      "money for another account",
      "recipient_mismatch",
      "recipient_mismatch",
      () => ({ instructions: [units, micro, transfer({ destination: STRANGER.key })] }),
    ],
    [
      "another token",
      "offer_mismatch",
      "mint_mismatch",
      () => ({ instructions: [units, micro, transfer({ mint: MEMO })] }),
    ],
    [
      "the other token program",
      "payment_rejected",
      "no_transfer_instruction",
      () => ({ instructions: CLIENTS.ts2!(TOKEN_2022_PROGRAM_ID) }),
    ],
    [
      "an instruction more",
      "payment_rejected",
      "unknown_fourth_instruction",
      () => ({ instructions: [units, micro, transfer(), transfer()] }),
    ],
    [
      "the fee payer in an instruction",
      "payment_rejected",
      "smart_wallet_fee_payer_not_isolated",
      () => {
        const keys = [{ pubkey: FEE_PAYER.key, isSigner: false, isWritable: true }];
        return { instructions: [units, micro, transfer(), call(LIGHTHOUSE, Uint8Array.of(1), keys)] };
      },
    ],
    [
      "a unit price beyond the protocol's",
      "payment_rejected",
      "compute_price_instruction_too_high",
      () => ({ instructions: [units, price(5_000_001n), transfer()] }),
    ],
    [
      "a signature by nobody",
      "signature_invalid",
      "signature_invalid",
      () => ({ transaction: Buffer.from(splTransaction(), "base64").fill(9, 65, 129).toString("base64") }),
    ],
  ];
  describe.each(["remote", "local"] as const)('with verify: "%s"', (verify) => {
    let by: Receiver;
    beforeEach(async () => {
      by = world.open({ verify });
      await by.ready([SPL_REQUIREMENT], world.signal);
    });

    it.each(spoilt)("is refused without a call where it has %s: %s", async (_name, code, word, options) => {
      const refused = await world.verify(await proofOf(options()), by);
      expect(refused).toMatchObject({ outcome: "invalid", code, reason: expect.stringContaining(word) });
      expect(calls()).toBe(0);
    });
  });

  it("is no payment of another kind, and nothing at all before the facilitator's list is known", async () => {
    const proof = await proofOf();
    const extra = { assetTransferMethod: "transaction", paymentFlow: "upfront" } as const;
    const { extra: _, ...rest } = SPL_REQUIREMENT;
    const native = { ...rest, method: "transaction", asset: "native", extra, confirmations: 1 } as const;
    expect(await world.verify({ ...proof, requirement: native })).toMatchObject({
      outcome: "invalid",
      code: "unsupported_scheme",
    });
    expect(await world.verify(proof, world.open())).toMatchObject({ outcome: "invalid", code: "offer_mismatch" });
    expect(calls()).toBe(0);
  });

  it("goes out with our own terms, in version 1 with that version's name of the network on both sides", async () => {
    const [v1, v2] = [await proofOf({ version: 1 }), await proofOf({ version: 2 })];
    await world.verify(v1);
    await world.verify(v2);
    const [first, second] = world.sentTo("verify").map(({ body }) => body);
    const { feePayer } = SPL_REQUIREMENT.extra;
    expect(first).toMatchObject({
      x402Version: 1,
      paymentPayload: { scheme: "exact", network: "solana-devnet", payload: { transaction: v1.transaction } },
      paymentRequirements: {
        network: "solana-devnet",
        maxAmountRequired: "10000",
        asset: SPL_REQUIREMENT.asset,
        payTo: SPL_REQUIREMENT.payTo,
        resource: RESOURCE.url,
        extra: { feePayer },
      },
    });
    const offer = { network: DEVNET, amount: "10000", payTo: SPL_REQUIREMENT.payTo, extra: { feePayer, decimals: 6 } };
    expect(second).toMatchObject({
      x402Version: 2,
      paymentPayload: { accepted: offer, payload: { transaction: v2.transaction } },
      paymentRequirements: offer,
    });
  });

  it.each([
    [1, [SOLANA_KINDS[0]!], 2, DEVNET],
    [2, [SOLANA_KINDS[1]!], 1, "solana-devnet"],
  ] as const)("of version %i is shown in the one that the facilitator lists", async (version, kinds, as, network) => {
    world.service.always("supported", answer.json({ kinds }));
    const by = world.open();
    expect(await by.ready([SPL_REQUIREMENT], world.signal)).toEqual({ state: "ready" });
    expect(await world.verify(await proofOf({ version }), by)).toMatchObject({ outcome: "valid" });
    expect(world.sentTo("verify")[0]?.body).toMatchObject({ x402Version: as, paymentRequirements: { network } });
  });

  const payers: [name: string, outcome: string, scripted: () => ScriptedAnswer][] = [
    ["the one who signed", "valid", () => answer.json({ isValid: true, payer })],
    ["nobody", "valid", () => answer.json({ isValid: true, payer: "" })],
    ["the fee payer", "valid", () => answer.json({ isValid: true, payer: FEE_PAYER.key.toBase58() })],
    ["a third", "unavailable", () => answer.json({ isValid: true, payer: addressOf("somebody") })],
    ["another spelling", "unavailable", () => answer.json({ isValid: true, payer: payer.toLowerCase() })],
  ];
  it.each(payers)("with %s as its payer in the answer is %s", async (_name, outcome, scripted) => {
    world.service.script("verify", scripted());
    expect(await world.verify(await proofOf())).toMatchObject({ outcome });
  });
});

describe("a facilitator's reason on Solana", () => {
  const PAYLOAD = "invalid_exact_svm_payload";
  const codes: [reason: string, code: string][] = [
    ["invalid_exact_svm_fee_payer_mismatch", "offer_mismatch"],
    [`${PAYLOAD}_mint_mismatch`, "offer_mismatch"],
    [`${PAYLOAD}_amount_mismatch`, "amount_mismatch"],
    [`${PAYLOAD}_transaction_amount_mismatch`, "amount_mismatch"],
    [`${PAYLOAD}_recipient_mismatch`, "recipient_mismatch"],
    [`${PAYLOAD}_transaction_transfer_to_incorrect_ata`, "recipient_mismatch"],
    [`${PAYLOAD}_signature_invalid`, "signature_invalid"],
    [`${PAYLOAD}_transaction_sender_ata_not_found`, "insufficient_funds"],
    ["invalid_exact_svm_transaction_simulation_failed", "simulation_failed"],
    ["transaction_simulation_failed", "simulation_failed"],
    [`${PAYLOAD}_transaction_simulation_failed`, "simulation_failed"],
    [`${PAYLOAD}_transaction`, "payment_rejected"],
    [`${PAYLOAD}_memo_mismatch`, "payment_rejected"],
    [`${PAYLOAD}_transaction_receiver_ata_not_found`, "payment_rejected"],
    ["invalid_exact_svm_fee_payer_not_managed_by_facilitator", "payment_rejected"],
    ["invalid_exact_svm_network_mismatch", "payment_rejected"],
    ["invalid_exact_svm_smart_wallet_program_not_allowed", "payment_rejected"],
  ];
  it.each(codes)("%s is passed through as %s", async (reason, code) => {
    world.service.script("verify", answer.invalid(reason));
    expect(await world.verify(await proofOf())).toEqual({ outcome: "invalid", code, reason });
  });

  it.each(["receiver_ata_not_found", "fee_payer_not_managed_by_facilitator", "unsupported_scheme"])(
    "that no buyer can mend (…%s) is told to the operator",
    async (ending) => {
      const prefix = ending === "receiver_ata_not_found" ? `${PAYLOAD}_transaction` : "invalid_exact_svm";
      world.service.script("verify", answer.invalid(`${prefix}_${ending}`));
      await world.verify(await proofOf());
      expect(world.log.filter((line) => line.includes("this seller's terms"))).toHaveLength(1);
    },
  );

  it.each([
    "invalid_exact_svm_verification_failed",
    "invalid_exact_svm_transaction_failed",
    "invalid_exact_svm_transaction_signing_failed",
    "verification_failed",
  ])("%s is no verdict", async (reason) => {
    world.service.script("verify", answer.invalid(reason));
    expect(await world.verify(await proofOf())).toMatchObject({
      outcome: "unavailable",
      code: "receiver_unreachable",
    });
  });

  it("duplicate_settlement says that the payment is used", async () => {
    world.service.script("verify", answer.invalid("duplicate_settlement"));
    expect(await world.verify(await proofOf())).toEqual({ outcome: "used" });
  });
});
