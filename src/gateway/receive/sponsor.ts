// What this gateway pays for: settlements that need a key of its own. Only assets of its allow-list, from their minimum on, and
// within a daily number for each account and payer; one that reverted counts three times. Source: design §7.
import { formatDecimal } from "../../money.js";
import type { BoundProof } from "../../proof.js";
import { type Fault, fault } from "../errors.js";
import type { GatewayParts } from "../parts.js";
import { isSponsored, noSponsor, type Wanted } from "./requirement.js";

/** Whether it may be paid for at all; undefined = it may, or costs nothing. The asset is one of the allow-list already. */
export function judgeSponsored({ network, asset, amount }: Wanted, { requirement }: BoundProof): Fault | undefined {
  if (!isSponsored(requirement)) return undefined;
  if (!network.sponsors) return noSponsor(network.network.name);
  if (amount >= asset.minimum) return undefined;
  const least = `${formatDecimal(asset.minimum, asset.decimals)} ${asset.symbol}`;
  const message = `expected at least ${least}: this gateway pays for the settlement`;
  return fault("INVALID_REQUEST", `expectedAmount: ${message}`, { details: [{ path: "expectedAmount", message }] });
}

/** One settlement's share of the budget. */
export interface Share {
  /** Nothing was sent. */
  giveBack(): Promise<void>;
  /** It was mined in vain. */
  reverted(): Promise<void>;
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
    const giveBack = () => sponsored.giveBack(account, payer);
    return { ok: true, share: { giveBack, reverted: () => sponsored.reverted(account, payer) } };
  }
  const whose = reserved.over === "account" ? "this account" : "this payer";
  const retryAfter = Math.max(1, Math.ceil((reserved.resetAt - (await now())) / 1000));
  const message = `the settlements that this gateway pays for ${whose} are used up for today`;
  return fault("RATE_LIMIT", message, { details: [{ path: "sponsored", message }], retryAfter });
}
