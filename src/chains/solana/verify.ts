// Verification of a token payment: read-only, nothing is reserved and no signature of ours is made.
import type { Verification, VerifyContext } from "../../receive/receiver.js";
import type { SolanaChain } from "./chain.js";
import { judge, type SplProof } from "./judge.js";

/** Verifies a payment against its own requirement and the chain as it is now. Never rejects. */
export async function verifyOnSolana(
  chain: SolanaChain,
  proof: SplProof,
  { signal }: Pick<VerifyContext, "signal">,
): Promise<Verification> {
  const judgement = await judge(chain, proof, { signal });
  if (judgement.outcome !== "good") return judgement;
  return { outcome: "valid", payer: judgement.verified.payer, balance: judgement.balance };
}
