// What takes more than one call: following a payment to where it ends, and reading a history to its end.
import { whole } from "../config-schema.js";
import type { CallOptions, CallParts } from "./gateway-client-call.js";
import { ENDPOINTS, nameOf } from "./gateway-client-endpoints.js";
import { GatewayError } from "./gateway-client-error.js";
import type { HistoryAnswer, HistoryQuery, PaymentRecord, StatusAnswer } from "./gateway-client-shapes.js";

export interface WaitOptions {
  /** `confirmed` where it is left out. */
  readonly until?: "confirmed" | "finalized" | undefined;
  /** Milliseconds for all of it, the call in flight included: 120,000; 100 to 3,600,000. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const DEFAULT_WAIT_MS = 120_000;
/** The gateway itself looks at the chain at most once a second. */
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS, GROWTH] = [500, 5_000, 1.5];

const timeSchema = whole(100, 3_600_000, "whole milliseconds");

/**
 * Asks for the status until it is reached, or can no longer be.
 *
 * @param ask gets the milliseconds that are left for it
 */
export async function waitFor(
  ask: (mostMs: number) => Promise<StatusAnswer>,
  paymentId: string,
  { until = "confirmed", timeoutMs = DEFAULT_WAIT_MS, signal }: WaitOptions,
  { now, random, wait }: CallParts,
): Promise<StatusAnswer> {
  const time = timeSchema.safeParse(timeoutMs);
  if (!time.success) throw new TypeError(`timeoutMs: ${time.error.issues[0]?.message}`);
  const endsAt = now() + time.data;
  let last = "unknown";
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * GROWTH, LONGEST_PAUSE_MS)) {
    let askAgainMs = 0;
    try {
      const record = await ask(endsAt - now());
      if (isOver(record.status, until)) return record;
      last = record.status;
    } catch (error) {
      // A gateway that does not answer now may do so before the time is over.
      if (!(error instanceof GatewayError) || !error.retryable) throw error;
      askAgainMs = error.retryAfterMs ?? 0;
    }
    const nextMs = Math.max(askAgainMs, pauseMs * (0.75 + random() / 2));
    if (now() + nextMs >= endsAt) throw notInTime(paymentId, until, last);
    await wait(nextMs, signal);
  }
}

const isOver = (status: string, until: "confirmed" | "finalized"): boolean =>
  status === until || status === "finalized" || status === "failed" || status === "expired";

const notInTime = (paymentId: string, until: string, last: string): GatewayError =>
  new GatewayError({
    ...{ code: "NOT_IN_TIME", endpoint: nameOf(ENDPOINTS.status), paymentId, retryable: true, inDoubt: false },
    message: `${paymentId} was not ${until} in time; its status is ${last}`,
  });

/** Every payment of a wallet, newest first, page after page by the cursor: stable while payments are added. */
export async function* readAll(
  history: (walletAddress: string, query: HistoryQuery, options: CallOptions) => Promise<HistoryAnswer>,
  walletAddress: string,
  query: Omit<HistoryQuery, "offset" | "before">,
  options: Pick<CallOptions, "signal">,
): AsyncGenerator<PaymentRecord, void, undefined> {
  const seen = new Set<string>();
  let before: string | undefined;
  do {
    const page = await history(walletAddress, before === undefined ? query : { ...query, before }, options);
    yield* page.payments;
    const next = page.pagination.hasMore ? page.pagination.before : undefined;
    // A cursor that leads nowhere, or back, would lead there for ever.
    if (next !== undefined && (seen.has(next) || page.payments.length === 0)) throw stuck();
    if (next !== undefined) seen.add(next);
    before = next;
  } while (before !== undefined);
}

const stuck = (): GatewayError =>
  new GatewayError({
    ...{ code: "BAD_ANSWER", endpoint: nameOf(ENDPOINTS.history), retryable: false, inDoubt: false },
    message: "the cursor of the next page does not lead on",
  });
