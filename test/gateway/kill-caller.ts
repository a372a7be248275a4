// A caller of POST /transaction/send with a wallet of its own: it signs what is built for it and broadcasts it by its own node.
import { VersionedTransaction } from "@solana/web3.js";
import { createPublicClient, http, parseTransaction } from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import type { Sandbox, SolanaSandbox } from "../../src/testing/index.js";

export interface Caller {
  readonly address: string;
  /** Base64, as the gateway gives it. */
  broadcast(transaction: string): Promise<void>;
}

export async function newCaller(chain: Sandbox | SolanaSandbox): Promise<Caller> {
  if ("caip2" in chain) {
    const buyer = await chain.newBuyer();
    return {
      address: buyer.publicKey.toBase58(),
      async broadcast(text) {
        const transaction = VersionedTransaction.deserialize(Buffer.from(text, "base64"));
        transaction.sign([buyer]);
        await chain.connection().sendRawTransaction(transaction.serialize());
      },
    };
  }
  const buyer = await chain.newBuyer();
  await chain.native.setBalances([buyer.address], 10n ** 18n);
  return {
    address: buyer.address,
    async broadcast(text) {
      const { r, s, v, yParity, ...unsigned } = parseTransaction(`0x${Buffer.from(text, "base64").toString("hex")}`);
      const serializedTransaction = await buyer.signTransaction(
        unsigned as Parameters<PrivateKeyAccount["signTransaction"]>[0],
      );
      await createPublicClient({ transport: http(chain.rpcUrl) }).sendRawTransaction({ serializedTransaction });
    },
  };
}
