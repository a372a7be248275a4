// One look at one payment: where it stands, what that makes of the record, and what there is to do so that it goes on.
// Every change is a compare-and-set: who comes second reads again and changes nothing.
import type { Clock } from "../../clock.js";
import type { GatewayNetwork } from "../chain.js";
import type { PaymentChange } from "../database/database.js";
import type { GatewayParts } from "../parts.js";
import type { Payment } from "../payment.js";
import { nextLookAt } from "./pace.js";
import { sightOf } from "./sight.js";
import { type Sight, type Transition, transit } from "./transitions.js";

export type WatchParts = Omit<GatewayParts, "watcher">;

/** Brings back what no node knows, or what can never land as it was. Gives the record as it then is. */
export type Repair = (payment: Payment) => Promise<Payment>;

export interface LookOptions {
  readonly clock: Clock;
  /** Ends all looks under way. */
  readonly closing: AbortSignal;
  readonly repairs: { readonly sent: Repair; readonly settlement: Repair };
}

export interface Look {
  readonly payment: Payment;
  /** Did the chain answer? */
  readonly answered: boolean;
}

/** One look takes at most so long. */
export const LOOK_MS = 10_000;
/** A network that is not served any more may come back with the next configuration. */
const UNSERVED_MS = 60 * 60_000;

/**
 * Looks at a payment. `leased`: the caller holds its lease, so it plans the next look and repairs what was lost; anybody else
 * only writes down what he saw.
 */
export async function look(parts: WatchParts, options: LookOptions, payment: Payment, leased: boolean): Promise<Look> {
  const { database, logger } = parts;
  const network = parts.networks.find(payment.network);
  if (!network) {
    if (leased)
      await database.payments.change(payment, payment.status, { dueAt: (await database.now()) + UNSERVED_MS });
    return { payment, answered: true };
  }
  const sight = await ask(network, payment, options);
  const now = await database.now();
  const facts = { paymentId: payment.id, network: payment.network };
  if (sight.state === "unreadable")
    logger.warn({ ...facts, problem: sight.message }, "a payment could not be looked at");
  const transition = transit(payment, sight, network, now);
  const { after, own } = await record(parts, network, payment, transition, leased, now);
  if (own && after.status !== payment.status)
    logger.info({ ...facts, from: payment.status, to: after.status }, "a payment moved on");
  // Invariant: only whose write came through goes on: with a lease that ran out, another instance may be at work.
  const isLost = sight.state === "unseen" || sight.state === "impossible";
  // What waits may wait for an account nonce that was given back before it: the repair of a sent payment fills such a gap.
  const mayBeStuck = sight.state === "waiting" && payment.wallet !== null && payment.pursuit.kind === "evm";
  const isOpen = after.status === "created" || after.status === "submitted";
  const repairs = leased && own && isOpen && (isLost || mayBeStuck);
  return { payment: repairs ? await repair(after, options) : after, answered: sight.state !== "unreadable" };
}

async function ask(network: GatewayNetwork, payment: Payment, { clock, closing }: LookOptions): Promise<Sight> {
  // Not AbortSignal.any: what it adds to a signal as old as the process stays there for long.
  const stop = new AbortController();
  const end = () => stop.abort();
  const cancel = clock.after(LOOK_MS, end);
  closing.addEventListener("abort", end);
  if (closing.aborted) end();
  try {
    return await sightOf(network, payment, stop.signal);
  } catch (error) {
    return { state: "unreadable", message: error instanceof Error ? error.message : String(error) };
  } finally {
    cancel();
    closing.removeEventListener("abort", end);
  }
}

const repair = (payment: Payment, { repairs: { sent, settlement } }: LookOptions): Payment | Promise<Payment> => {
  if (payment.pursuit.kind === "settlement") return settlement(payment);
  return payment.flow === "send" && payment.pursuit.kind !== "proof" ? sent(payment) : payment;
};

interface Recorded {
  readonly after: Payment;
  /** False: somebody else has written the record meanwhile. */
  readonly own: boolean;
}

/** Writes what was learned; without the lease nothing is written where nothing was. */
async function record(
  parts: WatchParts,
  network: GatewayNetwork,
  payment: Payment,
  transition: Transition | undefined,
  leased: boolean,
  now: number,
): Promise<Recorded> {
  const { payments } = parts.database;
  const { status, change, final } = transition ?? { status: payment.status, change: {}, final: false };
  const dueAt = final ? null : leased ? nextLookAt({ ...payment, status }, network, now) : payment.dueAt;
  const whole = dueAt === payment.dueAt ? change : { ...change, dueAt };
  if (!leased && status === payment.status && !differs(payment, whole)) return { after: payment, own: true };
  const changed = await payments.change(payment, status, whole);
  if (!changed) return { after: (await payments.get(payment.id)) ?? payment, own: false };
  if (final) await releaseNonce(parts, changed);
  return { after: changed, own: true };
}

const differs = (payment: Payment, change: PaymentChange): boolean =>
  Object.entries(change).some(([name, value]) => {
    const known: unknown = Reflect.get(payment, name);
    return JSON.stringify(known, plain) !== JSON.stringify(value, plain);
  });

const plain = (_name: string, value: unknown): unknown => (typeof value === "bigint" ? `${value}` : value);

/** Final on the chain, so nothing can take the nonce of a hosted wallet from this payment any more. */
async function releaseNonce({ database }: WatchParts, { wallet, network, pursuit, status }: Payment): Promise<void> {
  if (wallet === null || pursuit.kind !== "evm" || status === "expired") return;
  await database.nonces.done(network, pursuit.sender, pursuit.nonce);
}
