// Asks the chain where a payment stands: by its transaction where that is known or can be recognised, by the receiver's lookup
// where a proof decides. Only a lookup proves that a proof has paid; only the transaction's standing tells how finally.
import type { ChainStanding, GatewayNetwork } from "../chain.js";
import type { Payment, ProofPursuit, SettlementPursuit } from "../payment.js";
import { isOurCost } from "../receive/sponsor.js";
import type { Sight } from "./transitions.js";

/** Where a payment stands right now. Rejects only where a part of the gateway is at fault. */
export async function sightOf(network: GatewayNetwork, payment: Payment, signal: AbortSignal): Promise<Sight> {
  const { pursuit } = payment;
  switch (pursuit.kind) {
    case "evm":
    case "solana":
      return network.transfers.standing(pursuit, signal);
    case "proof":
    case "settlement":
      return sightOfProof(network, payment, pursuit, signal);
  }
}

async function sightOfProof(
  { receiver, transfers }: GatewayNetwork,
  payment: Payment,
  { trace }: ProofPursuit | SettlementPursuit,
  signal: AbortSignal,
): Promise<Sight> {
  const { signature } = payment;
  const lookup = await receiver.lookup({ ...trace, transaction: trace.transaction ?? signature }, signal);
  switch (lookup.outcome) {
    case "expired":
      return { state: "over", reason: OVER, ...(await revertOf(transfers, payment, signal)) };
    case "settled": {
      const standing = await transfers.standingOf(lookup.transaction, signal);
      const received = lookup.received === undefined ? {} : { received: lookup.received };
      return { ...whenPaid(standing, lookup.transaction), ...received };
    }
    // A trace of the gateway names no beginning, so nothing is older than it.
    case "too_old":
    case "unknown":
      return signature === null
        ? { state: "unseen" }
        : whenUnproven(payment, await transfers.standingOf(signature, signal));
  }
}

const OVER = "nothing was moved, and nothing can be any more";

/** Nobody asks of it again: the last moment at which a transaction that was mined in vain can be counted. */
async function revertOf(
  transfers: GatewayNetwork["transfers"],
  payment: Payment,
  signal: AbortSignal,
): Promise<Pick<Sight, "reverted">> {
  const { signature } = payment;
  if (signature === null || !isOurCost(payment) || payment.pursuit.reverted?.includes(signature)) return {};
  return whenReverted(payment, await transfers.standingOf(signature, signal));
}

/** Its own transaction, at this gateway's cost. */
const whenReverted = (payment: Payment, standing: ChainStanding): Pick<Sight, "reverted"> =>
  standing.state === "mined" && !standing.succeeded && isOurCost(payment) ? { reverted: standing.signature } : {};

/** The lookup has seen the money in a block. A node that says otherwise lags behind, or a reorganisation goes on. */
function whenPaid(standing: ChainStanding, transaction: string): Sight {
  if (standing.state === "mined" && !standing.succeeded) {
    return { state: "unreadable", message: `the chain contradicts itself about ${transaction}` };
  }
  return standing.state === "unseen" ? { state: "waiting", signature: transaction } : standing;
}

/**
 * Without the lookup's word the transaction proves nothing: one that was mined may have moved nothing, or something else,
 * and one that was reverted leaves the proof as good as it was.
 */
function whenUnproven(payment: Payment, standing: ChainStanding): Sight {
  if (standing.state !== "mined" && standing.state !== "impossible") return standing;
  if (standing.state === "mined" && standing.succeeded) {
    return {
      state: "unreadable",
      message: "the transaction is in a block, and the lookup has not found the payment in it",
    };
  }
  return { state: "unseen", ...whenReverted(payment, standing) };
}
