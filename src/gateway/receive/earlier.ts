// What an earlier request has done with this very proof, or under this very Idempotency-Key. Asked before anything is verified:
// the chain calls a proof used that this gateway has settled itself.
import { sha256 } from "../../hash.js";
import type { BoundProof } from "../../proof.js";
import type { Caller } from "../caller.js";
import type { Payments } from "../database/database.js";
import { type Fault, fault } from "../errors.js";
import type { GatewayParts } from "../parts.js";
import type { Payment } from "../payment.js";
import { alreadyUsed } from "./proof-value.js";

export type Earlier =
  /** `idempotency`: the name under which this request's record is found again. */
  { readonly outcome: "nothing"; readonly idempotency: string | null } | Repeated;

export type Repeated =
  /** The same request, by the same account: its one true answer is in the record. */
  { readonly outcome: "resume"; readonly payment: Payment } | { readonly outcome: "refused"; readonly fault: Fault };

/** Looks for what was done before, by key and by proof. `settle: false`: only what makes the proof worth nothing counts. */
export async function findEarlier(
  { database: { payments } }: Pick<GatewayParts, "database">,
  caller: Caller,
  proof: BoundProof,
  settle: boolean,
): Promise<Earlier> {
  const request = settle && caller.idempotency ? await findRequest(payments, caller.idempotency.id) : undefined;
  if (request?.made) return judgeRepeat(request.made, proof);
  const holder = await payments.byProof(proof.id);
  if (!holder || (!settle && isOwn(caller, holder) && isOpen(holder))) {
    return { outcome: "nothing", idempotency: request?.id ?? null };
  }
  return { outcome: "refused", fault: alreadyUsed(ownId(caller, holder)) };
}

/**
 * The record of an idempotent request. An attempt of which nothing was sent, for a reason of our own, leaves the proof as good as
 * it was: the repeat is a first request again, under a name that follows from that attempt.
 */
export async function findRequest(
  payments: Pick<Payments, "byIdempotency">,
  first: string,
): Promise<{ readonly id: string; readonly made: Payment | undefined }> {
  let id = first;
  for (;;) {
    const made = await payments.byIdempotency(id);
    if (!made || !isUnsent(made)) return { id, made };
    id = await sha256(["again", id, made.id].join("|"));
  }
}

const isUnsent = ({ status, error }: Payment): boolean =>
  status === "failed" && (error?.code === "UNAVAILABLE" || error?.code === "RATE_LIMIT");

/** A record that this idempotent request has made, at whatever point it is. */
export function judgeRepeat(made: Payment, proof: Pick<BoundProof, "id">): Repeated {
  if (made.proofId === proof.id) return { outcome: "resume", payment: made };
  const message = "this Idempotency-Key was used for another payment: another payment needs another key";
  return { outcome: "refused", fault: fault("CONFLICT", message, { paymentId: made.id }) };
}

const isOwn = ({ key }: Caller, { account, mode }: Payment): boolean => account === key.account && mode === key.mode;

/** Nothing has come of it so far. */
export const isOpen = ({ status }: Payment): boolean => status === "created" || status === "submitted";

/** The id of a record is told to its own account alone. */
export const ownId = (caller: Caller, payment: Payment): string | undefined =>
  isOwn(caller, payment) ? payment.id : undefined;
