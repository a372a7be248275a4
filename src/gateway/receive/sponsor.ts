// What this gateway pays for: settlements that need a key of its own. Only assets of its allow-list, from their minimum on, and
// within a daily number for each account and payer; one that reverted counts three times. Source: design §7.
import { formatDecimal } from "../../money.js";
import type { BoundProof } from "../../proof.js";
import { type Fault, fault, invalidField } from "../errors.js";
import type { GatewayParts } from "../parts.js";
import type { Payment, SettlementPursuit } from "../payment.js";
import { isSettlement, withReverted } from "./pursuit.js";
import { isSponsored, noSponsor, type Wanted } from "./requirement.js";

/** Whether it may be paid for at all; undefined = it may, or costs nothing. The asset is one of the allow-list already. */
export function judgeSponsored({ network, asset, amount }: Wanted, { requirement }: BoundProof): Fault | undefined {
  if (!isSponsored(requirement)) return undefined;
  if (!network.sponsors) return noSponsor(network.network.name);
  if (amount >= asset.minimum) return undefined;
  const least = `${formatDecimal(asset.minimum, asset.decimals)} ${asset.symbol}`;
  return invalidField("expectedAmount", `expected at least ${least}: this gateway pays for the settlement`);
}

/** One settlement's share of the budget. */
export interface Share {
  /** Nothing was sent. */
  giveBack(): Promise<void>;
}

export type Reserved = { readonly ok: true; readonly share: Share | undefined } | Fault;

/** Takes one settlement out of the day's budget, where it costs us anything. RATE_LIMIT where none is left. */
export async function reserveShare(
  { database: { sponsored, now }, settings }: Pick<GatewayParts, "database" | "settings">,
  account: string,
  { requirement, payer }: BoundProof,
): Promise<Reserved> {
  if (!isSponsored(requirement)) return { ok: true, share: undefined };
  const reserved = await sponsored.reserve(account, payer, settings.sponsored);
  if (reserved.ok) {
    return { ok: true, share: { giveBack: () => sponsored.giveBack(account, payer) } };
  }
  const whose = reserved.over === "account" ? "this account" : "this payer";
  const retryAfter = Math.max(1, Math.ceil((reserved.resetAt - (await now())) / 1000));
  const message = `the settlements that this gateway pays for ${whose} are used up for today`;
  return fault("RATE_LIMIT", message, { details: [{ path: "sponsored", message }], retryAfter });
}

/** Is it this gateway that pays for its settlement? Not where the payer does, a foreign facilitator, or the seller himself. */
export const isOurCost = (payment: Payment): payment is Payment & { readonly pursuit: SettlementPursuit } =>
  isSettlement(payment) &&
  payment.flow !== "build_receive" &&
  payment.pursuit.facilitatorUrl === undefined &&
  isSponsored(payment.pursuit.trace);

/** A record that others change in between is read again and changed again so often. */
const MAX_TRIES = 8;

/**
 * Writes down that a transaction of a settlement was mined in vain, and so counts it. Invariant: the budget is counted by the write
 * of the mark, so that it counts once, whoever sees it and wherever a process ends.
 */
export async function recordReverted(
  { database: { payments } }: Pick<GatewayParts, "database">,
  payment: Payment,
  transaction: string,
): Promise<Payment> {
  let current = payment;
  for (let attempt = 0; attempt < MAX_TRIES; attempt += 1) {
    if (!isOurCost(current)) return current;
    const pursuit = withReverted(current.pursuit, transaction);
    if (pursuit === current.pursuit) return current;
    const changed = await payments.change(current, current.status, { pursuit });
    if (changed) return changed;
    current = (await payments.get(current.id)) ?? current;
  }
  throw new Error(`the record of payment ${payment.id} changes too often`);
}
