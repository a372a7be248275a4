// The second opinion: what web3.js, spl-token, noble and Node say about the same bytes.
import { randomBytes } from "node:crypto";
import { getAssociatedTokenAddressSync, TOKEN_2022_PROGRAM_ID, TOKEN_PROGRAM_ID } from "@solana/spl-token";
import { AddressLookupTableAccount, PublicKey, TransactionInstruction, VersionedTransaction } from "@solana/web3.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeAddress, decodeBase58, encodeBase58 } from "../../../src/chains/solana/base58.js";
import { isOnCurve } from "../../../src/chains/solana/curve.js";
import { feeLamports, readTransferChecked } from "../../../src/chains/solana/instructions.js";
import { associatedTokenAddress } from "../../../src/chains/solana/token-account.js";
import { decodeTransaction, MAX_TRANSACTION_BYTES } from "../../../src/chains/solana/transaction.js";
import { CLIENTS, compile, encode, patch, pay, wire } from "./payment.js";

const SEEDED = { seed: 402, numRuns: 300 };
const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
const key = bytes32.map((bytes) => new PublicKey(bytes));
/** Few keys, so that instructions share accounts and programs. */
const instruction = (keys: readonly PublicKey[]) =>
  fc.record({
    programId: fc.constantFrom(...keys.slice(0, 3)),
    keys: fc.array(
      fc.record({ pubkey: fc.constantFrom(...keys.slice(3)), isSigner: fc.boolean(), isWritable: fc.boolean() }),
      { maxLength: 6 },
    ),
    data: fc.uint8Array({ maxLength: 40 }).map((data) => Buffer.from(data)),
  });
const transactions = fc
  .uniqueArray(key, { minLength: 9, maxLength: 9, selector: (one) => one.toBase58() })
  .chain((keys) =>
    fc.record({
      version: fc.constantFrom("legacy" as const, 0 as const),
      table: fc.boolean(),
      keys: fc.constant(keys),
      instructions: fc.array(instruction(keys), { minLength: 1, maxLength: 5 }),
    }),
  );

