// The state machine of a payment as a pure function: the record, and what the chain was seen to say, give the record's next
// state. Evidence moves a payment forwards; "no node knows it" alone ends nothing but the wait for a caller's signature.
//
//   created, submitted --waiting, or in a young block--> submitted        --enough blocks--> confirmed --final--> finalized
//   confirmed --twice seen with too few blocks--> submitted                (reorganised away)
//   created, submitted --built, or a proof, and can never land--> expired  (what was sent here is repaired, or failed, by send/)
//   created, submitted --built on EVM, its time over, unseen--> expired    expired --arrives after all--> the states above, `late`
import type { ChainStanding, GatewayNetwork } from "../chain.js";
import type { PaymentChange } from "../database/database.js";
import { NEXT_STATUSES, type Payment, type PaymentStatus } from "../payment.js";
import { withReverted } from "../receive/pursuit.js";

/** What was seen of a payment: its transaction's standing, or that its proof can move nothing any more. */
export type Sight = (ChainStanding | { readonly state: "over"; readonly reason: string }) & {
  /** Atomic units that came, where that is more than the price. */
  readonly received?: bigint;
  /** A transaction of this gateway's that was mined in vain. */
  readonly reverted?: string;
};

type Mined = Extract<Sight, { state: "mined" }>;

export interface Transition {
  readonly status: PaymentStatus;
  readonly change: Omit<PaymentChange, "dueAt">;
  /** Nothing that the chain can still do concerns it. */
  readonly final: boolean;
}

/** A caller's transaction that was seen waiting may have been dropped: it counts as given up so long after its time. */
const DROPPED_MS = 10 * 60_000;

/** The next state of a payment; undefined = nothing was learned. `now`: epoch milliseconds by the database's clock. */
export function transit(
  payment: Payment,
  sight: Sight,
  network: Pick<GatewayNetwork, "network" | "confirmations">,
  now: number,
): Transition | undefined {
  const next = nextOf(payment, sight, network, now);
  const { pursuit } = payment;
  if (sight.reverted === undefined || pursuit.kind !== "settlement") return next;
  const marked = withReverted(pursuit, sight.reverted);
  if (marked === pursuit) return next;
  const { status, change, final } = next ?? going(payment.status, {});
  return { status, change: { ...change, pursuit: marked }, final };
}

function nextOf(
  payment: Payment,
  sight: Sight,
  network: Pick<GatewayNetwork, "network" | "confirmations">,
  now: number,
): Transition | undefined {
  switch (sight.state) {
    case "unreadable":
      return undefined;
    case "unseen":
      return payment.status === "confirmed"
        ? whenTooFew(payment, network, { confirmations: 0 })
        : whenUnseen(payment, now);
    case "waiting":
      if (payment.status === "confirmed") return whenTooFew(payment, network, { confirmations: 0 });
      return onItsWay(payment, { signature: sight.signature, blockHeight: null, confirmations: null, error: null });
    case "mined":
      return whenMined(payment, sight, network);
    case "impossible":
      if (isSent(payment)) return whenLost(payment);
      return whenOver(payment, sight.reason, sight.replacedBy !== undefined);
    case "over":
      return whenOver(payment, sight.reason, false);
  }
}

const going = (status: PaymentStatus, change: Transition["change"]): Transition => ({ status, change, final: false });

/** Submitted; what was given up has arrived after all. */
const onItsWay = (payment: Payment, change: Transition["change"]): Transition =>
  going("submitted", { ...change, ...lateness(payment) });

const lateness = ({ status }: Payment): Pick<PaymentChange, "late"> => (status === "expired" ? { late: true } : {});

/** Spec: design §7: on EVM the time limit is advisory, so what is given up is watched on. Solana's is evidence, not a clock. */
function whenUnseen(payment: Payment, now: number): Transition | undefined {
  const { status, flow, pursuit, expiresAt } = payment;
  const awaitsCaller = pursuit.kind === "evm" && flow !== "send" && (status === "created" || status === "submitted");
  if (!awaitsCaller || expiresAt === null) return undefined;
  const patience = status === "submitted" ? DROPPED_MS : 0;
  return now > expiresAt + patience ? going("expired", {}) : undefined;
}

function whenMined(
  payment: Payment,
  mined: Mined,
  network: Pick<GatewayNetwork, "network" | "confirmations">,
): Transition {
  const { signature, blockHeight, confirmations, fee, received } = mined;
  const facts = { signature, blockHeight, confirmations, fee };
  if (!mined.succeeded) return whenFailed(payment, mined, facts);
  const change = { ...facts, error: null, ...lateness(payment), ...(received !== undefined && { amount: received }) };
  if (mined.level === "finalized") return { status: "finalized", change, final: true };
  if (isConfirmed(mined, network)) return going("confirmed", change);
  if (payment.status === "confirmed") return whenTooFew(payment, network, change);
  return onItsWay(payment, change);
}

/** On EVM the operator's number of blocks, on Solana the commitment of that name. */
const isConfirmed = (
  { level, confirmations }: Mined,
  { network, confirmations: needed }: Pick<GatewayNetwork, "network" | "confirmations">,
): boolean => (network.family === "evm" ? confirmations >= needed : level !== "included");

/**
 * Invariant: a failure counts only when its block is final. In another block the same bytes could still succeed, and by then
 * what the payment had reserved would have been spent again.
 */
function whenFailed(payment: Payment, { level, reason }: Mined, facts: Transition["change"]): Transition {
  const error = failure(`the transaction failed on the chain${reason === undefined ? "" : `: ${reason}`}`);
  if (level !== "finalized") return onItsWay(payment, { ...facts, error });
  return { status: payment.status === "expired" ? "expired" : "failed", change: { ...facts, error }, final: true };
}

const failure = (message: string): NonNullable<Payment["error"]> => ({ code: "PAYMENT_VERIFICATION_FAILED", message });

/**
 * A confirmed payment that too few blocks show. One look may have met a node that lags, so the first one only writes the
 * number down; a second that finds no more takes the payment back.
 */
function whenTooFew(
  payment: Payment,
  { network, confirmations: needed }: Pick<GatewayNetwork, "network" | "confirmations">,
  seen: Transition["change"],
): Transition {
  const again = payment.confirmations !== null && payment.confirmations < (network.family === "evm" ? needed : 1);
  if (!again) return going("confirmed", { confirmations: network.family === "evm" ? (seen.confirmations ?? 0) : 0 });
  return going("submitted", { blockHeight: null, ...seen });
}

/** Sent from a wallet here, with bytes of ours. */
const isSent = ({ flow, pursuit }: Payment): boolean =>
  flow === "send" && (pursuit.kind === "evm" || pursuit.kind === "solana");

/** What was sent here may be signed anew, so it is not over yet: `repairSent` decides. */
const whenLost = ({ status }: Payment): Transition | undefined =>
  status === "confirmed" ? going("submitted", { blockHeight: null, confirmations: null }) : undefined;

/** It can never land, and nobody here can bring it back: its time is over. What had counted already has failed. */
function whenOver(payment: Payment, reason: string, replaced: boolean): Transition {
  const reachable = payment.status === "expired" || NEXT_STATUSES[payment.status].includes("expired");
  const status = reachable ? "expired" : "failed";
  const tells = status === "failed" || replaced;
  return {
    status,
    change: { confirmations: null, blockHeight: null, ...(tells && { error: failure(reason) }) },
    final: true,
  };
}
