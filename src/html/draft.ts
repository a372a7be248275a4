// The unsigned transaction for a wallet that signs transactions: the page may ask nobody but its own server, so the server makes
// it, over the receiver's own node. Bounded, because anybody may ask.
import type { Context } from "../context.js";
import { isAddressOf } from "../networks.js";
import type { Offers } from "../offers.js";
import type { PaywallRequest } from "../request.js";
import { createTimeLimit } from "../time-limit.js";
import type { PageData } from "./page-data.js";

const MOST_AT_ONCE = 8;
const DRAFT_MS = 8_000;
let drafting = 0;

/** @param asked `draft INDEX ADDRESS`: which offer, and who pays; anything else asks for no draft */
export async function draftOf(
  { receiver, clock, logger }: Pick<Context, "receiver" | "clock" | "logger">,
  { signal }: Pick<PaywallRequest, "signal">,
  asked: string,
  offers: Offers | undefined,
): Promise<PageData["draft"]> {
  const [, index, payer = ""] = /^draft (\d{1,3}) ([1-9A-HJ-NP-Za-km-z]{32,44})$/.exec(asked) ?? [];
  const requirement = offers?.requirements[Number(index)];
  if (!requirement || requirement.method === "eip3009" || !requirement.network.startsWith("solana:")) return undefined;
  if (!isAddressOf("solana", payer)) return undefined;
  if (!receiver.draft) return { problem: "This seller cannot be paid on Solana from a browser." };
  if (drafting >= MOST_AT_ONCE) return { problem: "Too many people are paying at once. Try again in a moment." };
  drafting += 1;
  const limit = createTimeLimit(clock, DRAFT_MS);
  try {
    const made = await receiver.draft(requirement, payer, AbortSignal.any([signal, limit.signal()]));
    return made.ok ? { transaction: made.transaction } : { problem: made.message };
  } catch (error) {
    logger.warn("a transaction could not be made", { network: requirement.network, error: String(error) });
    return { problem: "The chain could not be asked. Try again in a moment." };
  } finally {
    drafting -= 1;
    limit.cancel();
  }
}
