// Which payments and which terms are good, at the edge of each rule; and how a refusal is worded on the wire.
import { TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID } from "@solana/spl-token";
import { describe, expect, it } from "vitest";
import { REASONS, wireReason } from "../../../src/chains/solana/reasons.js";
import type { StaticTerms } from "../../../src/chains/solana/terms.js";
import { verifyStatic } from "../../../src/chains/solana/verify-static.js";
import { ata, CLIENTS, FEE_PAYER, limit, MINT, memo, PAYER, pay, price, SETTLER, TERMS, transfer } from "./payment.js";

const good = { ok: true, payer: PAYER.key.toBase58(), amount: TERMS.amount };
const order = [limit(20_000), price(1n), transfer()];

describe.each(Object.keys(CLIENTS))("a payment as %s builds it", (client) => {
  it.each([0, "legacy"] as const)("is good under both token programs, message version %s", async (version) => {
    for (const program of [TOKEN_PROGRAM_ID, TOKEN_2022_PROGRAM_ID]) {
      const verdict = await verifyStatic(pay(CLIENTS[client]!(program), { version }), TERMS);
      expect(verdict).toMatchObject({ ...good, tokenProgram: program.toBase58() });
    }
  });
});

describe("at the edge of a cap", () => {
  const judge = (units: number, unitPrice: bigint, terms: Partial<StaticTerms> = {}) =>
    verifyStatic(pay([limit(units), price(unitPrice), transfer()]), { ...TERMS, ...terms });

  it("a price of 5,000,000 is good and one more is not, nor is 2^63 (A24)", async () => {
    expect(await judge(2_000, 5_000_000n)).toMatchObject({ ok: true, feeLamports: 20_000n });
    for (const over of [5_000_001n, 2n ** 63n]) {
      expect(await judge(0, over)).toMatchObject({ reason: "compute_price_too_high", got: String(over) });
    }
  });

  it("200,000 units are good and one more is not", async () => {
    expect(await judge(200_000, 0n)).toMatchObject({ ok: true, feeLamports: 10_000n });
    expect(await judge(200_001, 0n)).toMatchObject({ reason: "compute_limit_too_high", got: "200001" });
  });

  it("a fee of 20,000 lamports is good and one more is not", async () => {
    expect(await judge(200_000, 50_000n)).toMatchObject({ ok: true, feeLamports: 20_000n });
    expect(await judge(200_000, 50_001n)).toMatchObject({
      reason: "compute_price_too_high",
      expected: "a fee of at most 20000 lamports",
      got: "20001 lamports",
    });
  });

  it("the terms' own caps count", async () => {
    expect(await judge(10, 7n, { maxComputeUnits: 9 })).toMatchObject({ reason: "compute_limit_too_high" });
    expect(await judge(10, 7n, { maxUnitPrice: 6n })).toMatchObject({ reason: "compute_price_too_high" });
    expect(await judge(10, 7n, { maxTotalFeeLamports: 10_000n })).toMatchObject({ reason: "compute_price_too_high" });
    expect(await judge(10, 7n, { maxTotalFeeLamports: 10_001n })).toMatchObject({ ok: true });
  });
});

describe("a memo", () => {
  it("of the offer is needed once, byte for byte, in UTF-8", async () => {
    const terms = { ...TERMS, memo: "Bestellung Nº 7 ☕" };
    expect(await verifyStatic(pay([...order, memo("Bestellung Nº 7 ☕")]), terms)).toMatchObject(good);
    expect(await verifyStatic(pay([...order, memo("Bestellung No 7")]), terms)).toMatchObject({
      reason: "memo_mismatch",
    });
    expect(await verifyStatic(pay(order), terms)).toMatchObject({ reason: "memo_count", got: "0" });
  });

  it("of the offer may be empty, and is then still needed", async () => {
    expect(await verifyStatic(pay([...order, memo("")]), { ...TERMS, memo: "" })).toMatchObject(good);
    expect(await verifyStatic(pay(order), { ...TERMS, memo: "" })).toMatchObject({ reason: "memo_count" });
  });

  it("is free where the offer has none: seven instructions are good, each memo another payment", async () => {
    const full = await verifyStatic(pay([...order, memo("1"), memo("2"), memo("3"), memo("4")]), TERMS);
    const bare = await verifyStatic(pay(order), TERMS);
    expect(full).toMatchObject(good);
    expect(bare.ok && full.ok && bare.messageHash !== full.messageHash).toBe(true);
  });
});

it("the fee payer may be paid: his token account is the destination, and he is still in no instruction", async () => {
  const instructions = [limit(20_000), price(1n), transfer({ destination: ata(FEE_PAYER.key) })];
  const terms = { ...TERMS, payTo: TERMS.feePayer };
  expect(await verifyStatic(pay(instructions), terms)).toMatchObject({
    ok: true,
    destination: ata(FEE_PAYER.key).toBase58(),
  });
});

