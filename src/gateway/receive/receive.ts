// `POST /payment/receive`: verifies a proof against what the request asks for, and settles it. Granted once, globally; the same
// answer again only to the same account and Idempotency-Key. Source: gateway-spec, design §7.
import type { BoundProof } from "../../proof.js";
import type { Receiver } from "../../receive/receiver.js";
import type { Caller } from "../caller.js";
import type { Engine } from "../engine.js";
import type { Outcome } from "../errors.js";
import type { GatewayParts } from "../parts.js";
import type { Payment } from "../payment.js";
import type { ReceiveAnswer, ReceiveRequest } from "../schemas/index.js";
import { answerRecord, answerVerified } from "./answer.js";
import { findEarlier, isOpen, judgeRepeat, ownId } from "./earlier.js";
import { FOREIGN_FEE_PAYER, openForeign } from "./foreign.js";
import { beginGrant, within } from "./grant.js";
import { memoryOf, readBoundProof, readWanted } from "./prepare.js";
import { alreadyUsed } from "./proof-value.js";
import { isSettlement } from "./pursuit.js";
import { judgeTokenAccount } from "./recipient.js";
import type { Wanted } from "./requirement.js";
import { type PermittedUrl, permitUrl, type Resolve } from "./safe-url.js";
import { judgeSponsored } from "./sponsor.js";
import { outOfTime, refuseVerdict, verifyProof } from "./verify.js";

export interface ReceiveOptions {
  /** In place of the system's resolver, for the names of foreign facilitators. */
  readonly resolve?: Resolve;
}

/** One request, read; its proof is for what is wanted. */
interface Receiving {
  readonly caller: Caller;
  readonly request: ReceiveRequest;
  readonly wanted: Wanted;
  readonly proof: BoundProof;
  readonly idempotency: string | null;
  /** Epoch milliseconds at which the caller has waited long enough. */
  readonly deadlineAt: number;
  readonly since: number;
}

/** Who verifies and settles: this gateway's own receiver, or a foreign one by its URL. */
interface Through {
  readonly receiver: Pick<Receiver, "verify" | "settle">;
  readonly facilitatorUrl?: string;
}

type Answer = Outcome<ReceiveAnswer>;

/** @example const engine = { ...others, receive: createReceive(parts) }; */
export const createReceive =
  (parts: GatewayParts, options: ReceiveOptions = {}): Engine["receive"] =>
  (caller, request) =>
    receive(parts, options, caller, request);

async function receive(
  parts: GatewayParts,
  options: ReceiveOptions,
  caller: Caller,
  request: ReceiveRequest,
): Promise<Answer> {
  const { logger, settings, database, now } = parts;
  const deadlineAt = now() + request.timeout * 1000;
  const { facilitatorUrl } = request;
  const url = facilitatorUrl === undefined ? undefined : permitUrl(facilitatorUrl, settings.facilitatorUrls);
  if (url && !url.ok) return url;
  const wanted = await readWanted(parts, caller, request);
  if (!wanted.ok) return wanted;
  const bound = await readBoundProof(wanted.value, request, { logger, ...(url && FOREIGN_FEE_PAYER) });
  if (!bound.ok) return bound;
  const proof = bound.value;
  const earlier = await findEarlier(parts, caller, proof, request.settle);
  if (earlier.outcome === "refused") return earlier.fault;
  if (earlier.outcome === "resume") return resume(parts, wanted.value, earlier.payment, deadlineAt);
  const since = await memoryOf(database, caller.key.account);
  const { idempotency } = earlier;
  const receiving = { caller, request, wanted: wanted.value, proof, idempotency, deadlineAt, since };
  if (url) return receiveThrough(parts, options, receiving, url.value);
  return judgeSponsored(wanted.value, proof) ?? verifyAndSettle(parts, receiving, wanted.value.network);
}

