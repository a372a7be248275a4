// The budget at work: what an offer costs in the money of the budget, how much one request may cost, and which limits of hour
// and day bind it. Counting is the store's.
// Invariant: an asset without a cap is not paid; at a host, the limits of all hosts together bind as well as its own.
import { type Scope, type Scopes, WINDOWS } from "./budget-options.js";
import { sameHost } from "./host-name.js";
import type { Budget } from "./settings.js";
import { DAY_MS, type Limit } from "./store.js";
import { unitOf } from "./unit.js";

const WINDOW_MS = { perHour: 60 * 60 * 1000, perDay: DAY_MS } as const;

export function createBudget({ whole, hosts }: Scopes): Budget {
  return Object.freeze<Budget>({
    costOf({ network, asset, amount }, host) {
      const { id, factor, format } = unitOf(network, asset);
      const own = hosts.get(sameHost(host))?.perRequest.get(id);
      const cap = (own ?? whole.perRequest.get(id))?.amount;
      return Object.freeze({ unit: id, amount: amount * factor, cap, format });
    },
    limitsOf({ unit }, host) {
      const name = sameHost(host);
      const own = hosts.get(name);
      return [...limitsIn(whole, unit), ...(own ? limitsIn(own, unit, name) : [])];
    },
  });
}

function limitsIn(scope: Scope, unit: string, host?: string): readonly Limit[] {
  return WINDOWS.flatMap((window) => {
    const limit = scope[window].get(unit);
    if (!limit) return [];
    const { amount } = limit;
    const named = { name: `${scope.path}.${window}`, unit, windowMs: WINDOW_MS[window], amount };
    return [host === undefined ? named : { ...named, host }];
  });
}
