// The prices that are known at start, checked for the networks of their route and for whoever receives. A price function is
// asked when a request comes, and what it names is checked then, by the same rules.
import type { Problems } from "./config-problems.js";
import { NETWORKS, type Network } from "./networks.js";
import { notTaken, type OfferingReceiver, takes } from "./offers.js";
import { type Price, type PriceFunction, resolvePrice } from "./price.js";

/** Where the networks are not known, only the form of a text is checked. */
export function checkPrice(
  price: unknown,
  networks: readonly Network[] | undefined,
  path: string,
  problems: Problems,
): price is Price | PriceFunction {
  if (typeof price === "function") return true;
  const resolved = resolvePrice(price, networks ?? FORM_ONLY);
  if (resolved.ok) return true;
  const formOnly = networks === undefined && !(typeof price === "string" && resolved.code === "invalid");
  if (!formOnly) problems.add(path, resolved.code, resolved.problem);
  return false;
}

/** Stands in for networks that could not be read. */
const FORM_ONLY = NETWORKS.filter(({ name }) => name === "base-sepolia");

/** Can the receiver take every way in which this price may be paid? Prices that are wrong are reported elsewhere. */
export function checkTaken(
  price: unknown,
  networks: readonly Network[],
  receiver: OfferingReceiver,
  path: string,
  problems: Problems,
): void {
  if (typeof price === "function") return;
  const resolved = resolvePrice(price, networks);
  const costs = resolved.ok && !resolved.free ? resolved.costs : [];
  for (const cost of costs.filter((one) => !takes(receiver, one))) {
    problems.add(path, "contradiction", notTaken(receiver, cost));
  }
}
