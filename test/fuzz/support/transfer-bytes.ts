// A buyer's own EVM transaction, put together member by member, so that a forger can write what no wallet would: built and
// signed by viem's primitives, because what our reader reads must have been written by others.
import { concatHex, type Hex, keccak256, numberToHex, padHex, parseSignature, toRlp } from "viem";
import type { PrivateKeyAccount } from "viem/accounts";

/** What the forger knows of the sale. */
export interface TransferSale {
  readonly asset: "native" | Hex;
  readonly amount: bigint;
  readonly chainId: bigint;
  readonly payTo: Hex;
  readonly token: Hex;
  readonly buyer: PrivateKeyAccount;
  /** Has signed nothing yet and owns nothing. */
  readonly pauper: PrivateKeyAccount;
  /** The buyer's next. */
  readonly nonce: bigint;
  /** Wei that outlast the base fee of now many times over. */
  readonly maxFeePerGas: bigint;
  readonly baseFeePerGas: bigint;
}

export interface TransferForgery {
  readonly name: string;
  readonly raw: Hex;
  /** Codes of which the answer must have one. */
  readonly codes: readonly string[];
  readonly secret?: Hex;
}

/** The members in the order of EIP-1559, the access list left empty. */
export interface Members {
  readonly chainId: bigint;
  readonly nonce: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly maxFeePerGas: bigint;
  readonly gas: bigint;
  readonly to: Hex;
  readonly value: bigint;
  readonly data: Hex;
}

export type Nested = Hex | Nested[];
export const MAX = 2n ** 256n - 1n;
export const word = (value: bigint | Hex): Hex =>
  padHex(typeof value === "bigint" ? numberToHex(value) : value, { size: 32 });
export const number = (value: bigint): Hex => (value === 0n ? "0x" : evenHex(value));
const evenHex = (value: bigint): Hex => {
  const digits = value.toString(16);
  return `0x${digits.length % 2 ? "0" : ""}${digits}`;
};
export const transferCall = (to: Hex, amount: bigint): Hex => concatHex(["0xa9059cbb", word(to), word(amount)]);

/** The transaction that the sale asks for. */
export function rightTransfer({ asset, amount, chainId, payTo, nonce, maxFeePerGas }: TransferSale): Members {
  const fees = { chainId, nonce, maxPriorityFeePerGas: 10n ** 9n, maxFeePerGas };
  return asset === "native"
    ? { ...fees, gas: 30_000n, to: payTo, value: amount, data: "0x" }
    : { ...fees, gas: 100_000n, to: asset, value: 0n, data: transferCall(payTo, amount) };
}

export const listOf = (members: Members, accessList: Nested[] = []): Nested[] => {
  const { chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gas, to, value, data } = members;
  const head = [chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gas].map(number);
  return [...head, to, number(value), data, accessList];
};

export const typed = (type: Hex, items: Nested[]): Hex => concatHex([type, toRlp(items)]);

/** The items signed, whatever they are, under the type's byte. */
export async function signItems(account: PrivateKeyAccount, items: Nested[], type: Hex = "0x02"): Promise<Hex> {
  const signature = await account.sign({ hash: keccak256(typed(type, items)) });
  const { r, s, yParity } = parseSignature(signature);
  return typed(type, [...items, number(BigInt(yParity)), number(BigInt(r)), number(BigInt(s))]);
}

export const signMembers = (account: PrivateKeyAccount, members: Members): Promise<Hex> =>
  signItems(account, listOf(members));
