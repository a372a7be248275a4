// `tollgate/metrics`: the events of paywalls as counters of Prometheus. Labels are names of events, the seller's own networks
// and assets, and error codes: never a payer, a transaction or a URL, so that no visitor can make a new series.
import type { Counter, Registry } from "prom-client";
import { PaywallConfigError } from "./errors.js";
import type { EventName, Events, PaymentFacts, PaywallEvents } from "./events.js";

type Label = "event" | "network" | "asset" | "code";

/** Settled so far in one asset, in atomic units: exact, and rounded only as it is shown. */
interface Sum {
  readonly network: string;
  readonly asset: string;
  amount: bigint;
  /** Taken back by the chain: counted already when it comes anew, because a counter never falls. */
  takenBack: bigint;
}

/** What all paywalls of one registry are counted in. */
interface Meters {
  readonly events: Counter<Label>;
  readonly settled: Map<string, Sum>;
}

const EVENTS: { readonly [Name in EventName]: true } = {
  challenge: true,
  refusal: true,
  verified: true,
  claimed: true,
  released: true,
  settled: true,
  refused: true,
  unknown: true,
  delivered: true,
  undelivered: true,
  replayed: true,
  reconciled: true,
  expired: true,
  reorganised: true,
  low_gas: true,
};

/** Networks with an asset that get a series of their own; a price function that names ever new tokens ends here. */
const MOST_ASSETS = 200;
const OTHER = { network: "other", asset: "other" };

const meters = new WeakMap<Registry, Meters>();

/**
 * Counts what a paywall does, in prom-client's default registry or in another one. Several paywalls may count in one. Gives the
 * way to end it.
 *
 * - `tollgate_events_total{event, network, asset, code}`: events by name, each with the labels that it has.
 * - `tollgate_settled_amount_total{network, asset}`: what was settled, in atomic units of the asset.
 *
 * @throws PaywallConfigError where prom-client is not installed.
 * @example await collectMetrics(pay);
 */
export async function collectMetrics(pay: Pick<Events, "on">, register?: Registry): Promise<() => void> {
  const prometheus = await load();
  const registry = register ?? prometheus.register;
  const known = meters.get(registry);
  const own = known ?? createMeters(prometheus, registry);
  meters.set(registry, own);
  const names = Object.keys(EVENTS) as EventName[];
  const ends = names.map((name) => pay.on(name, (event) => count(own, name, event)));
  return () => {
    for (const end of ends) end();
  };
}

type Prometheus = typeof import("prom-client");

async function load(): Promise<Prometheus> {
  try {
    return await import("prom-client");
  } catch {
    const message = "counting for Prometheus needs prom-client, which is not installed: npm install prom-client";
    throw new PaywallConfigError([{ path: "metrics", code: "missing_package", message }]);
  }
}

function createMeters({ Counter }: Prometheus, registry: Registry): Meters {
  const settled: Meters["settled"] = new Map();
  const registers = [registry];
  const events = new Counter({
    name: "tollgate_events_total",
    help: "What happened to requests and payments, by event",
    labelNames: ["event", "network", "asset", "code"] as const,
    registers,
  });
  new Counter({
    name: "tollgate_settled_amount_total",
    help: "Settled payments in atomic units of their asset",
    labelNames: ["network", "asset"] as const,
    registers,
    collect() {
      // Added up here and not in the counter, whose numbers end before money does.
      this.reset();
      for (const { network, asset, amount } of settled.values()) this.inc({ network, asset }, Number(amount));
    },
  });
  return { events, settled };
}

function count({ events, settled }: Meters, event: EventName, facts: PaywallEvents[EventName]): void {
  const code = "code" in facts ? facts.code : "";
  const sum = "asset" in facts ? sumOf(settled, facts) : undefined;
  const network = sum?.network ?? ("network" in facts ? facts.network : "");
  events.inc({ event, network, asset: sum?.asset ?? "", code });
  if (!sum || !("asset" in facts)) return;
  if (event === "reorganised") sum.takenBack += facts.amount;
  if (event === "settled") add(sum, facts.amount);
}

function sumOf(settled: Meters["settled"], { network, asset }: PaymentFacts): Sum {
  const isKnown = settled.has(`${network} ${asset}`) || settled.size < MOST_ASSETS;
  const of = isKnown ? { network, asset } : OTHER;
  const key = `${of.network} ${of.asset}`;
  const sum = settled.get(key) ?? { ...of, amount: 0n, takenBack: 0n };
  settled.set(key, sum);
  return sum;
}

function add(sum: Sum, amount: bigint): void {
  const again = amount < sum.takenBack ? amount : sum.takenBack;
  sum.takenBack -= again;
  sum.amount += amount - again;
}