describe("decoding", () => {
  it("agrees with web3.js on legacy and v0 messages, with and without lookup tables", () => {
    let looked = 0;
    fc.assert(
      fc.property(transactions, ({ version, table, keys, instructions }) => {
        const [feePayer, ...others] = keys as [PublicKey, ...PublicKey[]];
        const tables = table
          ? [new AddressLookupTableAccount({ key: PublicKey.default, state: tableOf(others.slice(4)) })]
          : [];
        const message = compile(
          instructions.map((fields) => new TransactionInstruction({ ...fields, programId: others[0]! })),
          { feePayer, version, tables },
        );
        const bytes = wire(message);
        const theirs = VersionedTransaction.deserialize(bytes);
        const decoded = decodeTransaction(bytes.toString("base64"));
        if (!decoded.ok) throw new Error(decoded.problem);
        const ours = decoded.transaction;
        looked += ours.lookups.length;
        expect(ours.version).toBe(theirs.version);
        expect(ours.header).toEqual({
          requiredSignatures: theirs.message.header.numRequiredSignatures,
          readonlySigned: theirs.message.header.numReadonlySignedAccounts,
          readonlyUnsigned: theirs.message.header.numReadonlyUnsignedAccounts,
        });
        expect(ours.signatures.map(hex)).toEqual(theirs.signatures.map(hex));
        expect(hex(ours.message)).toBe(hex(theirs.message.serialize()));
        expect(ours.keys.map(encodeBase58)).toEqual(theirs.message.staticAccountKeys.map((one) => one.toBase58()));
        expect(encodeBase58(ours.recentBlockhash)).toBe(theirs.message.recentBlockhash);
        expect(ours.instructions.map(({ program, accounts, data }) => [program, [...accounts], hex(data)])).toEqual(
          theirs.message.compiledInstructions.map((one) => [
            one.programIdIndex,
            [...one.accountKeyIndexes],
            hex(one.data),
          ]),
        );
        expect(ours.lookups.map(({ table, writable, readonly }) => [hex(table), writable, readonly])).toEqual(
          theirs.message.addressTableLookups.map((one) => [
            hex(one.accountKey.toBytes()),
            [...one.writableIndexes],
            [...one.readonlyIndexes],
          ]),
        );
      }),
      SEEDED,
    );
    expect(looked).toBeGreaterThan(20);
  });

  it("answers any bytes and any text with a value", () => {
    const good = Buffer.from(pay(), "base64");
    const spoilt = fc.tuple(fc.nat(good.length - 1), fc.nat(255), fc.nat(good.length)).map(([at, byte, end]) => {
      const copy = Buffer.from(good);
      copy[at] = byte;
      return copy.subarray(0, Math.max(end, at)).toString("base64");
    });
    const noise = fc.uint8Array({ maxLength: 1_400 }).map((bytes) => Buffer.from(bytes).toString("base64"));
    let read = 0;
    fc.assert(
      fc.property(fc.oneof(spoilt, noise, fc.string({ maxLength: 3_000 })), (text) => {
        const decoded = decodeTransaction(text);
        if (decoded.ok) read++;
        else expect(decoded.problem.length).toBeGreaterThan(5);
      }),
      { seed: 402, numRuns: 5_000 },
    );
    expect(read).toBeLessThan(2_500);
  });

  it("reads a transaction of the network's packet size and not one byte more", () => {
    const fill = (length: number) => Buffer.from(pay([memoOf(length)]), "base64");
    const room = MAX_TRANSACTION_BYTES - fill(900).length + 900;
    expect(fill(room).length).toBe(MAX_TRANSACTION_BYTES);
    expect(decodeTransaction(fill(room).toString("base64")).ok).toBe(true);
    expect(decodeTransaction(fill(room + 1).toString("base64"))).toMatchObject({ ok: false });
  });

  it("refuses what the chain's loader refuses: bytes at the end, long lengths, other versions", () => {
    const good = Buffer.from(pay(), "base64");
    const refusals = {
      "bytes after the end of the message": Buffer.concat([good, Uint8Array.of(0)]),
      "the bytes end too early": good.subarray(0, -1),
      "a length is not spelled in its shortest form": Buffer.concat([Uint8Array.of(0x82, 0), good.subarray(1)]),
      "a length has more than three bytes": Buffer.concat([Uint8Array.of(0x82, 0x80, 0x80, 0), good.subarray(1)]),
      "a length is larger than 65535": Buffer.concat([Uint8Array.of(0xff, 0xff, 0x7f), good.subarray(1)]),
      "3 signatures where the header requires 2": Buffer.concat([
        Uint8Array.of(3),
        good.subarray(1, 129),
        Buffer.alloc(64),
        good.subarray(129),
      ]),
      "a message version that is neither legacy nor 0": Buffer.from(good).fill(0x81, 129, 130),
    };
    for (const [problem, bytes] of Object.entries(refusals)) {
      expect(decodeTransaction(bytes.toString("base64"))).toEqual({ ok: false, problem });
    }
  });

  it("refuses lookups that load nothing, or more than an index can name", () => {
    const lookup = (count: number) => ({
      addressTableLookups: [
        {
          accountKey: PublicKey.default,
          writableIndexes: Array.from({ length: count }, (_, i) => i),
          readonlyIndexes: [],
        },
      ],
    });
    const decode = (count: number) => decodeTransaction(encode(patch(compile(CLIENTS.ts1!()), lookup(count))));
    const keys = compile(CLIENTS.ts1!()).staticAccountKeys.length;
    expect(decode(0)).toMatchObject({ problem: "an empty lookup" });
    expect(decode(256 - keys)).toMatchObject({ ok: true });
    expect(decode(257 - keys)).toMatchObject({ problem: "more than 256 keys" });
  });

  it("does not read text that is too long for a transaction", () => {
    expect(decodeTransaction("?".repeat(1_645))).toEqual({ ok: false, problem: "more than 1232 bytes" });
  });

  it("takes one spelling of base64 only", () => {
    const good = pay();
    const padded = /^(.*)(.)==$/.exec(Buffer.from(good, "base64").subarray(0, 400).toString("base64"));
    expect(padded).not.toBeNull();
    for (const text of [good.replaceAll("A", "A\n"), `${good} `, `${good.replace(/=+$/, "")}-`, `${padded![1]}B==`]) {
      expect(decodeTransaction(text)).toMatchObject({ problem: "the transaction is not standard, padded base64" });
    }
  });
});

