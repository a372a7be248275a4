// The configuration after `options.ts` has read it: complete, checked, with every default filled in.
import type { PassTerms } from "./access.js";
import type { Network } from "./networks.js";
import type { PageOption } from "./page-option.js";
import type { PayTo } from "./payees.js";
import type { Price, PriceFunction } from "./price.js";
import type { Receiver } from "./receive/receiver.js";
import type { Store } from "./store/store.js";

/** Settings shared by all routes of one paywall. */
export interface Settings {
  readonly receiver: Receiver;
  readonly store: Store;
  readonly logger: Logger;
  /** `https://host` without a trailing slash; absent = the request's own origin. */
  readonly publicUrl: string | undefined;
  readonly trustProxy: boolean;
  readonly cors: Cors | undefined;
  readonly limits: Limits;
  /** Terms of a route that says nothing of its own. */
  readonly terms: Terms;
  /** `paywall()` and `paywall({ routes })` only. */
  readonly price: Price | PriceFunction | undefined;
  readonly routes: readonly RouteEntry[] | undefined;
  /** Refuse unlisted paths in table mode instead of opening them. */
  readonly strict: boolean;
  /** The public test facilitator receives because nothing else is configured: no route may ask for a main network. */
  readonly testNetworksOnly?: boolean;
  /** Said once at start, by the logger (for example that the public test facilitator is in use). */
  readonly notices: readonly string[];
}

/** What one route asks for, beside its price. */
export interface Terms {
  readonly networks: readonly Network[];
  /** Receiving address by CAIP-2 id, checksummed; has one entry for each of `networks`. */
  readonly payTo: Readonly<Record<string, string>>;
  /** What the seller wrote, for routes that name other networks. */
  readonly payToAsWritten?: PayTo;
  readonly flow: "authorization" | "upfront";
  readonly description: string;
  readonly mimeType: string;
  readonly maxTimeoutSeconds: number;
  readonly handlerTimeoutMs: number;
  /** Blocks that must stand on a transaction proof, where its price names none. */
  readonly confirmations: number;
  /** How long a finished small answer is kept for a retry; 0 = not at all. */
  readonly replayMs: number;
  /** What a payment opens beside its own answer; absent = nothing. */
  readonly pass?: PassTerms | undefined;
  /** What a browser is shown; `false` = JSON, as everybody else gets. */
  readonly page?: PageOption | undefined;
}

/** One line of a pricing table, in table order. */
export interface RouteEntry {
  /** As written: `GET /weather`, `/files/*`. */
  readonly key: string;
  /** Upper case; undefined = every method. */
  readonly method: string | undefined;
  /** Path pattern: literal segments, `:name`, and a last `*`. */
  readonly pattern: string;
  readonly price: Price | PriceFunction;
  readonly terms: Terms;
}

export interface Limits {
  /** Open claims of one payer, 256. */
  readonly openClaimsPerPayer: number;
  /** Runs of the handler that one proof may cause without being charged, 3. */
  readonly unchargedRunsPerProof: number;
  /** The same for one payer in ten minutes, 100. */
  readonly unchargedRunsPerPayer: number;
  /** Milliseconds of a claim's lease, renewed while the handler runs, 15,000. */
  readonly leaseMs: number;
}

export interface Cors {
  /** Exact origins, or `"*"`. */
  readonly origins: "*" | readonly string[];
}

/** Fits `console`, pino and most others. Never given a signature, nonce, secret or key. */
export interface Logger {
  debug(message: string, facts?: object): void;
  info(message: string, facts?: object): void;
  warn(message: string, facts?: object): void;
  error(message: string, facts?: object): void;
}
