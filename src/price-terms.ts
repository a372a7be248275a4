// Options that mean nothing for the price they stand beside. A seller who writes them expects something of them, so they are
// refused; what a price merely inherits may be meant for others and is left alone.
import { optionPath, type Problems, show } from "./config-problems.js";
import type { Network } from "./networks.js";
import { resolvePrice } from "./price.js";
import type { Terms } from "./settings.js";

/** What was written for this very price: beside it, or in options that have no other. */
export interface Written {
  readonly flow?: Terms["flow"] | undefined;
  readonly confirmations?: number | undefined;
}

/** Does the price give each of these options something to do? Prices that are wrong are reported elsewhere. */
export function checkMeaning(
  price: unknown,
  networks: readonly Network[],
  written: Written,
  path: string,
  problems: Problems,
): void {
  if (typeof price === "function") return;
  const resolved = resolvePrice(price, networks);
  if (!resolved.ok || resolved.free) return;
  const own = resolved.costs.filter(({ transfer }) => transfer.method === "transaction");
  const what = typeof price === "string" ? show(price) : "this price";
  if (written.flow === "authorization" && own.length === resolved.costs.length) {
    const why = "is paid by a transaction of the buyer's own only, whose money moves before the handler runs";
    problems.add(
      optionPath(path, ["flow"]),
      "contradiction",
      `${what} ${why}: write flow: "upfront", leave flow out, or add a price in a token such as "$0.01"`,
    );
  }
  if (written.confirmations !== undefined && own.length === 0) {
    const why = "counts blocks on a transaction of the buyer's own, and no offer here is one";
    const level = networks.some(({ family }) => family === "solana") ? " (on Solana: when it is confirmed)" : "";
    problems.add(
      optionPath(path, ["confirmations"]),
      "contradiction",
      `confirmations ${why}. A token payment counts when its settlement is in a block${level}: leave confirmations out`,
    );
  }
}
