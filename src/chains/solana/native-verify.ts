// Verification of a payment in SOL: read-only, nothing is reserved and nothing is sent.
import type { Verification, VerifyContext } from "../../receive/receiver.js";
import type { SolanaChain } from "./chain.js";
import { judgeNative, type NativeProof, readNative } from "./native-judge.js";

/** Verifies a buyer's own transfer against its own requirement and the chain as it is now. Never rejects. */
export async function verifyNative(
  chain: SolanaChain,
  proof: NativeProof,
  { signal }: Pick<VerifyContext, "signal">,
): Promise<Verification> {
  const read = await readNative(chain, proof);
  if (!read.ok) return read.verdict;
  const judgement = await judgeNative(chain, proof, read, { signal });
  switch (judgement.outcome) {
    case "new":
      return { outcome: "valid", payer: judgement.transfer.payer, balance: judgement.balance };
    case "public":
      // The money has left its payer already: what he holds now says nothing.
      return { outcome: "valid", payer: judgement.transfer.payer, minedAt: judgement.minedAt };
    default:
      return judgement;
  }
}