/** By a foreign facilitator: it is opened for this request, and closed when the request is answered. */
async function receiveThrough(
  parts: GatewayParts,
  options: ReceiveOptions,
  receiving: Receiving,
  url: PermittedUrl,
): Promise<Answer> {
  const { logger, now } = parts;
  const { proof, deadlineAt } = receiving;
  const opened = await openForeign(url, proof, { ...options, logger, now, deadlineAt });
  if (!opened.ok) return opened;
  const foreign = opened.value;
  try {
    const through = { receiver: foreign.receiver, facilitatorUrl: foreign.url };
    return await verifyAndSettle(parts, { ...receiving, proof: foreign.proof }, through);
  } finally {
    await foreign.close();
  }
}

async function verifyAndSettle(parts: GatewayParts, receiving: Receiving, through: Through): Promise<Answer> {
  const { now, logger } = parts;
  const { caller, request, wanted, proof, deadlineAt, since } = receiving;
  const { receiver, facilitatorUrl } = through;
  const { signal } = caller;
  const { resource } = request;
  const verdict = await verifyProof(proof, { receiver, now, deadlineAt, since, resource, signal, logger });
  if (verdict.outcome !== "valid") {
    // Somebody may have settled it since it was looked for: then that is the reason, whatever the chain says of it now.
    const overtaken = await findEarlier(parts, caller, proof, request.settle);
    if (overtaken.outcome === "refused") return overtaken.fault;
    if (overtaken.outcome === "resume") return resume(parts, wanted, overtaken.payment, deadlineAt);
    const mayBeUnable = verdict.outcome === "unavailable" && verdict.code === "misconfigured";
    return (
      (mayBeUnable && (await judgeTokenAccount(wanted, { signal }))) || refuseVerdict(verdict, now() >= deadlineAt)
    );
  }
  if (!request.settle) {
    return answerVerified(wanted, proof, verdict, { now: now(), resource: request.resource, facilitatorUrl });
  }
  // Nothing has begun: a proof that cannot be settled in time is as good later.
  if (now() >= deadlineAt) return outOfTime();
  return settle(parts, receiving, through);
}

async function settle(parts: GatewayParts, receiving: Receiving, through: Through): Promise<Answer> {
  const { now } = parts;
  const { request, deadlineAt, wanted, ...granting } = receiving;
  const { network } = wanted;
  // A caller in a hurry gets no answer; the settlement has all the time that it takes.
  const settleUntil = Math.max(deadlineAt, now() + network.receiver.settleMs(network.network.id));
  const { resource } = request;
  const grant = { ...granting, ...through, wanted, resource, flow: "receive", deadlineAt: settleUntil } as const;
  const granted = await beginGrant(parts, grant);
  switch (granted.outcome) {
    case "refused":
      return granted.fault;
    case "held":
      return alreadyUsed(ownId(receiving.caller, granted.payment));
    case "repeated": {
      const repeat = judgeRepeat(granted.payment, receiving.proof);
      return repeat.outcome === "refused" ? repeat.fault : resume(parts, wanted, repeat.payment, deadlineAt);
    }
    case "begun": {
      const settled = await within(granted.settled, deadlineAt, now);
      return settled ? resume(parts, wanted, settled.payment, deadlineAt) : outOfTime(granted.payment.id);
    }
  }
}

/** The one true answer of a request that has made its record: what became of it, with its block. */
async function resume(parts: GatewayParts, wanted: Wanted, payment: Payment, deadlineAt: number): Promise<Answer> {
  const shown = await show(parts, payment, deadlineAt);
  return answerRecord(wanted, shown, parts.now() >= deadlineAt);
}

/** A foreign word is not waited for: our own node has seen it by now, or the answer says whose word it is. */
function show({ watcher }: GatewayParts, payment: Payment, deadlineAt: number): Payment | Promise<Payment> {
  if (isOpen(payment)) return hasWord(payment) ? watcher.refresh(payment) : watcher.wait(payment, deadlineAt);
  return payment.status === "confirmed" && payment.blockHeight === null ? watcher.refresh(payment) : payment;
}

const hasWord = (payment: Payment): boolean => isSettlement(payment) && payment.pursuit.word === true;
