// What may stand in a buyer's own transfer of SOL, at the edge of each rule; and that nothing else may.
import {
  AddressLookupTableAccount,
  Keypair,
  NONCE_ACCOUNT_LENGTH,
  PublicKey,
  SystemProgram,
  type TransactionInstruction,
  VersionedTransaction,
} from "@solana/web3.js";
import { describe, expect, it } from "vitest";
import { opens, referenceOf } from "../../../src/chains/solana/native-reference.js";
import { type NativeTerms, verifyNativeStatic } from "../../../src/chains/solana/native-static.js";
import type { Reason } from "../../../src/chains/solana/reasons.js";
import {
  type Build,
  call,
  encode,
  keyOf,
  LIGHTHOUSE,
  limit,
  MEMO,
  memo,
  price,
  secretOf,
  sign,
  transfer,
} from "./native-payment.js";

const PAYER = keyOf(1);
const SELLER = keyOf(3).publicKey;
const STRANGER = keyOf(5);
const AMOUNT = 1_000_000n;
const TERMS: NativeTerms = { payTo: SELLER.toBase58(), amount: AMOUNT };
const BLOCKHASH = new PublicKey(Buffer.alloc(32, 9)).toBase58();

const pays = transfer(PAYER.publicKey, SELLER, AMOUNT);
const { secret, reference } = secretOf("static");
const bytes = (instructions: TransactionInstruction[], build: Partial<Build> = {}, payer = PAYER): string =>
  encode(sign(payer, instructions, { blockhash: BLOCKHASH, ...build }));
const judge = (instructions: TransactionInstruction[], build: Partial<Build> = {}) =>
  verifyNativeStatic(bytes(instructions, build), TERMS);

const good = { ok: true, payer: PAYER.publicKey.toBase58(), lamports: AMOUNT };
const lighthouse = call(LIGHTHOUSE, Uint8Array.of(9, 1), [
  { pubkey: PAYER.publicKey, isSigner: false, isWritable: false },
]);

describe("a transfer of SOL is good", () => {
  const GOOD: Record<string, TransactionInstruction[]> = {
    alone: [pays],
    "with limit and price in front": [limit(450), price(10_000n), pays],
    "with price before limit": [price(10_000n), limit(450), pays],
    "with the compute budget behind it": [pays, limit(450), price(1n)],
    "with a limit alone": [limit(200_000), pays],
    "at any price a unit, since its buyer pays it": [price(2n ** 64n - 1n), limit(1), pays],
    "with the reference in a memo": [pays, memo(reference)],
    "with the reference and the buyer's own memo": [memo("for the report"), pays, memo(reference)],
    "with what Phantom inserts": [limit(450), price(1n), pays, memo(reference), lighthouse, lighthouse, lighthouse],
  };

  it.each(Object.entries(GOOD))("%s, in both message versions", async (_, instructions) => {
    for (const version of ["legacy", 0] as const) expect(await judge(instructions, { version })).toMatchObject(good);
  });

  it("with the facts that the chain is asked for", async () => {
    const transaction = sign(PAYER, [pays, memo(reference)], { blockhash: BLOCKHASH });
    const verdict = await verifyNativeStatic(encode(transaction), TERMS);
    expect(verdict).toMatchObject({ ...good, at: 0, references: [reference] });
    const ids = verdict.ok && [verdict.signature, verdict.messageHash];
    expect(ids).toEqual([
      expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{86,88}$/),
      expect.stringMatching(/^[0-9a-f]{64}$/),
    ]);
  });

  it("and says whether it moves the price: what follows if it moves less or more, the chain's state decides", async () => {
    for (const [lamports, sufficient] of [
      [AMOUNT - 1n, false],
      [AMOUNT, true],
      [AMOUNT + 1n, true],
    ] as const) {
      const verdict = await judge([transfer(PAYER.publicKey, SELLER, lamports)]);
      expect(verdict).toMatchObject({ ok: true, lamports, sufficient });
    }
  });
});

