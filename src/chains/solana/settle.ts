// Moves the money of one token payment. The order is the promise: judged again, its life bounded, signed, announced
// (`sending`), sent, and believed only when it stands in a confirmed block. Before the first byte leaves, a failure is
// `refused` or `unavailable`; after it, everything else than that block is `unknown`.
import { type ErrorCode, reasonOf } from "../../errors.js";
import type { SettleContext, Settlement } from "../../receive/receiver.js";
import type { SolanaChain } from "./chain.js";
import { broadcast, readExpiry } from "./confirm.js";
import { watchGas } from "./gas.js";
import { judge, type SplProof } from "./judge.js";
import { signFirst } from "./sign.js";

/** Settles a payment. Never rejects; see `Receiver.settle` for the outcomes. */
export async function settleOnSolana(chain: SolanaChain, proof: SplProof, context: SettleContext): Promise<Settlement> {
  const { deadlineAt } = context;
  const refused = (code: ErrorCode, reason = reasonOf(code, proof.version)): Settlement => ({
    outcome: "refused",
    code,
    reason,
  });
  const judgement = await judge(chain, proof, { deadlineAt });
  if (judgement.outcome === "unavailable") return { outcome: "unavailable", message: judgement.message };
  if (judgement.outcome === "invalid") return refused(judgement.code, judgement.reason);
  // Not by this settlement, which has sent nothing: another process with this key has sold something for it.
  if (judgement.outcome === "used") return refused("payment_already_used");

  const { settler, slot, verified } = judgement;
  const bound = await readExpiry(chain.rpc, slot, { deadlineAt });
  if (!bound.ok) return { outcome: "unavailable", message: bound.message };
  const signed = await signFirst(settler, proof.transaction, verified.transaction.message);
  if (!signed) {
    const { address } = settler;
    chain.logger?.error("a settler cannot sign", { network: chain.network, settler: address });
    return { outcome: "unavailable", message: `the settler ${address} cannot sign` };
  }
  const { payer, feeLamports } = verified;
  const cost = { settler: settler.address, lamports: feeLamports };
  const sent = { ...signed, level: "confirmed", expiry: bound.expiry, payer, cost } as const;
  const settlement = await broadcast(chain, sent, context);
  watchGas(chain, settler.address);
  return settlement;
}
