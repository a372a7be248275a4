// From a shown pass to a verdict: nothing is paid, a use is taken, and the handler runs. A run that fails gives its use back.
import type { Context } from "./context.js";
import { NO_DELIVERY } from "./delivery.js";
import type { ErrorCode } from "./errors.js";
import { sha256 } from "./hash.js";
import type { Offers } from "./offers.js";
import { digestOfPlace, isToken, shownToken } from "./pass-token.js";
import type { Passage } from "./passage.js";
import { giveUseBack, takeUse, type Use } from "./passes.js";
import { createPayment } from "./payment.js";
import { paidHeaders } from "./receipt.js";
import { isCovered } from "./record-answer.js";
import { refuse } from "./refusal.js";
import type { Capture, PaywallRequest, Verdict } from "./request.js";
import type { Terms } from "./settings.js";
import { watchRun } from "./watched-run.js";

/** `undefined`: no pass for this thing is shown. */
export type Redeemed =
  | { readonly ok: true; readonly verdict: Verdict }
  | { readonly ok: false; readonly code: ErrorCode }
  | undefined;

export type Redeem = (
  context: Context,
  request: PaywallRequest,
  asked: { readonly passage: Passage; readonly offers: Offers; readonly terms: Terms },
) => Promise<Redeemed>;

export const redeem: Redeem = async (context, request, { passage, offers, terms }) => {
  const place = await digestOfPlace(passage);
  const token = shownToken(request, place);
  if (token === undefined) return undefined;
  if (!isToken(token)) return { ok: false, code: "pass_malformed" };
  const taken = await takeUse(context, await sha256(token), place, (paid) => isCovered(paid, offers));
  if (!taken.ok) return taken;
  const { use } = taken;
  return {
    ok: true,
    verdict: { kind: "admit", payment: paymentOf(use), capture: capture(context, request, use, terms) },
  };
};

function paymentOf({ proofId, record }: Use) {
  const { payer, network, asset, transaction, left, endsAt } = record;
  return createPayment({
    payer,
    amount: 0n,
    asset,
    network,
    scheme: "exact",
    proofId,
    run: 1,
    ...(transaction !== null && { transaction }),
    pass: Object.freeze({ usesLeft: left, expiresAt: endsAt }),
  });
}

function capture(context: Context, { target }: PaywallRequest, use: Use, { handlerTimeoutMs }: Terms): Capture {
  const { events, logger } = context;
  return watchRun(context, handlerTimeoutMs, {
    async take({ headers }, _, done) {
      const end = async () => done();
      // Whether the client stayed or not: what the handler answered decides, as with a payment.
      return { kind: "deliver", headers: paidHeaders(headers, []), delivery: { delivered: end, lost: end } };
    },
    async giveBack() {
      try {
        await giveUseBack(context, use);
      } catch (error) {
        // Safe because a use that is not given back is only one less: nothing is given away.
        logger.warn("a use of a pass could not be given back", { proofId: use.proofId, error: String(error) });
      }
    },
    uncharged: () => ({ kind: "deliver", headers: [], delivery: NO_DELIVERY }),
    failure(code) {
      events.emit("refusal", { code, target });
      return refuse(code, { payment: "none" });
    },
  });
}
