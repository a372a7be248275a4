// The seller's payments as the store still remembers them, read page by page: whatever is listed, one page is in memory.
// Loaded when a list is first asked for.

import type { RecordPage } from "./changes.js";
import type { ErrorCode } from "./errors.js";
import type { PaymentFacts } from "./events.js";
import { factsOfTrace } from "./facts.js";
import { type ProofRecord, settleLeases } from "./store/record.js";

/** Which payments to list. Times are epoch milliseconds or dates, on the store's clock. */
export interface PaymentQuery {
  /** Not those whose time is before it. The time of a payment is when it was settled, or else claimed. */
  readonly since?: number | Date;
  /** Only those whose time is before it. */
  readonly until?: number | Date;
  /** At most so many. */
  readonly limit?: number;
}

/** One payment as it stood when its page was read. */
export interface ListedPayment extends PaymentFacts {
  /** Atomic units, where more came than the price. */
  readonly received?: bigint;
  /** Only `settled` is money that came; `settling` and `unknown` may still be. */
  readonly settlement: ProofRecord["settlement"];
  readonly delivery: ProofRecord["delivery"];
  readonly transaction?: string;
  /** Why it was refused. */
  readonly code?: ErrorCode;
  /** Epoch milliseconds. */
  readonly claimedAt?: number;
  /** Epoch milliseconds. */
  readonly settledAt?: number;
}

/** The payments of a store, the last that was claimed first. */
export type Payments = AsyncIterableIterator<ListedPayment>;

const PAGE = 500;

/**
 * @throws RangeError for a time or a limit that is none. A store that fails ends the list with a PaywallError.
 * @example for await (const payment of listPayments(claims.list, { limit: 10 })) show(payment);
 */
export async function* listPayments(
  list: (cursor: string | undefined, limit: number) => Promise<RecordPage>,
  query: PaymentQuery = {},
): Payments {
  const [since, until] = [toTime("since", query.since), toTime("until", query.until)];
  const { limit = Number.POSITIVE_INFINITY } = query;
  if (limit !== Number.POSITIVE_INFINITY && !(Number.isSafeInteger(limit) && limit > 0))
    throw new RangeError(`limit: expected a whole number from 1 on, got ${String(limit)}`);
  let left = limit;
  let cursor: string | undefined;
  do {
    const page = await list(cursor, PAGE);
    for (const record of page.records) {
      const payment = toPayment(settleLeases(record, page.now));
      if (!isBetween(payment, since, until)) continue;
      yield payment;
      left -= 1;
      if (left === 0) return;
    }
    cursor = page.next;
  } while (cursor !== undefined);
}

function toTime(name: string, value: number | Date | undefined): number | undefined {
  const time = value instanceof Date ? value.getTime() : value;
  if (time !== undefined && !Number.isFinite(time))
    throw new RangeError(`${name}: expected epoch milliseconds or a date, got ${String(value)}`);
  return time;
}

/** What has no time (an older version wrote it) is left out only where somebody asks for a time. */
function isBetween({ settledAt, claimedAt }: ListedPayment, since: number | undefined, until: number | undefined) {
  const at = settledAt ?? claimedAt;
  if (at === undefined) return since === undefined && until === undefined;
  return at >= (since ?? at) && (until === undefined || at < until);
}

function toPayment(record: ProofRecord): ListedPayment {
  const { trace, settlement, delivery, refusal, claimedAt, settledAt } = record;
  const { received, transaction } = trace;
  return {
    ...factsOfTrace(trace),
    ...(received !== null && { received: BigInt(received) }),
    settlement,
    delivery,
    ...(transaction !== null && { transaction }),
    ...(settlement === "refused" && refusal && { code: refusal.code }),
    ...(claimedAt !== undefined && { claimedAt }),
    ...(settledAt !== undefined && { settledAt }),
  };
}
