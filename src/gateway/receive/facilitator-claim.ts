// Who is told of a settlement's success. Published servers hand out goods for every such answer, so it is given once: to the
// request that settled, or to the same payment sent again where that request was told `pending` or lost its process. Who sent an
// Idempotency-Key is told again under the same key.
import type { Caller } from "../caller.js";
import type { GatewayParts } from "../parts.js";
import type { Payment, SettlementPursuit } from "../payment.js";
import type { Asked } from "./facilitator-judge.js";
import { isSettlement, rebindProof } from "./pursuit.js";

/** What its record keeps of a settlement that was asked for by `POST /settle`. */
export const paidFor = (payment: Payment): SettlementPursuit | undefined =>
  payment.flow === "settle" && isSettlement(payment) ? payment.pursuit : undefined;

/** Is it this account's record of this very payment, signature and terms included? */
export async function isSamePayment(
  { logger }: Pick<GatewayParts, "logger">,
  { key }: Caller,
  { proof, terms }: Asked,
  holder: Payment,
): Promise<boolean> {
  const pursuit = paidFor(holder);
  if (!pursuit || holder.account !== key.account || holder.mode !== key.mode) return false;
  const before = await rebindProof(pursuit, terms.network, logger);
  if (!before.ok || before.value.digest !== proof.digest) return false;
  const [was, is] = [before.value.requirement, proof.requirement];
  return was.payTo === is.payTo && was.asset === is.asset && was.amount === is.amount;
}

/** A record that others change in between is read again so often. */
const MAX_TRIES = 8;

/** Takes the one success of a record; false where somebody has it. `idempotency`: the request that asks, where it has a key. */
export async function claimAnswer(
  { database: { payments } }: Pick<GatewayParts, "database">,
  idempotency: string | null,
  payment: Payment,
): Promise<boolean> {
  let current = payment;
  for (let attempt = 0; attempt < MAX_TRIES; attempt += 1) {
    const pursuit = paidFor(current);
    const counts = current.status === "confirmed" || current.status === "finalized";
    if (!pursuit || !counts) return false;
    // Invariant: compare-and-set, so that of two that ask at once, at however many processes, one is told.
    if (pursuit.answered) return idempotency !== null && current.idempotency === idempotency;
    const claimed = await payments.change(current, current.status, { pursuit: { ...pursuit, answered: true } });
    if (claimed) return true;
    current = (await payments.get(current.id)) ?? current;
  }
  throw new Error(`the record of payment ${payment.id} changes too often`);
}
