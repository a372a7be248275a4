// The known payment of protocol §4.3, byte for byte: 496 bytes, as the text there says.
import { createHash, sign } from "node:crypto";
import { describe, expect, it } from "vitest";
import { encodeBase58 } from "../../../src/chains/solana/base58.js";
import { associatedTokenAddress } from "../../../src/chains/solana/token-account.js";
import { decodeTransaction, messageHash } from "../../../src/chains/solana/transaction.js";
import { verifyStatic } from "../../../src/chains/solana/verify-static.js";
import { FEE_PAYER, TERMS } from "./payment.js";

const TRANSACTION =
  "AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAADioMKD4olPeVGuw0sHsQ/e1lb0l1dLxwVXqRQbn2Q3VDlw2AovatXu379NV+h+hXAZ7/xfv8DjyQ4r5cpfOLANgAIBBAiBOXcOqH0XX1ajVGbDTH7My42KkbTuN6Jd9g9bj8mzlIqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c7cY24EAeKcCZ6icDgGWR5uQL7sEJFQcCXbv+bWN2H+JV+thQPBxMwjPWtqNyWqVRT+6reJ6vIpZvcqLZQzHJWwMGRm/lIRcy/+ytunLDm+e8jOW7xfcSayxDmzpAAAAABt324ddloZPZy+FGzut5rBy0he1fWzeROoz1hX7/AKk7RCyzkSFX8TqTPQE0KC0DK1/+zQGi2/G3eQYI3wAupwVKU1qZKSEGTSTocWDaOHx8NbXdvJK7geQfqEBBBUSNCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkEBAAFAiBOAAAEAAkDAQAAAAAAAAAFBAIGAwEKDBAnAAAAAAAABgcAIDAwMTEyMjMzNDQ1NTY2Nzc4ODk5YWFiYmNjZGRlZWZmAA==";
const MEMO = "00112233445566778899aabbccddeeff";
const PAYER = "AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9";
const SOURCE = "H1AviagU5Y17z77v1F9qZPJ9kCbCsL4ewiZABNfGYoRs";
const DESTINATION = "6ndWAgFxMAVLobD8WrdBj5w41GrDeJYiQX91nNSrwkZp";
const HASH = "e3721c8a8866f713196186ec0cc79d46b0bc05f90cd06e87db68661c27c57d3b";
const ID = "463NE83WojiYYgbUZWRzGXpuWjPeZc1WEWKz1gAVoEgiPMSnyUS2SRpFXbB7yyRf4iifreLhMRFkbMy6FZG42sw8";

describe("the known payment", () => {
  it("is verified, with its payer, amount, accounts and fee", async () => {
    expect(await verifyStatic(TRANSACTION, { ...TERMS, memo: MEMO })).toMatchObject({
      ok: true,
      payer: PAYER,
      amount: 10_000n,
      decimals: 6,
      source: SOURCE,
      destination: DESTINATION,
      tokenProgram: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
      messageHash: HASH,
      feeLamports: 10_001n,
    });
  });

  it("has the known size, hash and, once the fee payer has signed, id", async () => {
    expect(Buffer.from(TRANSACTION, "base64").length).toBe(496);
    const decoded = decodeTransaction(TRANSACTION);
    if (!decoded.ok) throw new Error(decoded.problem);
    const { message, signatures, version } = decoded.transaction;
    expect(version).toBe(0);
    expect(signatures[0]).toEqual(new Uint8Array(64));
    expect(await messageHash(message)).toBe(HASH);
    expect(createHash("sha256").update(message).digest("hex")).toBe(HASH);
    expect(encodeBase58(sign(null, message, FEE_PAYER.secret))).toBe(ID);
  });

  it("moves money between the derived accounts of the payer and the seller", async () => {
    const program = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
    expect(await associatedTokenAddress(PAYER, TERMS.mint, program)).toBe(SOURCE);
    expect(await associatedTokenAddress(TERMS.payTo, TERMS.mint, program)).toBe(DESTINATION);
  });

  it("is one payment whatever stands in the fee payer's slot (A20)", async () => {
    for (let variant = 0; variant < 50; variant++) {
      const bytes = Buffer.from(TRANSACTION, "base64");
      for (let at = 1; at <= 64; at++) bytes[at] = (at * 37 + variant * 101) & 255;
      const verdict = await verifyStatic(bytes.toString("base64"), { ...TERMS, memo: MEMO });
      expect(verdict).toMatchObject({ ok: true, payer: PAYER, messageHash: HASH });
    }
  });
});
