// The public names that belong to no framework: receivers, the store, exact prices, errors and types.
import type { RouteTable as AnyRouteTable, TableOptions as AnyTableOptions } from "./options.js";
import type { PriceFunction as AnyPriceFunction } from "./price.js";

export {
  type ConfigCode,
  type ConfigProblem,
  ERRORS,
  type ErrorCode,
  PaywallConfigError,
  PaywallError,
} from "./errors.js";
export type { EventName, Events, Listener, PaymentFacts, PaywallEvents } from "./events.js";
export type { NetworkName } from "./network-names.js";
export type { PaywallOptions, RouteOptions } from "./options.js";
export type { Payment, PaymentJson, PaymentPass } from "./payment.js";
export type { ListedPayment, PaymentQuery, Payments } from "./payment-list.js";
export { type Price, type PriceObject, times } from "./price.js";
export { facilitator } from "./receive/facilitator.js";
export { type FailoverOptions, failover } from "./receive/failover.js";
export { type HostedOptions, hosted } from "./receive/hosted.js";
export { type LocalGatewayOptions, local } from "./receive/local.js";
export type { Receiver } from "./receive/receiver.js";
export type { PaywallRequest } from "./request.js";
export type { Logger } from "./settings.js";
export { type MemoryStoreOptions, memoryStore } from "./store/memory.js";
export type { Store } from "./store/store.js";

/**
 * A price that is made from the request; it runs once for each. `native` is the framework's own request: name its type
 * (`PriceFunction<express.Request>`) where the function reads it, and leave it out where it serves every framework.
 *
 * @example const price: PriceFunction = ({ target }) => times("$0.002", target.length);
 */
export type PriceFunction<Native = unknown> = AnyPriceFunction<Native>;

/**
 * A pricing table that stands apart: `METHOD /path` or `/path` to a price. The first match in table order wins. Where its price
 * functions read `native`, name its type: `RouteTable<express.Request>`.
 *
 * @example const routes: RouteTable = { "GET /health": "free", "GET /weather": "$0.001" };
 */
export type RouteTable<Native = unknown> = AnyRouteTable<Native>;

/** Options of `paywall({ routes, … })` that stand apart. */
export type TableOptions<Native = unknown> = AnyTableOptions<Native>;
