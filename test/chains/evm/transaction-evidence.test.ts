import { describe, expect, it } from "vitest";
import type { Log, Receipt } from "../../../src/chains/evm/answers.js";
import { amountPaid, TRANSFER } from "../../../src/chains/evm/evidence.js";
import { addressWord, type Hex, word } from "../../../src/chains/evm/hex.js";
import type { SignedTransaction } from "../../../src/chains/evm/transaction.js";
import { NATIVE } from "../../../src/requirement.js";

const sender: Hex = `0x${"aa".repeat(20)}`;
const payTo: Hex = `0x${"bb".repeat(20)}`;
const token: Hex = `0x${"cc".repeat(20)}`;
const other: Hex = `0x${"dd".repeat(20)}`;
const hash: Hex = `0x${"01".repeat(32)}`;
const signature = { chainId: 1n, nonce: 0n, maxPriorityFeePerGas: 1n, maxFeePerGas: 1n, gas: 1n, raw: "0x02" } as const;

const native: SignedTransaction = { ...signature, hash, sender, to: payTo, value: 10n, data: "0x" };
const transfer: SignedTransaction = {
  ...signature,
  hash,
  sender,
  to: token,
  value: 0n,
  data: `0xa9059cbb${addressWord(payTo)}${word(10)}`,
};
const moved = (from: Hex, to: Hex, value: bigint, parts: Partial<Log> = {}): Log => ({
  address: token,
  topics: [TRANSFER, `0x${addressWord(from)}`, `0x${addressWord(to)}`],
  data: `0x${word(value)}`,
  logIndex: 0n,
  transactionHash: hash,
  ...parts,
});
const receipt = (logs: readonly Log[] = [], parts: Partial<Receipt> = {}): Receipt => ({
  transactionHash: hash,
  status: "0x1",
  blockNumber: 5n,
  logs: [...logs],
  ...parts,
});
const terms = { payTo, amount: 10n };

describe("what a transaction has paid", () => {
  it("is the value of native currency, whatever was asked for less", () => {
    expect(amountPaid(native, receipt(), { ...terms, asset: NATIVE })).toBe(10n);
    expect(amountPaid(native, receipt(), { ...terms, asset: NATIVE, amount: 7n })).toBe(10n);
  });

  it("is what the token's own Transfer says, and not what its calldata wishes", () => {
    const paid = (...logs: Log[]) => amountPaid(transfer, receipt(logs), { ...terms, asset: token });
    expect(paid(moved(sender, payTo, 10n))).toBe(10n);
    expect(paid(moved(sender, payTo, 12n))).toBe(12n);
    expect(paid(moved(sender, other, 3n), moved(sender, payTo, 10n))).toBe(10n);
    expect(paid()).toBeUndefined();
    expect(paid(moved(sender, payTo, 9n))).toBeUndefined();
    expect(paid(moved(other, payTo, 10n))).toBeUndefined();
    expect(paid(moved(sender, other, 10n))).toBeUndefined();
    expect(paid(moved(sender, payTo, 10n, { address: other }))).toBeUndefined();
    expect(paid(moved(sender, payTo, 10n, { removed: true }))).toBeUndefined();
    expect(paid(moved(sender, payTo, 10n, { topics: [TRANSFER] }))).toBeUndefined();
    expect(paid(moved(sender, payTo, 10n), moved(payTo, other, 1n))).toBeUndefined();
  });

  it("is nothing where it was reverted, or the receipt is another transaction's", () => {
    const log = moved(sender, payTo, 10n);
    for (const [transaction, asset] of [
      [native, NATIVE],
      [transfer, token],
    ] as const) {
      const reverted = receipt([log], { status: "0x0" });
      const foreign = receipt([log], { transactionHash: `0x${"02".repeat(32)}` });
      expect(amountPaid(transaction, reverted, { ...terms, asset })).toBeUndefined();
      expect(amountPaid(transaction, foreign, { ...terms, asset })).toBeUndefined();
      expect(amountPaid(transaction, receipt([log]), { ...terms, asset })).toBe(10n);
    }
  });

  it("is nothing of another asset, to another payee, or of less", () => {
    const log = moved(sender, payTo, 10n);
    expect(amountPaid(native, receipt([log]), { ...terms, asset: token })).toBeUndefined();
    expect(amountPaid(transfer, receipt([log]), { ...terms, asset: NATIVE })).toBeUndefined();
    expect(amountPaid(native, receipt(), { ...terms, asset: NATIVE, payTo: other })).toBeUndefined();
    expect(amountPaid(native, receipt(), { ...terms, asset: NATIVE, amount: 11n })).toBeUndefined();
    expect(amountPaid({ ...native, data: "0x12" }, receipt(), { ...terms, asset: NATIVE })).toBeUndefined();
  });
});
