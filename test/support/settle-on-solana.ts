// The `settle` function of a scripted facilitator on Solana that really moves the money: the sandbox's fee payer signs slot 0
// and sends, and a confirmed block is waited for.
import { VersionedTransaction } from "@solana/web3.js";
import { encodeBase58 } from "../../src/chains/solana/base58.js";
import type { SolanaSandbox } from "../../src/testing/solana/sandbox.js";
import type { FacilitatorPayment } from "./scripted-facilitator.js";

/** Rejects when the transaction fails. */
export function settleOnSolana(sandbox: SolanaSandbox): (payment: FacilitatorPayment) => Promise<string> {
  const connection = sandbox.connection();
  return async (payment) => {
    if (!("transaction" in payment)) throw new Error("it settles transactions only");
    const transaction = VersionedTransaction.deserialize(Buffer.from(payment.transaction, "base64"));
    transaction.sign([sandbox.feePayer]);
    const until = await connection.getLatestBlockhash();
    const signature = encodeBase58(transaction.signatures[0]!);
    await connection.sendRawTransaction(transaction.serialize());
    const { value } = await connection.confirmTransaction({ signature, ...until });
    if (value.err !== null) throw new Error(`the transaction ${signature} failed`);
    return signature;
  };
}
