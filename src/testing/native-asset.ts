// The chain's own currency on a local EVM chain: held, given and moved. Amounts are wei.
import { type Address, getAddress, type Hex } from "viem";
import * as z from "zod/mini";
import type { Anvil } from "./anvil.js";
import type { Transfer } from "./token.js";

export interface NativeAsset {
  balanceOf(account: Address): Promise<bigint>;
  /** Makes money out of nothing, on top of what is there: no block, works while mining is off. */
  mint(to: Address, value: bigint): Promise<void>;
  /** Writes the balances: no block, works while mining is off. */
  setBalances(accounts: readonly Address[], value: bigint): Promise<void>;
  /** Plain transfers that succeeded and moved something, oldest first; their number is the number of debits. */
  transfers(filter?: { from?: Address; to?: Address }): Promise<Transfer[]>;
}

const transactionSchema = z.object({
  hash: z.string(),
  from: z.string(),
  to: z.nullable(z.string()),
  value: z.string(),
});
const blockSchema = z.object({ number: z.string(), transactions: z.array(transactionSchema) });
const receiptSchema = z.object({ status: z.string() });

/** Transfers are found by reading every block, which a chain of a test has few of. */
export function createNativeAsset(chain: Anvil): NativeAsset {
  const balanceOf = async (account: Address): Promise<bigint> =>
    BigInt(z.string().parse(await chain.rpc("eth_getBalance", [account, "latest"])));
  const setBalances = async (accounts: readonly Address[], value: bigint): Promise<void> => {
    const wei = `0x${value.toString(16)}`;
    await chain.batch(accounts.map((account) => ["anvil_setBalance", [account, wei]]));
  };
  return {
    balanceOf,
    setBalances,
    mint: async (to, value) => setBalances([to], (await balanceOf(to)) + value),
    async transfers({ from, to } = {}) {
      const height = Number(z.string().parse(await chain.rpc("eth_blockNumber")));
      const numbers = Array.from({ length: height + 1 }, (_, number) => `0x${number.toString(16)}`);
      const blocks = await chain.batch(numbers.map((number) => ["eth_getBlockByNumber", [number, true]]));
      const moved = z
        .array(blockSchema)
        .parse(blocks)
        .flatMap(({ number, transactions }) => transactions.map((one) => ({ ...one, block: BigInt(number) })))
        .filter((one) => BigInt(one.value) > 0n && is(one.from, from) && is(one.to, to));
      const receipts = await chain.batch(moved.map(({ hash }) => ["eth_getTransactionReceipt", [hash]]));
      return z
        .array(receiptSchema)
        .parse(receipts)
        .flatMap(({ status }, index) => {
          const one = moved[index];
          if (status !== "0x1" || !one?.to) return [];
          const { value, hash, block } = one;
          return [
            {
              from: getAddress(one.from),
              to: getAddress(one.to),
              value: BigInt(value),
              transaction: hash as Hex,
              block,
            },
          ];
        });
    },
  };
}

const is = (got: string | null, wanted: Address | undefined): boolean =>
  wanted === undefined || got?.toLowerCase() === wanted.toLowerCase();
