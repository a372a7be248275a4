// Holds a history against the promises: at most one grant and one debit for a proof, no goods without a debit, no new bill for a
// payment whose outcome was unknown, every paid grant obtained by its buyer's retry (unless every delivery that a payment has was lost
// on its way), and no money from or to nowhere.
import { NEEDS } from "../../src/repeat.js";
import { MAX_DELIVERIES } from "../../src/store/record.js";
import { grantsOf, type History, isGoods, type Purchase, type Told } from "./history.js";

export type Rule =
  | "double grant"
  | "double debit"
  | "unpaid grant"
  | "goods for a stranger"
  | "other goods"
  | "goods of no run"
  | "new bill"
  | "paid, not served"
  | "unaccounted"
  | "money";

export interface Violation {
  readonly rule: Rule;
  readonly payer: string;
  readonly detail: string;
}

/** Every breach of every rule; an empty list where all promises were kept. */
export function check(history: History): readonly Violation[] {
  return [...history.purchases.flatMap((one) => checkPurchase(one, history.price)), ...checkMoney(history)];
}

function checkPurchase(purchase: Purchase, price: bigint): readonly Violation[] {
  const { payer, told, runs, debits, spent } = purchase;
  const found: Violation[] = [];
  const breach = (rule: Rule, detail: string) => found.push({ rule, payer, detail });
  const grants = grantsOf(purchase);
  const goods = told.filter(({ status }) => isGoods(status));

  if (grants.length > 1) breach("double grant", grants.map(({ body }) => nameOf(body)).join(", "));
  if (debits.length > 1) breach("double debit", debits.map(({ transaction }) => transaction).join(", "));
  if (goods.length > 0 && debits.length === 0) breach("unpaid grant", nameOf(goods[0]?.body ?? ""));
  if (goods.some(({ by }) => by === "stranger")) breach("goods for a stranger", "without the retry key");
  const bodies = new Set(goods.filter(({ complete }) => complete).map(({ body }) => body));
  if (bodies.size > 1) breach("other goods", [...bodies].map(nameOf).join(", "));
  for (const body of bodies) if (!runs.includes(nameOf(body))) breach("goods of no run", nameOf(body));
  const bill = billAgain(purchase);
  if (bill) breach("new bill", `${bill.status} ${bill.code}`);
  if (debits.length > 0 && bodies.size === 0 && !isSpent(told)) breach("paid, not served", lastOf(told));
  if (debits.length === 0 && !isOver(told)) breach("unaccounted", lastOf(told));
  if (debits.some(({ amount }) => amount !== price)) breach("money", `the price is ${price}`);
  const taken = debits.reduce((sum, { amount }) => sum + amount, 0n);
  if (spent !== taken) breach("money", `${spent} spent, ${taken} debited`);
  return found;
}

/** Another payment was asked for although this one was taken, or might be: only its certain end makes that right. */
function billAgain({ told, debits }: Purchase): Told | undefined {
  const unknownAt = told.findIndex(({ code }) => code === "settlement_unknown");
  const goodsAt = told.findIndex(({ status, complete }) => isGoods(status) && complete);
  return told.find(({ bill, code }, at) => {
    if (!bill) return false;
    // A payment that bought its goods is forgotten once its time is over, and then it is one that is too late, as any other.
    if (code === "payment_expired" && goodsAt !== -1 && at > goodsAt) return false;
    if (debits.length > 0) return true;
    return unknownAt !== -1 && at > unknownAt && code !== "payment_expired";
  });
}

/** Did as many answers as a payment has deliveries get lost on their way, and was its buyer told so? A 503 is no delivery. */
export function isSpent(told: readonly Told[]): boolean {
  const lost = told.filter(({ complete }) => !complete);
  const last = told.findLast(({ by }) => by === "buyer");
  const said = last?.code === "payment_already_used" && last.body.includes(NEEDS.delivery);
  return said && lost.length >= MAX_DELIVERIES;
}

/** Did its buyer learn for certain that this payment is nothing any more? */
function isOver(told: readonly Told[]): boolean {
  const last = told.findLast(({ by, status }) => by === "buyer" && status !== undefined);
  return last === undefined || last.bill;
}

function checkMoney({ purchases, received, foreign }: History): readonly Violation[] {
  const spent = purchases.reduce((sum, one) => sum + one.spent, 0n);
  const strangers: Violation[] = foreign.map((payer) => ({ rule: "money", payer, detail: "a debit of no purchase" }));
  if (spent === received) return strangers;
  return [...strangers, { rule: "money", payer: "all", detail: `${spent} spent, ${received} received` }];
}

const lastOf = (told: readonly Told[]): string => {
  const last = told.at(-1);
  return last ? `the last answer: ${last.status} ${last.code ?? ""}` : "never asked for";
};

/** The name of the run that made the goods. */
export const nameOf = (body: string): string => /^the goods of (\S+)/.exec(body)?.[1] ?? body.slice(0, 40);
