// The messages that we build, against what @solana/web3.js and @solana/spl-token make of the same transfer, byte for byte,
// and against our own rules for payments.
import { TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID } from "@solana/spl-token";
import { PublicKey, SystemProgram, VersionedTransaction } from "@solana/web3.js";
import { describe, expect, it } from "vitest";
import { toBase64 } from "../../../src/chains/solana/bytes.js";
import { verifyNativeStatic } from "../../../src/chains/solana/native-static.js";
import { createSigner } from "../../../src/chains/solana/signing.js";
import { decodeTransaction } from "../../../src/chains/solana/transaction.js";
import { createTransferMessage, randomMemo, type TransferParts } from "../../../src/chains/solana/transfer.js";
import { compileMessage, toWire } from "../../../src/chains/solana/transfer-message.js";
import { verifyStatic } from "../../../src/chains/solana/verify-static.js";
import { AMOUNT, compile, FEE_PAYER, limit, MINT, memo, PAY_TO, PAYER, price, TERMS, transfer } from "./payment.js";

const blockhash = new PublicKey(Buffer.alloc(32, 9)).toBase58();
const REFERENCE = "ab".repeat(32);
const PARTS: TransferParts = {
  from: PAYER.key.toBase58(),
  to: PAY_TO.toBase58(),
  amount: AMOUNT,
  memo: REFERENCE,
  blockhash,
  units: 40_000,
  unitPrice: 12_345n,
};
const USDC = { mint: MINT.toBase58(), decimals: 6 };
const sign = createSigner(new Uint8Array(32).fill(1));

describe("a transfer's message", () => {
  it("of SOL is the one that web3.js compiles, byte for byte", async () => {
    const move = SystemProgram.transfer({ fromPubkey: PAYER.key, toPubkey: PAY_TO, lamports: AMOUNT });
    const theirs = compile([limit(40_000), price(12_345n), move, memo(REFERENCE)], { feePayer: PAYER.key });
    expect(Buffer.from(await createTransferMessage(PARTS)).toString("hex")).toBe(
      Buffer.from(theirs.serialize()).toString("hex"),
    );
  });

  it.each([
    ["classic program", TOKEN_PROGRAM_ID],
    ["Token-2022", TOKEN_2022_PROGRAM_ID],
  ])("of a token of the %s is the one that spl-token and web3.js make", async (_, program) => {
    const tokenProgram = program.toBase58();
    const theirs = compile([limit(40_000), price(12_345n), transfer({ program }), memo(REFERENCE)], {
      feePayer: PAYER.key,
    });
    const ours = await createTransferMessage({ ...PARTS, token: { ...USDC, tokenProgram } });
    expect(Buffer.from(ours).toString("hex")).toBe(Buffer.from(theirs.serialize()).toString("hex"));
  });

  it("with another fee payer has that one first and the sender second", async () => {
    const feePayer = FEE_PAYER.key.toBase58();
    const theirs = compile([limit(40_000), price(12_345n), transfer(), memo("b2")]);
    const ours = await createTransferMessage({ ...PARTS, memo: "b2", token: USDC, feePayer });
    expect(Buffer.from(ours).toString("hex")).toBe(Buffer.from(theirs.serialize()).toString("hex"));
  });

  it("with a long memo spells lengths over 127 as the chain reads them", async () => {
    const text = "long ".repeat(60);
    const theirs = compile([limit(40_000), price(12_345n), transfer(), memo(text)], { feePayer: PAYER.key });
    const ours = await createTransferMessage({ ...PARTS, memo: text, token: USDC });
    expect(Buffer.from(ours).toString("hex")).toBe(Buffer.from(theirs.serialize()).toString("hex"));
  });

  it("is refused where a number does not fit or an address is none, never bent to fit", async () => {
    for (const wrong of [
      { amount: 2n ** 64n },
      { amount: -1n },
      { unitPrice: 2n ** 64n },
      { units: 2 ** 32 },
      { units: 1.5 },
      { to: "nobody" },
      { blockhash: "11" },
      { token: { ...USDC, mint: "x" } },
    ]) {
      await expect(createTransferMessage({ ...PARTS, ...wrong })).rejects.toThrow(RangeError);
    }
    expect(() => compileMessage({ feePayer: new Uint8Array(31), blockhash: new Uint8Array(32), calls: [] })).toThrow(
      RangeError,
    );
  });
});

describe("an unsigned transfer", () => {
  it("is a transaction with zeroes for its signatures, which web3.js and our decoder read alike", async () => {
    const message = await createTransferMessage({ ...PARTS, token: USDC, feePayer: FEE_PAYER.key.toBase58() });
    const wire = toWire(message);
    const theirs = VersionedTransaction.deserialize(wire);
    expect(theirs.signatures).toEqual([new Uint8Array(64), new Uint8Array(64)]);
    const decoded = decodeTransaction(toBase64(wire));
    expect(decoded).toMatchObject({ ok: true, transaction: { version: 0, message, lookups: [] } });
    expect(Buffer.from(theirs.serialize())).toEqual(Buffer.from(wire));
  });

  it("that would be larger than a packet is refused", async () => {
    const message = await createTransferMessage({ ...PARTS, memo: "x".repeat(1_100) });
    expect(() => toWire(message)).toThrow(/at most 1232 bytes/);
  });

  it("has no room for a signature too many", async () => {
    const message = await createTransferMessage(PARTS);
    expect(() => toWire(message, [new Uint8Array(64), new Uint8Array(64)])).toThrow(RangeError);
  });
});

describe("a signed transfer", () => {
  it("of SOL keeps every static rule for transaction proofs, reference included", async () => {
    const message = await createTransferMessage(PARTS);
    const wire = toBase64(toWire(message, [await sign(message)]));
    expect(await verifyNativeStatic(wire, { payTo: PARTS.to, amount: AMOUNT })).toMatchObject({
      ok: true,
      payer: PARTS.from,
      lamports: AMOUNT,
      references: [REFERENCE],
    });
  });

  it("of a token for a seller's fee payer keeps every static rule for token payments", async () => {
    const message = await createTransferMessage({
      ...PARTS,
      token: USDC,
      feePayer: FEE_PAYER.key.toBase58(),
      units: 20_000,
      unitPrice: 1n,
      memo: randomMemo(),
    });
    const wire = toBase64(toWire(message, [undefined, await sign(message)]));
    expect(await verifyStatic(wire, TERMS)).toMatchObject({ ok: true, payer: PARTS.from, amount: AMOUNT });
  });

  it("without a reference carries a memo that is taken for none, and never twice the same", async () => {
    const message = await createTransferMessage({ ...PARTS, memo: randomMemo() });
    const wire = toBase64(toWire(message, [await sign(message)]));
    expect(await verifyNativeStatic(wire, { payTo: PARTS.to, amount: AMOUNT })).toMatchObject({ references: [] });
    expect(randomMemo()).not.toBe(randomMemo());
    expect(randomMemo()).toMatch(/^[0-9a-f]{32}$/);
  });
});
