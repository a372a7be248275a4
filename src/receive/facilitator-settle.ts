// A settlement by a facilitator: one call, and one identical resend where it says that the transaction is on its way. What an
// answer proves is decided in facilitator-answers.ts.
import type { LRUCache } from "lru-cache";
import type { Clock } from "../clock.js";
import type { BoundProof } from "../proof.js";
import type { Logger } from "../settings.js";
import type { SupportedResponse } from "../wire/facilitator.js";
import type { Alarms } from "./alarms.js";
import { readSettlement } from "./facilitator-answers.js";
import type { FacilitatorApi } from "./facilitator-api.js";
import type { FeePayers } from "./facilitator-fee-payers.js";
import { requestBody } from "./facilitator-kinds.js";
import { isSpl, withOwnFeePayer } from "./facilitator-solana.js";
import type { SettleContext, Settlement } from "./receiver.js";
import type { SupportedCache } from "./supported.js";

/** Before the one resend of a settlement that is broadcast and not yet confirmed: about a block. */
const PENDING_PAUSE_MS = 1_000;

/** What a settlement needs of its receiver. */
export interface SettleService {
  readonly api: FacilitatorApi;
  readonly supported: SupportedCache<SupportedResponse>;
  readonly feePayers: FeePayers;
  /** The proof that each transaction settled, by network and transaction id. */
  readonly settledBy: LRUCache<string, string>;
  readonly alarms: Alarms;
  readonly clock: Clock;
  readonly logger: Logger;
  settleMs(network: string): number;
}

/** Asks the facilitator to take the money. Called once for a settlement; what may have left is never sent as another. */
export async function settleOnce(
  service: SettleService,
  given: BoundProof,
  context: SettleContext,
): Promise<Settlement> {
  const { api, supported, feePayers, alarms, settleMs } = service;
  const proof = isSpl(given) ? await withOwnFeePayer(given, feePayers) : given;
  const body = requestBody(proof, supported.current()?.kinds, context.resource);
  const timeoutMs = settleMs(proof.requirement.network);
  const reply = await api.ask("settle", { body, timeoutMs, deadlineAt: context.deadlineAt });
  if (reply.outcome === "no_credentials") return { outcome: "unavailable", message: reply.message };
  const first = readSettlement(reply, proof, alarms);
  if (first.outcome !== "pending") return unlessSpent(service, proof, first);
  return unlessSpent(service, proof, await settleAgain(service, proof, context, body, first));
}

/**
 * The one identical resend that the protocol allows (§6.4). Only a success counts: the first answer told of a transaction,
 * so a failure now proves nothing.
 */
async function settleAgain(
  { api, alarms, clock, logger, settleMs }: SettleService,
  proof: BoundProof,
  context: SettleContext,
  body: string,
  { transaction, retryAfterMs }: { readonly transaction: string; readonly retryAfterMs: number | undefined },
): Promise<Settlement> {
  const pending: Settlement = { outcome: "unknown", transaction, message: "/settle: the transaction is not confirmed" };
  try {
    await context.sending(transaction);
  } catch (error) {
    logger.warn("the settlement has passed to another process", { proofId: proof.id, error: String(error) });
    return pending;
  }
  const pauseMs = retryAfterMs ?? PENDING_PAUSE_MS;
  if (clock.now() + pauseMs >= context.deadlineAt) return pending;
  await new Promise<void>((resolve) => clock.after(pauseMs, resolve));
  const timeoutMs = settleMs(proof.requirement.network);
  const reply = await api.ask("settle", { body, timeoutMs, deadlineAt: context.deadlineAt });
  if (reply.outcome === "no_credentials") return pending;
  const second = readSettlement(reply, proof, alarms);
  return second.outcome === "settled" ? second : pending;
}

/** Invariant: a transaction backs one proof. A facilitator that names it for a second one proves nothing for that one. */
function unlessSpent({ settledBy, logger }: SettleService, proof: BoundProof, settlement: Settlement): Settlement {
  if (settlement.outcome !== "settled") return settlement;
  const { transaction } = settlement;
  const { network } = proof.requirement;
  // Hex has two spellings, base58 has one.
  const reference = `${network} ${network.startsWith("eip155:") ? transaction.toLowerCase() : transaction}`;
  const owner = settledBy.get(reference);
  if (owner === undefined || owner === proof.id) {
    settledBy.set(reference, proof.id);
    return settlement;
  }
  logger.error("duplicate settlement reference", { transaction, proofId: proof.id, owner });
  return { outcome: "unknown", message: "/settle named a transaction that has settled another payment" };
}
