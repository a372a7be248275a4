// What the two chains show of a gateway: how often its hosted wallets have sent, and which transactions were in vain.
import { PublicKey } from "@solana/web3.js";
import * as z from "zod/mini";
import type { SolanaSandbox } from "../../src/testing/index.js";
import type { Family, KillWorld } from "./kill-world.js";

type Chains = Pick<KillWorld, "evm" | "solana">;

const block = z.object({ transactions: z.array(z.string()) });
const receipt = z.object({ status: z.string(), transactionHash: z.string() });

/** Transactions of a hosted wallet, whatever they did. */
export async function sentBy(
  { evm, solana }: Chains,
  { family, address }: { readonly family: Family; readonly address: string },
): Promise<number> {
  if (family === "evm") return Number(await evm.chain.rpc("eth_getTransactionCount", [address, "latest"]));
  return (await signaturesOf(solana, address)).filter(({ err }) => err === null).length;
}

const signaturesOf = (solana: SolanaSandbox, address: string) =>
  solana.connection().getSignaturesForAddress(new PublicKey(address));

/** Transactions in a block that failed, on either chain: a payment that is sent twice makes one. */
export async function failedTransactions(
  { evm, solana }: Chains,
  ...wallets: readonly string[]
): Promise<readonly string[]> {
  const height = Number(await evm.chain.rpc("eth_blockNumber"));
  const failed: string[] = [];
  for (let number = 0; number <= height; number += 1) {
    const { transactions } = block.parse(
      await evm.chain.rpc("eth_getBlockByNumber", [`0x${number.toString(16)}`, false]),
    );
    for (const hash of transactions) {
      const { status } = receipt.parse(await evm.chain.rpc("eth_getTransactionReceipt", [hash]));
      if (status !== "0x1") failed.push(hash);
    }
  }
  for (const address of [...wallets, solana.feePayer.publicKey.toBase58()]) {
    const failures = (await signaturesOf(solana, address)).filter(({ err }) => err !== null);
    failed.push(...failures.map(({ signature }) => signature));
  }
  return failed;
}