describe("a transfer of SOL is refused", () => {
  const nonce = SystemProgram.nonceAdvance({ noncePubkey: keyOf(7).publicKey, authorizedPubkey: PAYER.publicKey });
  const created = SystemProgram.createAccount({
    fromPubkey: PAYER.publicKey,
    newAccountPubkey: STRANGER.publicKey,
    lamports: 1,
    space: NONCE_ACCOUNT_LENGTH,
    programId: SystemProgram.programId,
  });
  const seeded = SystemProgram.transfer({
    fromPubkey: PAYER.publicKey,
    basePubkey: PAYER.publicKey,
    toPubkey: SELLER,
    lamports: AMOUNT,
    seed: "x",
    programId: SystemProgram.programId,
  });
  const resized = (data: (bytes: Buffer) => Uint8Array) => call(pays.programId, data(pays.data), pays.keys);

  const BAD: Record<string, [Reason, TransactionInstruction[], Partial<Build>?]> = {
    "when it pays somebody else": ["recipient_mismatch", [transfer(PAYER.publicKey, STRANGER.publicKey, AMOUNT)]],
    "with a second transfer to the seller": ["unknown_optional", [pays, pays]],
    "with a second transfer elsewhere": ["unknown_optional", [pays, transfer(PAYER.publicKey, STRANGER.publicKey, 1n)]],
    "in two parts": [
      "unknown_optional",
      [transfer(PAYER.publicKey, SELLER, AMOUNT - 1n), transfer(PAYER.publicKey, SELLER, 1n)],
    ],
    "without a transfer": ["no_transfer", [memo("nothing")]],
    "without an instruction": ["no_transfer", []],
    "with a durable nonce": ["no_transfer", [nonce, pays]],
    "with a durable nonce behind the transfer": ["no_transfer", [pays, nonce]],
    "with an account created": ["no_transfer", [pays, created], { others: [STRANGER] }],
    "when it moves from a derived account": ["no_transfer", [seeded]],
    "with a program of nobody's": ["unknown_optional", [pays, call(keyOf(8).publicKey, Uint8Array.of(1))]],
    "with two limits": ["compute_limit", [limit(1), limit(450), pays]],
    "with two prices": ["compute_price", [price(1n), pays, price(1n)]],
    "with a heap frame": ["unknown_optional", [call(limit(1).programId, Uint8Array.of(1, 0, 0, 1, 0)), pays]],
    "with three memos": ["memo_count", [pays, memo("1"), memo("2"), memo("3")]],
    "with eight instructions": [
      "instruction_count",
      [limit(1), price(1n), pays, memo("1"), ...Array(4).fill(lighthouse)],
    ],
    "with a byte too many": ["no_transfer", [resized((data) => Buffer.concat([data, Uint8Array.of(0)]))]],
    "with a byte too few": ["no_transfer", [resized((data) => data.subarray(0, 11))]],
    "when it is another system instruction with the same bytes": ["no_transfer", [resized((data) => data.with(0, 3))]],
    "with a third account": [
      "no_transfer",
      [call(pays.programId, pays.data, [...pays.keys, { pubkey: SELLER, isSigner: false, isWritable: true }])],
    ],
  };

  it.each(Object.entries(BAD))("%s", async (_, [reason, instructions, build]) => {
    const signers = build?.others?.length ?? 0;
    expect(await judge(instructions, build)).toMatchObject({
      ok: false,
      reason: signers > 0 ? "excessive_signers" : reason,
    });
  });

  it("when a second key signs, whosever money it moves", async () => {
    const foreign = [transfer(STRANGER.publicKey, SELLER, AMOUNT), memo("paid by another")];
    expect(await judge(foreign, { others: [STRANGER] })).toMatchObject({ reason: "excessive_signers", got: "2" });
  });

  it("when its sender is not the one who signs", async () => {
    const unsigned = call(pays.programId, pays.data, [
      { pubkey: STRANGER.publicKey, isSigner: false, isWritable: true },
      { pubkey: SELLER, isSigner: false, isWritable: true },
    ]);
    expect(await judge([unsigned])).toMatchObject({ reason: "signature_invalid" });
  });

  it("when the seller pays himself", async () => {
    const seller = keyOf(3);
    const own = bytes([transfer(seller.publicKey, SELLER, AMOUNT)], {}, seller);
    expect(await verifyNativeStatic(own, TERMS)).toMatchObject({ reason: "recipient_mismatch" });
  });

  it("when its recipient comes from a lookup table", async () => {
    const table = new AddressLookupTableAccount({
      key: keyOf(11).publicKey,
      state: {
        deactivationSlot: 2n ** 64n - 1n,
        lastExtendedSlot: 0,
        lastExtendedSlotStartIndex: 0,
        addresses: [SELLER],
      },
    });
    expect(await judge([pays], { tables: [table] })).toMatchObject({ reason: "lookups_refused", got: "1" });
  });

  it("when its signature is another key's, of other bytes, or missing", async () => {
    const honest = sign(PAYER, [pays], { blockhash: BLOCKHASH });
    const other = sign(PAYER, [pays, memo("x")], { blockhash: BLOCKHASH });
    const forged = new VersionedTransaction(honest.message);
    for (const signature of [other.signatures[0]!, new Uint8Array(64), Buffer.alloc(64, 7)]) {
      forged.signatures = [signature];
      expect(await verifyNativeStatic(encode(forged), TERMS)).toMatchObject({ reason: "signature_invalid" });
    }
  });

  it("when one bit of it is changed anywhere", async () => {
    const honest = Buffer.from(bytes([limit(450), pays, memo(reference)]), "base64");
    for (let at = 0; at < honest.length; at++) {
      const changed = Buffer.from(honest);
      changed[at]! ^= 1 << (at % 8);
      const verdict = await verifyNativeStatic(changed.toString("base64"), TERMS);
      expect(verdict, `byte ${at}`).toMatchObject({ ok: false });
    }
  });

  it("when it is no transaction", async () => {
    for (const text of ["", "AAAA", "no base64", `${bytes([pays])}AAAA`, 7 as unknown as string]) {
      expect(await verifyNativeStatic(text, TERMS)).toMatchObject({ reason: "not_decoded" });
    }
  });

  it("under terms that are incomplete (A24)", async () => {
    const wrong = [{}, { payTo: "me", amount: AMOUNT }, { payTo: TERMS.payTo }, { payTo: TERMS.payTo, amount: 0n }];
    for (const terms of [...wrong, { payTo: TERMS.payTo, amount: 1_000_000 }]) {
      const verdict = await verifyNativeStatic(bytes([pays]), terms as unknown as NativeTerms);
      expect(verdict).toMatchObject({ reason: "verification_failed" });
    }
  });
});