describe("keys", () => {
  it("are written and read as web3.js does", () => {
    fc.assert(
      fc.property(bytes32, (bytes) => {
        const text = encodeBase58(bytes);
        expect(text).toBe(new PublicKey(bytes).toBase58());
        expect(decodeAddress(text)).toEqual(Uint8Array.from(bytes));
      }),
      SEEDED,
    );
    expect(encodeBase58(new Uint8Array(32))).toBe("1".repeat(32));
    expect(decodeBase58("1".repeat(32))).toEqual(new Uint8Array(32));
  });

  it("are refused where they are not 32 bytes in base58", () => {
    const good = new PublicKey(Buffer.alloc(32, 7)).toBase58();
    for (const text of [
      `${good}1`,
      good.slice(1),
      `0${good.slice(1)}`,
      "",
      "1".repeat(45),
      undefined,
      7,
      "é".repeat(40),
    ]) {
      expect(decodeAddress(text)).toBeUndefined();
    }
    expect(decodeBase58("1".repeat(89))).toBeUndefined();
  });

  it("are on the curve or not as web3.js says", () => {
    fc.assert(
      fc.property(bytes32, (bytes) => {
        expect(isOnCurve(bytes)).toBe(PublicKey.isOnCurve(bytes));
      }),
      SEEDED,
    );
  });

  it("derive the token account that spl-token derives, for either program", async () => {
    await fc.assert(
      fc.asyncProperty(
        key,
        key,
        fc.constantFrom(TOKEN_PROGRAM_ID, TOKEN_2022_PROGRAM_ID),
        async (owner, mint, program) => {
          const theirs = getAssociatedTokenAddressSync(mint, owner, true, program).toBase58();
          const [one, two, three] = [owner.toBase58(), mint.toBase58(), program.toBase58()];
          expect(await associatedTokenAddress(one, two, three)).toBe(theirs);
          expect(await associatedTokenAddress(one, two, three)).toBe(theirs);
        },
      ),
      { seed: 402, numRuns: 60 },
    );
    expect(await associatedTokenAddress("nobody", PublicKey.default.toBase58(), "nothing")).toBeUndefined();
  });
});

it("counts the fee exactly, rounded up, also where a float would not", () => {
  expect(feeLamports({ signatures: 2, units: 20_000, unitPrice: 0n })).toBe(10_000n);
  expect(feeLamports({ signatures: 2, units: 20_000, unitPrice: 1n })).toBe(10_001n);
  expect(feeLamports({ signatures: 1, units: 1_000_000, unitPrice: 1n })).toBe(5_001n);
  expect(feeLamports({ signatures: 1, units: 1_000_001, unitPrice: 1n })).toBe(5_002n);
  expect(feeLamports({ signatures: 2, units: 4_294_967_295, unitPrice: 2n ** 64n - 1n })).toBe(
    10_000n + (4_294_967_295n * (2n ** 64n - 1n) + 999_999n) / 1_000_000n,
  );
});

it("reads an amount as unsigned", () => {
  const data = Uint8Array.of(12, ...new Uint8Array(8).fill(255), 6);
  expect(readTransferChecked(data)).toEqual({ amount: 2n ** 64n - 1n, decimals: 6 });
});

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const memoOf = (length: number) =>
  new TransactionInstruction({ programId: PublicKey.default, keys: [], data: randomBytes(length) });

function tableOf(addresses: PublicKey[]) {
  return {
    addresses,
    deactivationSlot: 2n ** 64n - 1n,
    lastExtendedSlot: 0,
    lastExtendedSlotStartIndex: 0,
  };
}
