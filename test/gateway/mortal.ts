// A process that ends between two steps, at a call that is named: from then on none of its calls does anything.
import type { GatewayNetwork } from "../../src/gateway/chain.js";
import type { Change } from "./sending.js";

/**
 * The call at which it ends, before it does its work or after: `payments.insert`, `transfers.broadcast`. `payments.complete` is
 * what a new payment does inside of its database transaction.
 */
export interface Death {
  readonly at: string;
  readonly when: "before" | "after";
  /** Which call of this name, the first where it is absent. */
  readonly count?: number;
}

export interface Life {
  readonly ended: boolean;
  /** Puts the process's parts under it. */
  readonly change: Change;
}

/** The parts of a process that ends so. */
export function endsAt({ at, when, count = 1 }: Death): Life {
  let ended = false;
  let calls = 0;
  const end = (): never => {
    ended = true;
    throw new Error("the process has ended");
  };

  function pass(name: string, call: () => unknown): unknown {
    if (ended) return end();
    const isLast = name === at && ++calls === count;
    if (isLast && when === "before") return end();
    const result = call();
    if (!isLast) return result;
    return result instanceof Promise ? result.then(end) : end();
  }

  /** The same object, each of whose functions is a call of the process. */
  const mortal = <Target extends object>(target: Target, name: string): Target =>
    Object.fromEntries(
      Object.entries(target).map(([key, value]: [string, unknown]) => [
        key,
        typeof value === "function"
          ? (...values: readonly unknown[]) => pass(`${name}.${key}`, () => Reflect.apply(value, target, values))
          : value,
      ]),
    ) as Target;

  return {
    get ended() {
      return ended;
    },
    change(parts) {
      const { database, networks } = parts;
      const known = new Map<GatewayNetwork, GatewayNetwork>();
      const toMortal = (network: GatewayNetwork): GatewayNetwork => {
        const made = known.get(network) ?? { ...network, transfers: mortal(network.transfers, "transfers") };
        known.set(network, made);
        return made;
      };
      const find = (name: string) => {
        const found = networks.find(name);
        return found && toMortal(found);
      };
      const defaultFor: typeof networks.defaultFor = (family, mode) => {
        const found = networks.defaultFor(family, mode);
        return found && toMortal(found);
      };
      const { payments } = database;
      const insert: typeof payments.insert = (payment, { complete, ...together } = {}) => {
        if (!complete) return payments.insert(payment, together);
        const completed: typeof complete = async (nonce) =>
          (await pass("payments.complete", () => complete(nonce))) as Awaited<ReturnType<typeof complete>>;
        return payments.insert(payment, { ...together, complete: completed });
      };
      return {
        ...parts,
        networks: { ...networks, find, defaultFor },
        database: {
          ...database,
          payments: mortal({ ...payments, insert }, "payments"),
          nonces: mortal(database.nonces, "nonces"),
          wallets: mortal(database.wallets, "wallets"),
          now: () => pass("now", () => database.now()) as Promise<number>,
        },
      };
    },
  };
}