describe("a reference", () => {
  it("is the SHA-256 of the secret's 32 bytes, in either case of hex", async () => {
    const zeros = `0x${"00".repeat(32)}`;
    expect(await referenceOf(zeros)).toBe("66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925");
    expect(await referenceOf(secret)).toBe(reference);
    expect(await opens(`0x${secret.slice(2).toUpperCase()}`, [reference])).toBe(true);
  });

  it("is opened by its own secret alone", async () => {
    for (const shown of [undefined, "", secretOf("other").secret, `0x${reference}`, secret.slice(2), `${secret}00`]) {
      expect(await opens(shown, [reference]), shown).toBe(false);
    }
    expect(await opens(secret, [])).toBe(false);
    expect(await opens(secret, ["ff".repeat(32), reference])).toBe(true);
  });

  it("is a memo of its own: 64 lower-case hex digits and nothing beside them", async () => {
    const texts = [reference.toUpperCase(), `${reference} `, `ref:${reference}`, reference.slice(1), `0x${reference}`];
    for (const text of texts) expect(await judge([pays, memo(text)]), text).toMatchObject({ ok: true, references: [] });
    const odd = call(MEMO, Uint8Array.of(0xff, 0xfe));
    expect(await judge([pays, odd, memo(reference)])).toMatchObject({ ok: true, references: [reference] });
  });
});

it("is known by its message: a fresh pair of keys makes another payment", async () => {
  const other = Keypair.fromSeed(Buffer.alloc(32, 12));
  const mine = await judge([pays]);
  const theirs = await verifyNativeStatic(bytes([transfer(other.publicKey, SELLER, AMOUNT)], {}, other), TERMS);
  expect(mine.ok && theirs.ok && mine.messageHash !== theirs.messageHash).toBe(true);
});
