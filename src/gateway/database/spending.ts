// What a hosted wallet may still send. Reserved in the transaction that makes the payment, under a lock on the wallet's row, and
// summed here: a database's own numbers end before money does.
import { NATIVE } from "../../requirement.js";
import type { Inserted, Spent, Together, WalletLimit } from "./database.js";
import { amountText } from "./payment-row.js";
import type { GatewayWork } from "./tables.js";
import { fromLimits } from "./wallet-row.js";

type Spend = NonNullable<Together["spend"]>;
type OverLimit = Extract<Inserted, { outcome: "over_limit" }>;

/** Limits per day are over the last 24 hours: at midnight nothing is given away twice. */
const DAY_MS = 24 * 3_600_000;

/** The limits of an open wallet; from now on no other payment of it is judged. None where the wallet is not there. */
export async function lockWallet(
  db: GatewayWork,
  wallet: string,
  account: string,
  locks: boolean,
): Promise<readonly WalletLimit[]> {
  const row = await db
    .selectFrom("gateway_wallets")
    .select("limits")
    .where("id", "=", wallet)
    .where("account", "=", account)
    .where("removed_at", "is", null)
    .$if(locks, (query) => query.forUpdate())
    .executeTakeFirst();
  return row ? fromLimits(row.limits) : [];
}

/** One asset of what a payment takes out of its wallet. */
type Part = Omit<Spend, "priorityFee">;

/**
 * A payment and the priority fee that its caller chose. Invariant: both count, or a key without a limit for the native currency
 * gives it away to whoever mines its payments. Of a native payment they are one sum.
 */
function partsOf({ priorityFee = 0n, ...spend }: Spend): { readonly main: Part; readonly fee: Part | undefined } {
  if (spend.asset === NATIVE) return { main: { ...spend, amount: spend.amount + priorityFee }, fee: undefined };
  return { main: spend, fee: priorityFee === 0n ? undefined : { ...spend, asset: NATIVE, amount: priorityFee } };
}

/** Invariant: what a wallet has sent and may yet have sent within 24 hours is never more than its limit. */
export async function judgeSpending(
  db: GatewayWork,
  spend: Spend,
  limits: readonly WalletLimit[],
  now: number,
): Promise<OverLimit | undefined> {
  const { main, fee } = partsOf(spend);
  const over = await judgePart(db, main, limits, now);
  if (over || !fee) return over;
  const overFee = await judgePart(db, fee, limits, now);
  return overFee && { ...overFee, priorityFee: true };
}

async function judgePart(
  db: GatewayWork,
  { wallet, network, asset, amount }: Part,
  limits: readonly WalletLimit[],
  now: number,
): Promise<OverLimit | undefined> {
  const limit = limits.find((one) => one.network === network && one.asset === asset);
  const perPayment = limit?.perPayment ?? 0n;
  if (limit === undefined || amount > perPayment) return over("per_payment", perPayment);
  const rows = await recent(db, wallet, now)
    .select("amount")
    .where("network", "=", network)
    .where("asset", "=", asset)
    .execute();
  const spent = rows.reduce((total, row) => total + BigInt(row.amount), 0n);
  const left = limit.perDay > spent ? limit.perDay - spent : 0n;
  return amount > left ? over("per_day", left) : undefined;
}

/** The payments of 24 hours that count. */
const recent = (db: Pick<GatewayWork, "selectFrom">, wallet: string, now: number) =>
  db
    .selectFrom("gateway_spending")
    .where("wallet", "=", wallet)
    .where("at", ">", now - DAY_MS)
    .where("freed", "=", 0);

/** What counts against the limits per day, of each asset: as the next payment will be judged. */
export async function spentBy(db: GatewayWork, wallet: string, now: number): Promise<readonly Spent[]> {
  const rows = await recent(db, wallet, now).select(["network", "asset", "amount"]).execute();
  const sums = new Map<string, Spent>();
  for (const { network, asset, amount } of rows) {
    const about = `${network} ${asset}`;
    sums.set(about, { network, asset, amount: (sums.get(about)?.amount ?? 0n) + BigInt(amount) });
  }
  return [...sums.values()];
}

const over = (limit: OverLimit["limit"], allowed: bigint): OverLimit => ({ outcome: "over_limit", limit, allowed });

/** Counts from now on, for as long as the payment may still move money. */
export async function reserveSpending(db: GatewayWork, payment: string, spend: Spend, now: number): Promise<void> {
  const { main, fee } = partsOf(spend);
  const rows = [{ payment, ...main }, ...(fee ? [{ payment: feeOf(payment), ...fee }] : [])];
  const values = rows.map((row) => ({ ...row, amount: amountText(row.amount), at: now, freed: 0 }));
  await db.insertInto("gateway_spending").values(values).execute();
}

/** Under this name the table has the priority fee of a token payment, beside its tokens. */
const feeOf = (payment: string): string => `${payment}/fee`;

/** A payment that failed counts no longer; one that has arrived after all counts again, whatever the limit says. */
export async function countSpending(db: GatewayWork, payment: string, counts: boolean): Promise<void> {
  await db
    .updateTable("gateway_spending")
    .set({ freed: counts ? 0 : 1 })
    .where("payment", "in", [payment, feeOf(payment)])
    .execute();
}
