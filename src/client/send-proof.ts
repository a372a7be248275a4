// The paid try and its repeats: one proof, sent until its outcome is known or the repeats are used up, and what became of it
// written down. What an answer means stands in `outcome.ts`; nothing is signed here.
import type { SentBody } from "./body.js";
import { drainBody } from "./bounded-body.js";
import type { Buyer, PaidCall } from "./buyer.js";
import { BuyerError, type BuyerErrorCode } from "./errors.js";
import { isServed, judgeAnswer, type Step } from "./outcome.js";
import { type HeardAnswer, readPaidAnswer, type SellerVerdict } from "./paid-answer.js";
import { callersMessage, toInit, withProof } from "./paid-request.js";
import type { Purchase } from "./purchase.js";
import { readReceipt } from "./receipt.js";
import { followRedirect } from "./redirect.js";
import { backoff, parseRetryAfter } from "./retry-after.js";
import type { PendingProof } from "./store.js";
import { watchBody } from "./whole-body.js";

export interface Sending {
  readonly call: PaidCall;
  readonly body: SentBody | "none";
  readonly proof: PendingProof;
  /** Signed by an earlier call. */
  readonly earlier: boolean;
}

/** What came back of one exchange; `response`: undefined where nothing did. */
interface Heard {
  readonly answer: HeardAnswer;
  readonly response?: Response;
  readonly cause?: unknown;
}

/** A proof that ran out counts as run out a little later, because clocks differ. */
const EXPIRED_FOR_MS = 60_000;
const LOST = {
  status: undefined,
  lost: true,
  code: undefined,
  retry: undefined,
  reason: undefined,
  seller: {},
} as const;

/**
 * The answer; `expired`: the proof was refused and nobody can take it any more, so that the call may pay anew.
 *
 * @throws BuyerError, or the reason of an aborted signal
 */
export async function sendProof(buyer: Buyer, sending: Sending): Promise<Response | "expired"> {
  const trial = createTrial(buyer, sending);
  try {
    return await trial.run();
  } catch (error) {
    // One of ours has been written down; an abort has not, and leaves the outcome unknown.
    if (!(error instanceof BuyerError)) await trial.write(false);
    const code = error instanceof BuyerError ? error.code : "outcome_unknown";
    buyer.observer.event({ type: "failed", code, purchase: trial.purchase() });
    throw error;
  }
}

