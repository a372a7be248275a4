// What is no transfer of the buyer's: transactions of other types and shapes, and the right one with its bytes or its
// signature changed after it was signed.
import { concatHex, type Hex, keccak256, numberToHex, parseSignature, size, slice } from "viem";
import {
  listOf,
  MAX,
  type Nested,
  number,
  rightTransfer,
  signItems,
  signMembers,
  type TransferForgery,
  type TransferSale,
  typed,
  word,
} from "./transfer-bytes.js";

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** Other lists, types and signers than an EIP-1559 transfer of the buyer's. */
export async function otherTransactions(sale: TransferSale): Promise<TransferForgery[]> {
  const { buyer, pauper, payTo, chainId, nonce, maxFeePerGas } = sale;
  const right = rightTransfer(sale);
  const items = listOf(right);
  const { gas, to, value, data } = right;
  const legacy = { type: "legacy", chainId: Number(chainId), nonce: Number(nonce), gasPrice: maxFeePerGas } as const;
  const malformed: readonly (readonly [name: string, items: Nested[]])[] = [
    ["a recipient of 19 bytes", items.with(5, slice(payTo, 1))],
    ["a recipient of 21 bytes", items.with(5, concatHex([payTo, "0x00"]))],
    ...[0, 1, 2, 3, 4].map((at) => [`a zero before member ${at}`, padded(items, at)] as const),
    ["a member of 33 bytes", items.with(4, `0x${"11".repeat(33)}`)],
    ["a member too few", items.slice(0, 8)],
    ["a member too many", [...items, "0x01"]],
    ["a list for a number", items.with(6, [])],
  ];
  const types = { "0x01": false, "0x03": false, "0x04": false, "0x00": true, "0x05": true, "0x7f": true, "0x80": true };
  const made: readonly (readonly [name: string, raw: Promise<Hex>, ...codes: string[]])[] = [
    ...malformed.map(([name, wrong]) => [name, signItems(buyer, wrong), "payment_malformed"] as const),
    ["an access list", signItems(buyer, listOf(right, [[payTo, []]])), "payment_rejected"],
    ["a contract's creation", signItems(buyer, items.with(5, "0x")), "payment_rejected"],
    ["a legacy transaction", buyer.signTransaction({ ...legacy, gas, to, value, data }), "payment_rejected"],
    ...Object.entries(types).map(([type, unknown]) => {
      const code = unknown ? "payment_malformed" : "payment_rejected";
      return [`type ${type}`, signItems(buyer, items, type as Hex), code] as const;
    }),
    ["a signer who owns nothing", signMembers(pauper, { ...right, nonce: 0n }), "insufficient_funds"],
  ];
  const referred = await signMembers(buyer, { ...right, data: concatHex([data, word(3n)]) });
  const secret = {
    name: "the secret of another one",
    raw: referred,
    codes: ["payment_secret_required"],
    secret: word(4n),
  };
  return [...(await Promise.all(made.map(async ([name, raw, ...codes]) => ({ name, raw: await raw, codes })))), secret];
}

const padded = (items: readonly Nested[], at: number): Nested[] =>
  items.with(at, concatHex(["0x00", items[at] as Hex]));

/** The right transaction, its bytes changed after it was signed. */
export async function damagedTransfers(sale: TransferSale): Promise<TransferForgery[]> {
  const items = listOf(rightTransfer(sale));
  const hash = keccak256(typed("0x02", items));
  const { r, s, yParity } = parseSignature(await sale.buyer.sign({ hash }));
  const raw = await signItems(sale.buyer, items);
  const signedAs = (v: bigint, newR: bigint, newS: bigint) => typed("0x02", [...items, ...[v, newR, newS].map(number)]);
  const [v, R, S] = [BigInt(yParity), BigInt(r), BigInt(s)];
  // Another signature is that of another sender, who owns nothing, if it is one at all.
  const stranger = ["signature_invalid", "insufficient_funds", "payment_rejected"];
  const edges = [0n, 1n, ORDER / 2n + 1n, ORDER - 1n, ORDER, ORDER + 1n, MAX];
  const forged = (name: string, bytes: Hex, ...codes: readonly string[]) => ({ name, raw: bytes, codes });
  const bits = Array.from({ length: 40 }, (_, i) => Math.floor((i * size(raw) * 8) / 40) + (i % 8));
  return [
    forged("the high-s twin", signedAs(1n - v, R, ORDER - S), "signature_invalid"),
    forged("high s with the old parity", signedAs(v, R, ORDER - S), "signature_invalid"),
    forged("the other parity", signedAs(1n - v, R, S), ...stranger),
    forged("r and s swapped", signedAs(v, S, R), ...stranger),
    ...[2n, 27n, 28n, 35n, 2n * sale.chainId + 35n, MAX].map((parity) =>
      forged(`a parity of ${parity}`, signedAs(parity, R, S), "signature_invalid"),
    ),
    ...edges.map((edge) => forged(`r of ${edge}`, signedAs(v, edge, S), ...stranger)),
    ...edges.map((edge) => forged(`s of ${edge}`, signedAs(v, R, edge), ...stranger)),
    forged("no signature", typed("0x02", items), "payment_malformed"),
    forged("a signature of nothing", typed("0x02", [...items, "0x", "0x", "0x"]), "signature_invalid"),
    forged("a byte after it", concatHex([raw, "0x00"]), "payment_malformed"),
    forged("a byte before it", concatHex(["0x00", raw]), "payment_malformed"),
    forged("twice", concatHex([raw, raw]), "payment_malformed"),
    forged("its type alone", "0x02", "payment_malformed"),
    forged("without its type", slice(raw, 1), "payment_rejected", "payment_malformed"),
    ...[1, 2, 32, 64, 65].map((cut) =>
      forged(`${cut} bytes cut off`, slice(raw, 0, size(raw) - cut), "payment_malformed"),
    ),
    ...bits.map((bit) => forged(`bit ${bit} flipped`, flipBit(raw, bit), ...ANY)),
  ];
}

/** One bit makes of it bytes that are none, another transaction by somebody else, or one that is for nothing here. */
const ANY = [
  ...["payment_malformed", "payment_rejected", "signature_invalid", "insufficient_funds", "offer_mismatch"],
  ...["recipient_mismatch", "amount_mismatch", "payment_secret_required"],
];

const flipBit = (hex: Hex, bit: number): Hex =>
  numberToHex(BigInt(hex) ^ (1n << BigInt(size(hex) * 8 - 1 - bit)), { size: size(hex) });
