// The record of a built receive, and what is told of it: one for each proof, made when its collecting transaction is first built.
import { randomUUID } from "node:crypto";
import type { BoundProof } from "../../proof.js";
import type { Caller } from "../caller.js";
import type { NewPayment } from "../database/database.js";
import type { Fault, Outcome } from "../errors.js";
import type { GatewayParts } from "../parts.js";
import type { Payment } from "../payment.js";
import { isOpen, ownId } from "../receive/earlier.js";
import { alreadyUsed } from "../receive/proof-value.js";
import { createPursuit, withTransaction } from "../receive/pursuit.js";
import type { Wanted } from "../receive/requirement.js";
import type { BuildAnswer, BuildReceiveRequest } from "../schemas/index.js";
import { assetName, toNumber } from "../terms.js";
import type { Collecting, Collection } from "./collect.js";
import { estimatedConfirmation } from "./estimate.js";

/** What is told of a payment that is on the chain. */
export const PAID = {
  transaction: null,
  signatureRequired: false,
  lastValidBlockHeight: null,
  expiresAt: null,
} as const;

export type Holder =
  /** Its transaction was built and has not been seen on the chain: it may be built anew. */
  | { readonly outcome: "open"; readonly payment: Payment }
  | { readonly outcome: "paid"; readonly payment: Payment }
  | { readonly outcome: "refused"; readonly fault: Fault };

/** What was built for this proof before. Only its own account builds again, and only the same request is told that it is paid. */
export async function findHolder(
  { database, watcher }: GatewayParts,
  caller: Caller,
  proof: BoundProof,
): Promise<Holder | undefined> {
  const holder = await database.payments.byProof(proof.id);
  if (!holder) return undefined;
  const refused = { outcome: "refused", fault: alreadyUsed(ownId(caller, holder)) } as const;
  if (holder.flow !== "build_receive" || ownId(caller, holder) === undefined) return refused;
  const payment = isOpen(holder) ? await watcher.refresh(holder) : holder;
  if (payment.status === "created") return { outcome: "open", payment };
  const isRepeat = caller.idempotency !== undefined && payment.idempotency === caller.idempotency.id;
  const isPaid = payment.status === "confirmed" || payment.status === "finalized";
  return isRepeat && isPaid ? { outcome: "paid", payment } : refused;
}

/** The record of what was built: a new one, or that of the same proof. */
export async function recordBuilt(
  { database, now }: GatewayParts,
  caller: Caller,
  request: BuildReceiveRequest,
  collecting: Collecting,
  collection: Collection,
  open: Payment | undefined,
): Promise<Payment | Fault> {
  if (open) return open;
  const made = newPayment(caller, request, collecting, collection, now());
  const inserted = await database.payments.insert(made);
  if (inserted.outcome === "ok") return inserted.payment;
  // Of two that built at once, both have the same transaction to sign; a record has one of them.
  if (inserted.outcome === "over_limit") throw new Error("a received payment has no limit to be over");
  const { payment } = inserted;
  const isSame = payment.proofId === collecting.proof.id && payment.flow === "build_receive";
  return isSame && ownId(caller, payment) !== undefined ? payment : alreadyUsed(ownId(caller, payment));
}

function newPayment(
  { key, idempotency }: Caller,
  { resource }: BuildReceiveRequest,
  { wanted, proof }: Collecting,
  { id, fee, expiry, paid }: Collection,
  now: number,
): NewPayment {
  const { requirement, kind, validBefore } = proof;
  const pursuit = createPursuit(proof, randomUUID());
  const known = id === null ? pursuit : withTransaction(pursuit, id, { received: paid?.received });
  return {
    account: key.account,
    mode: key.mode,
    type: "received",
    flow: "build_receive",
    status: paid ? "confirmed" : "created",
    network: requirement.network,
    asset: requirement.asset,
    amount: paid?.received ?? wanted.amount,
    sender: proof.payer,
    recipient: requirement.payTo,
    signature: paid ? id : null,
    // Nothing was taken yet by what nobody has signed.
    fee: paid ? fee : null,
    resource: resource ?? null,
    metadata: null,
    expiresAt: kind === "authorization" ? validBefore * 1000 : null,
    proofId: proof.id,
    wallet: null,
    idempotency: idempotency?.id ?? null,
    sealed: null,
    pursuit: expiry ? { ...known, trace: { ...known.trace, expiry } } : known,
    dueAt: now + Math.max(wanted.network.network.blockMs, 1_000),
  };
}

export function toAnswer(
  { network, asset }: Wanted,
  payment: Payment,
  { transaction, signatureRequired, lastValidBlockHeight, expiresAt }: Pick<Collection, keyof typeof PAID>,
): Outcome<BuildAnswer> {
  return {
    ok: true,
    value: {
      success: true,
      paymentId: payment.id,
      status: payment.status,
      transaction,
      signatureRequired,
      network: payment.network,
      asset: assetName(network, payment.asset),
      amount: toNumber(payment.amount, asset.decimals),
      amountAtomic: payment.amount.toString(),
      sender: payment.sender,
      recipient: payment.recipient,
      lastValidBlockHeight,
      expiresAt: expiresAt === null ? null : Math.floor(expiresAt / 1000),
      secret: null,
      estimatedConfirmation: estimatedConfirmation(network),
    },
  };
}