function createTrial(buyer: Buyer, { call, body, proof, earlier }: Sending) {
  const { settings, observer, breaker, proofs } = buyer;
  const { fetch, resend, now } = settings;
  const { signal } = call;
  const place = new URL(proof.purchase.url);
  const message = callersMessage(call, body);
  let purchase = proof.purchase;
  let announced = purchase.status === "settled";

  async function run(): Promise<Response | "expired"> {
    for (let sent = 0; ; sent += 1) {
      observer.event({ type: "sent", purchase, again: earlier || sent > 0 });
      const heard = await exchange();
      const settled = purchase.status === "settled";
      const expired = now() > proof.expiresAt + EXPIRED_FOR_MS;
      const step = judgeAnswer(heard.answer, { earlier, expired, settled }, resend.times - sent);
      if (step.kind !== "again") return end(step, heard);
      const asked = parseRetryAfter(heard.response?.headers.get("retry-after") ?? null, now());
      // Asked for a second each time, a seller whose process died would be given up before another one may take over.
      const delayMs = Math.min(Math.max(asked ?? 0, backoff(sent, resend.maxDelayMs)), resend.maxDelayMs);
      observer.event({ type: "waiting", purchase, delayMs, status: heard.answer.status });
      await settings.wait(delayMs, signal);
    }
  }

  /** Sends it once. A connection that fails is an answer too: nobody knows what the seller got. */
  async function exchange(): Promise<Heard> {
    try {
      const response = await fetch(place.href, toInit(call, withProof(message, proof.headers)));
      const receipt = readReceipt(response.headers);
      const transaction = receipt?.transaction ?? purchase.transaction;
      const httpStatus = response.status || undefined;
      purchase = { ...purchase, httpStatus, transaction, ...(receipt?.success && { status: "settled" }) };
      return { answer: await readPaidAnswer(response, receipt, signal), response };
    } catch (cause) {
      signal?.throwIfAborted();
      return { answer: LOST, cause };
    }
  }

  async function end(step: Exclude<Step, { kind: "again" }>, heard: Heard): Promise<Response | "expired"> {
    const { answer, response, cause } = heard;
    if (step.kind === "expired") {
      await conclude({ refused: true, forget: true, blameless: true });
      return "expired";
    }
    if (response && step.kind !== "ended") {
      if (step.kind === "follow") return follow(response);
      const served = step.kind === "served";
      await conclude({ served });
      return served ? watchBody(response, broken) : response;
    }
    const { code, forget } = step.kind === "ended" ? step : ({ code: "outcome_unknown", forget: false } as const);
    if (response) void drainBody(response);
    await conclude({ refused: code === "payment_refused", taken: code === "payment_already_used", forget });
    throw failure(code, answer.reason, cause, answer.seller);
  }

  /** Invariant: nothing is paid at a place to which a seller led, and no proof is shown there. */
  async function follow(response: Response): Promise<Response> {
    const settled = purchase.status === "settled";
    if (call.redirect === "manual") {
      // The caller wants the redirect itself: where it was paid for, it is what was bought.
      await conclude({ served: settled });
      return response;
    }
    if (call.redirect === "error") {
      void drainBody(response);
      await conclude({});
      throw failure("redirected", "the request allows no redirect");
    }
    const followed = await followRedirect(fetch, call, { url: place, message, response }).catch(async (cause) => {
      signal?.throwIfAborted();
      await conclude({});
      throw failure(settled ? "charged_without_goods" : "outcome_unknown", "the redirect led nowhere", cause);
    });
    const { status } = followed.response;
    purchase = { ...purchase, httpStatus: status };
    if (followed.ok && status !== 402) {
      const served = isServed(status);
      await conclude({ served });
      return served ? watchBody(followed.response, broken) : followed.response;
    }
    void drainBody(followed.response);
    await conclude({});
    throw failure("redirected", followed.ok ? "another place asks for money again" : followed.reason);
  }

  /** Invariant: goods that broke off were paid for: the next equal call collects them with the same proof. */
  async function broken(): Promise<void> {
    purchase = { ...purchase, served: false };
    const kept = proofs.keep({ ...proof, purchase }, call.target);
    await Promise.allSettled([kept, settings.store.record(purchase)]);
  }

  interface Conclusion {
    readonly served?: boolean;
    readonly refused?: boolean;
    /** The money moved, as the seller says without a receipt. */
    readonly taken?: boolean;
    readonly forget?: boolean;
    /** It is no failure of the host's. */
    readonly blameless?: boolean;
  }

  async function conclude({ served = false, refused = false, taken = false, ...more }: Conclusion): Promise<void> {
    const { forget = served, blameless = served } = more;
    if (served || taken) purchase = { ...purchase, status: "settled", served };
    else if (refused && purchase.status !== "settled") purchase = { ...purchase, status: "refused" };
    if (!blameless) breaker.failed(purchase.host);
    await write(forget);
  }

  /** A store that fails now changes nothing of the answer: the proof is kept, and the next equal call sends it again. */
  async function write(forget: boolean): Promise<void> {
    if (!announced && purchase.status === "settled") {
      announced = true;
      observer.paid(purchase);
    }
    const left = forget ? proofs.forget(proof, call.target) : proofs.update({ ...proof, purchase });
    await Promise.allSettled([left, settings.store.record(purchase)]);
  }

  function failure(code: BuyerErrorCode, reason?: string, cause?: unknown, seller?: SellerVerdict): BuyerError {
    const { httpStatus, url, status } = purchase;
    const facts = {
      url,
      purchase,
      money: status === "settled" ? "settled" : "unknown",
      ...(httpStatus !== undefined && { status: httpStatus }),
      ...(reason !== undefined && { reason }),
      ...seller,
    } as const;
    return new BuyerError(code, facts, cause === undefined ? undefined : { cause });
  }

  return { run, write, purchase: (): Purchase => purchase };
}
