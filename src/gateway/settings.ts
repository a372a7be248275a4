// What a gateway runs with, as options.ts has read it from options, file and environment.

import type { Network } from "../networks.js";
import type { LocalNetworkOptions, LocalSolanaOptions } from "../receive/local-schema.js";
import type { Asset } from "./chain.js";

export interface GatewaySettings {
  readonly port: number;
  readonly host: string;
  /** Without a slash at its end. */
  readonly publicUrl: string | undefined;
  readonly database: { readonly file: string } | { readonly url: string };
  readonly redisUrl: string | undefined;
  /** Opens hosted wallets; never stored. Absent = no hosted wallets. */
  readonly passphrase: string | undefined;
  readonly networks: readonly NetworkSettings[];
  readonly plans: Readonly<Record<string, Plan>>;
  /** Origins and paths of foreign facilitators that callers may name. */
  readonly facilitatorUrls: readonly string[];
  /** Web origins whose pages may open an event socket, beside the gateway's own. */
  readonly eventOrigins: readonly string[];
  /** Settlements a UTC day that this gateway pays for. */
  readonly sponsored: { readonly perAccount: number; readonly perPayer: number };
  /** Bearer of the operator's API under /admin; absent = that API does not exist. */
  readonly adminToken: string | undefined;
  /** Is there a page for people under /dashboard? */
  readonly dashboard: boolean;
  /** Bearer of /metrics beyond loopback. */
  readonly metricsToken: string | undefined;
  /** Proxies in front, whose X-Forwarded-For is believed. */
  readonly trustProxy: number;
  /** Milliseconds that a shutdown waits for requests under way. */
  readonly shutdownMs: number;
}

export interface NetworkSettings {
  readonly network: Network;
  /** The entry of `local()`; `settler` may be absent. */
  readonly options: Omit<LocalNetworkOptions, "settler"> | Omit<LocalSolanaOptions, "settler">;
  readonly settler: LocalNetworkOptions["settler"] | LocalSolanaOptions["settler"] | undefined;
  /** The default network of its family among main or test networks: the first that is named. */
  readonly isDefault: boolean;
  readonly confirmations: number;
  /** The tokens that may be moved, beside the network's own currency. */
  readonly assets: readonly Asset[];
}

export const ENDPOINTS = [
  "POST /payment/send",
  "POST /payment/receive",
  "GET /payment/status",
  "GET /payment/history",
  "POST /transaction/send",
  "POST /transaction/receive",
  "GET /transaction",
  "POST /verify",
  "POST /settle",
  "POST /wallets/challenge",
  "POST /wallets/prove",
  "GET /events",
] as const;
export type Endpoint = (typeof ENDPOINTS)[number];

export interface Plan {
  /** Requests a minute; `key` = set for each key. */
  readonly perMinute: number | "key";
  /** What an account may hold open and say on its event sockets; `key` = in proportion to the key's own rate. */
  readonly events: EventLimits | "key";
  /** Endpoints that it permits. */
  readonly endpoints: readonly Endpoint[];
}

/** Of all sockets of an account together. */
export interface EventLimits {
  /** Sockets at once. */
  readonly connections: number;
  /** Messages that it sends, not those that it is sent. */
  readonly messagesPerSecond: number;
}
