// Settlements that the gateway pays for, counted per UTC day of the database. A payer counts across all accounts: it is the
// gateway's gas, whoever presents his proofs.
import type { Payment, Pursuit } from "../payment.js";
import type { GatewayConnection } from "./connection.js";
import type { Sponsored } from "./database.js";
import type { GatewayWork } from "./tables.js";

const DAY_MS = 24 * 3_600_000;
const KEPT_DAYS = 2;
/** Beside the one that was reserved. */
const REVERTED_TOO = 2;

type Over = "account" | "payer";

/** Thrown to undo a reservation that is over its budget. */
class OverBudget extends Error {
  readonly over: Over;
  readonly resetAt: number;
  constructor(over: Over, resetAt: number) {
    super(`the ${over} has used its budget`);
    this.over = over;
    this.resetAt = resetAt;
  }
}

/** Budgets are given with each call: a changed setting holds at once. Only reservations are refused, never what has happened. */
export function createSponsored({ write }: GatewayConnection): Sponsored {
  return {
    async reserve(account, payer, { perAccount, perPayer }) {
      try {
        await write(async (db, now) => {
          const day = Math.floor(now / DAY_MS);
          const resetAt = (day + 1) * DAY_MS;
          // Always in this order, so that two that wait for each other cannot be.
          const byAccount = await use(db, { day, kind: "account", name: account }, 1);
          if (byAccount > perAccount) throw new OverBudget("account", resetAt);
          const byPayer = await use(db, { day, kind: "payer", name: payer }, 1);
          if (byPayer > perPayer) throw new OverBudget("payer", resetAt);
          if (byAccount === 1) await forget(db, day - KEPT_DAYS);
        });
        return { ok: true };
      } catch (error) {
        if (!(error instanceof OverBudget)) throw error;
        return { ok: false, over: error.over, resetAt: error.resetAt };
      }
    },
    giveBack: (account, payer) => write((db, now) => add(db, now, { account, payer }, -1)),
  };
}

/**
 * Counts each transaction that a change names as reverted and that its record did not name. Invariant: in the transaction of that
 * change, so that one counts once, however many see it and whenever a process dies.
 */
export async function countReverted(
  db: GatewayWork,
  now: number,
  { account, sender, pursuit: before }: Payment,
  after: Pursuit | undefined,
): Promise<void> {
  const known = new Set(revertedIn(before));
  const found = revertedIn(after).filter((transaction) => !known.has(transaction));
  if (found.length === 0 || sender === null) return;
  await add(db, now, { account, payer: sender }, found.length * REVERTED_TOO);
}

const revertedIn = (pursuit: Pursuit | undefined): readonly string[] =>
  pursuit?.kind === "settlement" ? (pursuit.reverted ?? []) : [];

/** Always in this order, so that two that wait for each other cannot be. */
async function add(
  db: GatewayWork,
  now: number,
  { account, payer }: { readonly account: string; readonly payer: string },
  count: number,
): Promise<void> {
  const day = Math.floor(now / DAY_MS);
  await use(db, { day, kind: "account", name: account }, count);
  await use(db, { day, kind: "payer", name: payer }, count);
}

interface Counter {
  readonly day: number;
  readonly kind: Over;
  readonly name: string;
}

/** What is used now. Never below nothing: what was reserved yesterday gives today nothing. */
async function use(db: GatewayWork, counter: Counter, count: number): Promise<number> {
  const row = await db
    .insertInto("gateway_sponsored")
    .values({ ...counter, used: Math.max(0, count) })
    .onConflict((on) =>
      on.columns(["day", "kind", "name"]).doUpdateSet(({ eb, ref }) => {
        const sum = eb(ref("gateway_sponsored.used"), "+", count);
        return { used: eb.case().when(sum, "<", 0).then(0).else(sum).end() };
      }),
    )
    .returning("used")
    .executeTakeFirstOrThrow();
  return Number(row.used);
}

async function forget(db: GatewayWork, before: number): Promise<void> {
  await db.deleteFrom("gateway_sponsored").where("day", "<", before).execute();
}
