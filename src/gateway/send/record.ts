// The record of a payment from a hosted wallet, as it is written before anything leaves; and what the database answers when it
// may not be written.
import { formatDecimal } from "../../money.js";
import type { Caller } from "../caller.js";
import type { Inserted, NewPayment, Together } from "../database/database.js";
import { type Fault, fault, type Outcome } from "../errors.js";
import type { GatewayParts } from "../parts.js";
import type { Payment, Pursuit } from "../payment.js";
import { KeyNotOpened } from "../wallets/signers.js";
import type { Order } from "./order.js";
import { formatShown, type Shown } from "./proof.js";

/** A payment that was written: by this request, or by an earlier run of it. */
export interface Written {
  readonly payment: Payment;
  readonly repeated: boolean;
}

/** The watcher takes over where this process has died; by then its own first broadcast is over. */
export const TAKE_OVER_MS = 20_000;

/**
 * Writes record, reservation against the wallet's limits and whatever stands in `together` in one transaction.
 * Faults: FORBIDDEN over a limit, UNAVAILABLE where the wallet's key cannot be opened. Nothing is written then.
 */
export async function writePayment(
  { database, logger }: Pick<GatewayParts, "database" | "logger">,
  caller: Caller,
  order: Order,
  made: { readonly pursuit: Pursuit; readonly shown: Shown; readonly expiresAt: number | null },
  together: Omit<Together, "spend"> = {},
): Promise<Outcome<Written>> {
  const { network, asset, wallet, amount } = order;
  const payment: NewPayment = {
    account: caller.key.account,
    mode: caller.key.mode,
    type: "sent",
    flow: "send",
    status: "created",
    network: network.network.id,
    asset: asset.address,
    amount,
    sender: wallet.address,
    recipient: order.recipient,
    signature: null,
    fee: null,
    resource: order.resource,
    metadata: order.metadata,
    expiresAt: made.expiresAt,
    // The record of whoever receives it holds the proof.
    proofId: null,
    wallet: wallet.id,
    idempotency: caller.idempotency?.id ?? null,
    // Invariant: the database alone cannot show a proof. Without an Idempotency-Key nobody can ask again, so nothing is kept.
    sealed: caller.idempotency?.seal(formatShown(made.shown)) ?? null,
    pursuit: made.pursuit,
    dueAt: (await database.now()) + TAKE_OVER_MS,
  };
  // Invariant: whatever is signed counts against the limits, from before it can leave.
  const spent = { wallet: wallet.id, network: payment.network, asset: payment.asset, amount };
  const spend = order.priorityFee === undefined ? spent : { ...spent, priorityFee: order.priorityFee };
  try {
    return toWritten(await database.payments.insert(payment, { ...together, spend }), order);
  } catch (error) {
    if (error instanceof KeyNotOpened) return keyNotOpened(logger, wallet, error);
    throw error;
  }
}

/** Our fault, or the operator's: he reads of it in the log. */
export function keyNotOpened(
  logger: GatewayParts["logger"],
  { id }: { readonly id: string },
  error: KeyNotOpened,
): Fault {
  logger.error({ wallet: id, error: error.message }, "a hosted wallet cannot be opened");
  return fault("UNAVAILABLE", "The key of this wallet cannot be opened. Nothing was signed or sent.");
}

function toWritten(inserted: Inserted, order: Order): Outcome<Written> {
  switch (inserted.outcome) {
    case "ok":
      return { ok: true, value: { payment: inserted.payment, repeated: false } };
    case "repeated":
      return { ok: true, value: { payment: inserted.payment, repeated: true } };
    case "over_limit":
      return overLimit(order, inserted);
    case "proof_taken":
      throw new Error("A payment that is sent holds no proof, and the database says that another one has it");
  }
}

/** An order that the wallet's limits, as they were read with it, cannot allow whatever has been sent so far. */
export function neverAllowed(order: Order): Fault | undefined {
  const { network, wallet, asset, amount, priorityFee = 0n } = order;
  const own = wallet.limits.find((one) => one.network === network.network.id && one.asset === asset.address);
  const asked = asset === network.assets[0] ? amount + priorityFee : amount;
  if (own && asked <= own.perPayment) return undefined;
  return overLimit(order, { outcome: "over_limit", limit: "per_payment", allowed: own?.perPayment ?? 0n });
}

function overLimit(
  order: Order,
  { limit, allowed, priorityFee: isFee }: Extract<Inserted, { outcome: "over_limit" }>,
): Fault {
  const { network, wallet, amount, priorityFee = 0n } = order;
  const [native] = network.assets;
  const asset = isFee ? native : order.asset;
  // The fee of a native payment comes out of the same limit.
  const asked = isFee ? priorityFee : asset === native ? amount + priorityFee : amount;
  const path = isFee ? "priorityFee" : "amount";
  const text = (units: bigint) => `${formatDecimal(units, asset.decimals)} ${asset.symbol}`;
  const where = `on ${network.network.name}`;
  const none = !wallet.limits.some((one) => one.network === network.network.id && one.asset === asset.address);
  const most = limit === "per_day" ? `${text(allowed)} more within 24 hours` : `${text(allowed)} at once`;
  const message = none
    ? `this wallet has no limit for ${asset.symbol} ${where}, so it sends none: its owner sets one first`
    : `this wallet may send at most ${most} ${where}; asked for ${text(asked)}`;
  const action = `Ask for less, or let the operator change the limit: tollgate wallets limit ${wallet.id}`;
  return fault("FORBIDDEN", `${path}: ${message}`, { details: [{ path, message }], action });
}