describe("terms", () => {
  const judge = (terms: Partial<StaticTerms>) => verifyStatic(pay(), { ...TERMS, ...terms });

  it("are for a Solana cluster by its canonical id", async () => {
    for (const network of [
      "solana-devnet",
      "solana:devnet",
      "eip155:8453",
      "",
      "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvd",
    ]) {
      expect(await judge({ network })).toMatchObject({ reason: "network_mismatch", got: network });
    }
  });

  it("name a fee payer, and he is one of ours", async () => {
    expect(await judge({ feePayer: "" })).toMatchObject({ reason: "missing_fee_payer" });
    expect(await judge({ feePayer: "me" })).toMatchObject({ reason: "invalid_fee_payer", got: "me" });
    expect(await judge({ ourSigners: [] })).toMatchObject({ reason: "fee_payer_not_ours", got: TERMS.feePayer });
    expect(await judge({ ourSigners: [SETTLER.toBase58()] })).toMatchObject({ reason: "fee_payer_not_ours" });
  });

  it("are useless without any one of their members, and then nothing is good (A24)", async () => {
    for (const name of Object.keys(TERMS)) {
      const rest = Object.fromEntries(Object.entries(TERMS).filter(([other]) => other !== name));
      expect(await verifyStatic(pay(), rest as unknown as StaticTerms), name).toMatchObject({ ok: false });
    }
  });

  it("are useless with a member that is no such thing", async () => {
    const wrong: Record<string, unknown>[] = [
      ...[0n, -1n, 10_000, "10000"].map((amount) => ({ amount })),
      ...[Number.NaN, Number.POSITIVE_INFINITY, "200000", 200_000n].map((maxComputeUnits) => ({ maxComputeUnits })),
      ...[Number.NaN, 5_000_000, "5000000"].map((maxUnitPrice) => ({ maxUnitPrice })),
      ...[Number.POSITIVE_INFINITY, 20_000].map((maxTotalFeeLamports) => ({ maxTotalFeeLamports })),
      ...[null, 7].map((text) => ({ memo: text })),
      { mint: `${MINT.toBase58()}x` },
      { payTo: "the seller" },
      { ourSigners: [TERMS.feePayer, "not a key"] },
      { ourSigners: 7 },
    ];
    for (const terms of wrong) {
      const verdict = await verifyStatic(pay(), { ...TERMS, ...terms } as unknown as StaticTerms);
      expect(verdict, Object.keys(terms)[0]).toMatchObject({ ok: false, reason: "verification_failed" });
    }
  });

  it("are not what a payload without text is judged by", async () => {
    for (const nothing of [undefined, null, 7, {}, []]) {
      expect(await verifyStatic(nothing as unknown as string, TERMS)).toMatchObject({ reason: "not_decoded" });
    }
  });
});

describe("on the wire", () => {
  it("every reason has a word of protocol v2 and one of v1's closed list", () => {
    // protocol §4.7 and §3.5, by prefix.
    const v2 =
      /^invalid_exact_svm_(network_mismatch|fee_payer_not_managed_by_facilitator|invalid_fee_payer|fee_payer_mismatch|verification_failed|smart_wallet_(fee_payer_not_isolated|alt_resolution_not_available)|payload_(missing_fee_payer|transaction_could_not_be_decoded|signature_invalid|excessive_signers|transaction_instructions_(length|compute_limit_instruction|compute_price_instruction)|transaction_instructions_compute_(limit|price)_instruction_too_high|unknown_(fourth|fifth|sixth|seventh|optional)_instruction|no_transfer_instruction|transaction_fee_payer_transferring_funds|(mint|recipient|amount|memo)_mismatch|memo_count))$/;
    const v1 =
      /^(invalid_network|invalid_payment_requirements|unexpected_verify_error|invalid_exact_svm_payload_transaction(_amount_mismatch|_create_ata_instruction|_instructions(_length|_compute_limit_instruction|_compute_price_instruction(_too_high)?)?|_instruction_not_(spl_token|token_2022)_transfer_checked|_fee_payer_(included_in_instruction_accounts|transferring_funds)|_not_a_transfer_instruction|_transfer_to_incorrect_ata)?)$/;
    expect(REASONS.length).toBeGreaterThan(25);
    for (const reason of REASONS) {
      expect(wireReason(reason, 2)).toMatch(v2);
      expect(wireReason(reason, 1)).toMatch(v1);
    }
  });

  it("the same refusal is spelled as each version has it", () => {
    expect(wireReason("recipient_mismatch", 2)).toBe("invalid_exact_svm_payload_recipient_mismatch");
    expect(wireReason("recipient_mismatch", 1)).toBe("invalid_exact_svm_payload_transaction_transfer_to_incorrect_ata");
    expect(wireReason("amount_mismatch", 2)).toBe("invalid_exact_svm_payload_amount_mismatch");
    expect(wireReason("amount_mismatch", 1)).toBe("invalid_exact_svm_payload_transaction_amount_mismatch");
  });
});
