// One running gateway: its parts opened, wired, and closed in order. Everything that the service does is behind `fetch`.
import type { Environment } from "../environment.js";
import { createAdmin } from "./admin/admin.js";
import type { ApiKey } from "./caller.js";
import { createEngine } from "./create-engine.js";
import { createLink } from "./dashboard/link.js";
import { placeOf } from "./dashboard/place.js";
import { authenticateSession } from "./dashboard/sockets.js";
import type { GatewayDatabase } from "./database/database.js";
import { openDatabase } from "./database/open.js";
import type { Engine } from "./engine.js";
import { createEventSockets } from "./events/sockets.js";
import type { EventTimes } from "./events/times.js";
import type { Upgrade } from "./events/upgrade.js";
import { createFirstKey } from "./first-key.js";
import { createApp, type GatewayApp } from "./http/app.js";
import { createFloodGate } from "./http/flood.js";
import { createLimits } from "./http/limits.js";
import { createMetrics } from "./http/metrics.js";
import { openRedis } from "./http/redis.js";
import { createWork } from "./http/work.js";
import { createLogger } from "./logger.js";
import { openNetworks } from "./networks.js";
import { type GatewayOptions, gatewayWarnings, readGatewayOptions } from "./options.js";
import type { GatewayLogger, GatewayNetworks, GatewayParts } from "./parts.js";
import type { GatewaySettings } from "./settings.js";
import { openCustody } from "./wallets/custody.js";
import { announceChanges } from "./watch/announce.js";
import { createWatcher } from "./watch/watcher.js";

/** What is not configuration. */
export interface GatewayContext {
  /** `process.env`. */
  readonly env?: Environment;
  /** pino on standard output. */
  readonly logger?: GatewayLogger;
  /** Epoch milliseconds. */
  readonly now?: () => number;
  /** In place of parts of the engine: for tests that script a fault. */
  readonly engine?: Partial<Engine>;
  /** Stands between the gateway and what it works with: for tests that end its process between two steps. */
  readonly wrap?: Wrap;
  /** In place of the times of event sockets: for tests. */
  readonly eventTimes?: Partial<EventTimes>;
  /** In place of the 3,000 milliseconds that a node has for an answer: for tests whose chain shares a busy machine. */
  readonly nodeMs?: number;
}

export interface Wrap {
  database?(database: GatewayDatabase): GatewayDatabase;
  networks?(networks: GatewayNetworks): GatewayNetworks;
}

export interface Gateway {
  /** A handler for any server that speaks `Request` and `Response`; the bindings of @hono/node-server tell it who calls. */
  fetch: GatewayApp["fetch"];
  /**
   * `GET /events` for an http server of your own; `serve` has it. The server must not give it other upgrades than to WebSocket.
   *
   * @example createServer(listener).on("upgrade", gateway.upgrade)
   */
  readonly upgrade: Upgrade;
  readonly app: GatewayApp;
  readonly settings: GatewaySettings;
  readonly database: GatewayDatabase;
  readonly networks: GatewayNetworks;
  readonly parts: GatewayParts;
  /** Made by the very first start; its secret is shown here and never again. */
  readonly firstKey: { readonly key: ApiKey; readonly secret: string } | undefined;
  /**
   * A link that signs in to the dashboard for an account: once, within ten minutes, whoever opens it. `at`: where the gateway
   * listens, if it has no public URL.
   */
  loginLink(account: string, at?: string): Promise<string>;
  /** Begins to follow payments in the background. */
  start(): void;
  /** Can it serve? As GET /readyz says. */
  ready(): Promise<boolean>;
  /** Ends the event sockets, and opens none any more: the first thing of a shutdown, since clients keep them for ever. */
  endSockets(): Promise<void>;
  /** Takes no further request, lets those under way end for as long as the settings say, and closes everything. */
  close(): Promise<void>;
}

/**
 * Opens a gateway by its options; the environment fills what they leave out.
 *
 * @throws PaywallConfigError with every problem of the configuration, or where a package is missing.
 * @example
 * const gateway = await createGateway({ networks: { "base-sepolia": { rpcUrl, settler } } });
 * gateway.start();
 * const server = await serve(gateway);
 */
export async function createGateway(options: GatewayOptions = {}, context: GatewayContext = {}): Promise<Gateway> {
  const settings = readGatewayOptions(options, context.env ?? process.env);
  const logger = context.logger ?? createLogger();
  for (const sentence of gatewayWarnings(settings, context.env ?? process.env)) logger.warn({}, sentence);
  return openGateway(settings, { ...context, logger });
}

/** Opens a gateway by settings that were read already. */
export async function openGateway(settings: GatewaySettings, context: GatewayContext = {}): Promise<Gateway> {
  const { logger = createLogger(), now = Date.now, wrap } = context;
  // What was opened before something fails is closed again, the latest first.
  const opened: (() => Promise<void>)[] = [];
  const closeAll = async () => {
    for (let close = opened.pop(); close; close = opened.pop()) await close();
  };
  try {
    const bare = await openDatabase(settings.database);
    opened.push(() => bare.close());
    const { database, onChange } = announceChanges(wrap?.database?.(bare) ?? bare, logger);
    const own = await openNetworks(settings, { database, logger, timeoutMs: context.nodeMs });
    opened.push(() => own.close());
    const networks = wrap?.networks?.(own) ?? own;
    const custody = await openCustody(settings.passphrase, database);
    const redis = settings.redisUrl === undefined ? undefined : await openRedis(settings.redisUrl);
    if (redis) opened.push(async () => redis.disconnect());
    const common = { settings, database, networks, custody, logger, now };
    const watcher = createWatcher(common, { onChange });
    opened.push(() => watcher.close());
    const parts: GatewayParts = { ...common, watcher };
    const engine: Engine = { ...createEngine(parts), ...context.engine };
    const metrics = createMetrics();
    opened.push(async () => metrics.close());
    onChange(({ payment, before }) => {
      if (payment.status !== before) metrics.payment(payment.type, payment.status);
    });
    const work = createWork();
    let closing = false;
    const shared = { redis, gate: createFloodGate(now), limits: createLimits({ redis, logger, now }) };
    const sockets = createEventSockets(parts, {
      ...{ ...shared, metrics: metrics.events, times: context.eventTimes ?? {} },
      authenticators: settings.dashboard ? [authenticateSession(parts)] : [],
    });
    opened.push(() => sockets.close());
    onChange(({ payment, before }) => {
      if (payment.status !== before) sockets.written(payment.account);
    });
    const app = createApp(parts, engine, {
      ...shared,
      admin: createAdmin(parts),
      ...{ work, metrics, isClosing: () => closing },
    });
    return {
      fetch: app.fetch,
      app,
      settings,
      database,
      networks,
      parts,
      firstKey: await createFirstKey(database, settings),
      loginLink: (account, at) => createLink(database, account, placeOf(settings).url, settings.publicUrl ?? at),
      start: () => watcher.start(),
      upgrade: sockets.upgrade,
      endSockets: () => sockets.close(),
      ready: async () => (await app.request("/readyz")).ok,
      async close() {
        closing = true;
        if (!(await work.idle(settings.shutdownMs))) {
          logger.warn(
            { running: work.running },
            "requests are still under way: what they have begun is repaired at the next start",
          );
        }
        await closeAll();
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}
