// Signed EVM transfers that are each wrong in one thing: every field of a type 2 transaction at its boundaries. None of them
// may buy anything, or be sent.
import { concatHex, type Hex, numberToHex, size, slice } from "viem";
import {
  MAX,
  type Members,
  rightTransfer,
  signMembers,
  type TransferForgery,
  type TransferSale,
  transferCall,
  word,
} from "./transfer-bytes.js";
import { damagedTransfers, otherTransactions } from "./transfer-damage.js";

const ZERO: Hex = `0x${"00".repeat(20)}`;
const lastBit = (hex: Hex): Hex => numberToHex(BigInt(hex) ^ 1n, { size: size(hex) });

/** All of them. */
export async function transferForgeries(sale: TransferSale): Promise<TransferForgery[]> {
  const fields = wrongFields(sale).map(async ([name, parts, ...codes]) => {
    return { name, raw: await signMembers(sale.buyer, { ...rightTransfer(sale), ...parts }), codes };
  });
  return [...(await Promise.all(fields)), ...(await otherTransactions(sale)), ...(await damagedTransfers(sale))];
}

type Wrong = readonly [name: string, parts: Partial<Members>, ...codes: readonly string[]];

function wrongFields(sale: TransferSale): Wrong[] {
  const { nonce, maxFeePerGas, baseFeePerGas } = sale;
  const each = <Field extends keyof Members>(
    field: Field,
    values: readonly Members[Field][],
    ...codes: readonly string[]
  ): Wrong[] => values.map((value) => [`${field} ${value}`, { [field]: value }, ...codes]);
  // What nobody can pay for is refused as that, or by the node that is asked to simulate it.
  const dear = ["insufficient_funds", "payment_rejected"];
  return [
    ...each("chainId", [0n, 1n, 8453n, 84531n, 84533n, 2n ** 53n, 2n ** 64n, MAX], "offer_mismatch"),
    ...each("nonce", [0n, nonce - 1n, nonce + 1n, nonce + 2n, 2n ** 32n, 2n ** 53n - 1n], "payment_rejected"),
    ...each("nonce", [2n ** 53n, 2n ** 64n - 2n, 2n ** 64n - 1n, 2n ** 64n, MAX], "payment_rejected"),
    ...each("maxPriorityFeePerGas", [maxFeePerGas + 1n, 2n ** 64n, 2n ** 128n, MAX], "payment_rejected"),
    ...[0n, 1n, baseFeePerGas, 2n * baseFeePerGas - 1n].map(
      (fee): Wrong => [`maxFeePerGas ${fee}`, { maxFeePerGas: fee, maxPriorityFeePerGas: 0n }, "payment_rejected"],
    ),
    ...each("maxFeePerGas", [2n ** 64n, 2n ** 128n, MAX], ...dear),
    ...each("gas", [0n, 1n, 20_999n], "payment_rejected"),
    ...each("gas", [2n ** 63n, 2n ** 64n - 1n, 2n ** 64n, MAX], ...dear),
    ...(sale.asset === "native" ? wrongCoins(sale) : wrongCalls(sale)),
  ];
}

/** What a transfer of the chain's currency may move, and to whom. */
function wrongCoins({ amount, payTo, token, buyer }: TransferSale): Wrong[] {
  const values = [0n, 1n, amount - 1n, amount + 1n, amount * 2n, amount << 64n, 2n ** 128n, MAX];
  const payees = [
    ZERO,
    lastBit(payTo),
    buyer.address,
    token,
    `0x${"00".repeat(19)}01`,
    `0x${"ff".repeat(20)}`,
  ] as Hex[];
  const calls: Hex[] = ["0x00", `0x${"11".repeat(31)}`, `0x${"11".repeat(33)}`, `0x${"00".repeat(64)}`];
  return [
    ...values.map((value): Wrong => [`value ${value}`, { value }, "amount_mismatch"]),
    ...payees.map((to): Wrong => [`to ${to}`, { to }, "recipient_mismatch"]),
    ...calls.map((data): Wrong => [`data ${data}`, { data }, "offer_mismatch"]),
    ["a call of a token with it", { data: transferCall(payTo, amount) }, "offer_mismatch"],
    ["a token's call of nothing", { data: transferCall(payTo, amount), value: 0n }, "offer_mismatch"],
    ["a reference and no secret", { data: `0x${"11".repeat(32)}` }, "payment_secret_required"],
  ];
}

/** What a call of the token may say. */
function wrongCalls(sale: TransferSale): Wrong[] {
  const { amount, payTo, buyer, token } = sale;
  const right = transferCall(payTo, amount);
  const selectors = ["0x23b872dd", "0x095ea7b3", "0x39509351", "0x40c10f19", "0x00000000", "0xa9059cba"] as Hex[];
  const amounts = [0n, 1n, amount - 1n, amount + 1n, amount * 2n, 2n ** 128n, MAX];
  const payees = [ZERO, lastBit(payTo), buyer.address, token];
  const dirty = concatHex(["0xa9059cbb", `0x01${word(payTo).slice(4)}`, word(amount)]);
  const lengths: Hex[] = [slice(right, 0, 4), slice(right, 0, 36), slice(right, 0, 67), concatHex([right, "0x00"])];
  const longer: Hex[] = [31, 33, 64].map((bytes) => concatHex([right, `0x${"11".repeat(bytes)}`]));
  return [
    ...[1n, amount, MAX].map((value): Wrong => [`value ${value} with it`, { value }, "offer_mismatch"]),
    ...[payTo, lastBit(token), buyer.address].map((to): Wrong => [`to ${to}`, { to }, "offer_mismatch"]),
    ...selectors.map(
      (selector): Wrong => [`selector ${selector}`, { data: concatHex([selector, slice(right, 4)]) }, "offer_mismatch"],
    ),
    ...amounts.map((value): Wrong => [`amount ${value}`, { data: transferCall(payTo, value) }, "amount_mismatch"]),
    ...payees.map((to): Wrong => [`payee ${to}`, { data: transferCall(to, amount) }, "recipient_mismatch"]),
    ...[...lengths, ...longer, dirty].map((data): Wrong => [`data ${data}`, { data }, "offer_mismatch"]),
    // A v1 proof names no asset, so there it is a payment in ETH to the token.
    ["an empty call", { data: "0x" }, "offer_mismatch", "recipient_mismatch"],
    ["a reference and no secret", { data: concatHex([right, `0x${"11".repeat(32)}`]) }, "payment_secret_required"],
  ];
}
