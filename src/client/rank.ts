// The order in which payable offers are tried. It is total, so that the same challenge is always answered alike.
import type { Offer } from "./offer.js";
import type { Cost } from "./settings.js";

export interface Priced {
  readonly offer: Offer;
  readonly cost: Pick<Cost, "unit" | "amount">;
}

/**
 * Preferred networks first; then what is charged only when served, before what is charged before; then the cheapest of what can
 * be compared, dollars before other units; then the seller's order.
 */
export function rank<Item extends Priced>(items: readonly Item[], preferred: readonly string[]): readonly Item[] {
  const preference = ({ offer }: Item) => {
    const place = preferred.indexOf(offer.network.id);
    return place < 0 ? preferred.length : place;
  };
  const price = byPrice(items);
  return [...items].sort((a, b) => preference(a) - preference(b) || risk(a) - risk(b) || price(a, b));
}

/** Cheapest first, as far as units can be compared. */
export const cheapestOf = <Item extends Priced>(items: readonly Item[]): Item | undefined =>
  [...items].sort(byPrice(items))[0];

/** An authorization waits for the goods; an upfront one does not; a transaction of one's own costs a fee as well. */
const risk = ({ offer }: Priced): number => (offer.method === "transaction" ? 2 : offer.flow === "upfront" ? 1 : 0);

const DOLLARS = "usd";

/** Other units than dollars have no common measure: they stand in the order in which the seller named them. */
function byPrice(items: readonly Priced[]): (a: Priced, b: Priced) => number {
  const inOrder = [...items].sort((a, b) => a.offer.index - b.offer.index).map(({ cost }) => cost.unit);
  const units = [DOLLARS, ...inOrder];
  return (a, b) =>
    units.indexOf(a.cost.unit) - units.indexOf(b.cost.unit) ||
    compare(a.cost.amount, b.cost.amount) ||
    a.offer.index - b.offer.index;
}

const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);
