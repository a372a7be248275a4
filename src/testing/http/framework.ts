// What a web framework brings to be tested: how it serves a few routes behind its paywall. Everything else of a case, what is
// asked and what must come of it, is the same for all.
import type { Access } from "../../access.js";
import type { Payment } from "../../payment.js";
import type { Receiver } from "../../receive/receiver.js";
import type { Logger } from "../../settings.js";

export interface HttpFramework {
  readonly name: string;
  /** What it has no way to do; cases that need it are left out. */
  readonly lacks?: readonly Ability[];
  /** Listens on 127.0.0.1, on a port of its own. */
  start(site: Site): Promise<RunningSite>;
}

/**
 * `middleware`: the app itself can set headers before the paywall is asked. `parser before`, `parser after`: a body parser of
 * the framework can read the body before or after that. `late end`: the adapter can see that a handler has come to its end
 * after its time was up.
 */
export type Ability = "middleware" | "parser before" | "parser after" | "late end";

export interface RunningSite {
  readonly port: number;
  /** The paywall's own `ready`. */
  ready(): Promise<void>;
  /** Ends the server with its connections, and the paywall. */
  close(): Promise<void>;
}

/** What a framework has to build. */
export interface Site {
  /** For `createPaywall`. */
  readonly settings: SiteSettings;
  /** Each for every method. */
  readonly routes: readonly SiteRoute[];
  /** Set on every answer by the app, before the paywall is asked. */
  readonly headersBefore?: Readonly<Record<string, string>>;
  /** When the framework's parser reads the body as text; without it nothing does but the handler. */
  readonly parser?: "before" | "after";
}

/** The members of a paywall's options that cases set. */
export interface SiteSettings {
  readonly payTo: `0x${string}`;
  readonly network: "base-sepolia";
  readonly receive: Receiver;
  readonly logger: Logger;
  readonly handlerTimeoutMs?: number;
}

/** The options of a route that cases set. */
export interface SiteOptions {
  readonly flow?: "authorization" | "upfront";
  readonly access?: Access;
}

export interface SiteRoute {
  /** Plain segments, the same in every framework. */
  readonly path: string;
  readonly price: string;
  /** Of the route, beside its price; undefined = none. */
  readonly options?: SiteOptions;
  readonly handler: SiteHandler;
}

/** One handler; the framework answers a thrown error as it does for any of its handlers. */
export type SiteHandler = (run: SiteRun) => Reply | Promise<Reply>;

export interface SiteRun {
  readonly payment: Payment | undefined;
  /** A header of the request as the handler sees it. */
  header(name: string): string | undefined;
  /** The body, read by the parser or by the handler. */
  body(): Promise<string>;
}

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent by the framework's own means for each kind. */
  readonly body: string | Uint8Array | AsyncIterable<Uint8Array> | { readonly json: object } | null;
}
