// Both real chains, a real database and the parts of the gateway that follow payments, without HTTP.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Clock } from "../../src/clock.js";
import { createBuildSend } from "../../src/gateway/build/send.js";
import type { ApiKey, Caller, Idempotency } from "../../src/gateway/caller.js";
import type { Asset, GatewayNetwork } from "../../src/gateway/chain.js";
import { openEvmTransfers } from "../../src/gateway/chains/evm.js";
import { openSolanaTransfers } from "../../src/gateway/chains/solana.js";
import { openDatabase } from "../../src/gateway/database/open.js";
import type { Engine } from "../../src/gateway/engine.js";
import type { Outcome } from "../../src/gateway/errors.js";
import type { GatewayLogger, GatewayNetworks, GatewayParts } from "../../src/gateway/parts.js";
import type { Payment } from "../../src/gateway/payment.js";
import { createRecords, toRecord } from "../../src/gateway/records.js";
import type { BuildAnswer, PaymentRecord } from "../../src/gateway/schemas/index.js";
import type { GatewaySettings, NetworkSettings } from "../../src/gateway/settings.js";
import { type AnnouncedDatabase, announceChanges, type PaymentWritten } from "../../src/gateway/watch/announce.js";
import { createWatcher } from "../../src/gateway/watch/watcher.js";
import { findNetwork } from "../../src/networks.js";
import { NATIVE } from "../../src/requirement.js";
import type { Sandbox, SolanaSandbox } from "../../src/testing/index.js";
import { noPostgres, type PostgresServer, startPostgres } from "../support/postgres.js";

export const DATABASES = ["SQLite", "Postgres"] as const;
export type DatabaseName = (typeof DATABASES)[number];

let postgres: Promise<PostgresServer> | undefined;
/** One server for a test file; ended by `stopPostgres`. */
const postgresServer = () => (postgres ??= startPostgres());
export const stopPostgres = async (): Promise<void> => {
  const started = postgres;
  // The next test file in this process starts one of its own.
  postgres = undefined;
  await (await started)?.stop();
};
/** Why this database cannot be tested here. */
export const reasonAgainst = (name: DatabaseName): string | undefined =>
  name === "Postgres" ? noPostgres() : undefined;

export interface WatchingOptions {
  readonly database?: DatabaseName;
  readonly evm?: Sandbox;
  readonly solana?: SolanaSandbox;
  /** On EVM, 1. */
  readonly confirmations?: number;
  /** Milliseconds that the builders' clock is behind: what they build is over so much sooner. */
  readonly behindMs?: number;
  /** In place of the sandbox's own. */
  readonly rpcUrl?: string;
  /** The clock of SQLite. */
  readonly clock?: Clock;
}

export interface Watching extends Pick<Engine, "buildSend" | "status" | "history"> {
  readonly parts: Omit<GatewayParts, "watcher">;
  readonly watcher: GatewayParts["watcher"];
  readonly account: string;
  readonly onChange: AnnouncedDatabase["onChange"];
  /** Every write of a payment in this process. */
  readonly written: readonly PaymentWritten[];
  readonly log: readonly string[];
  /** The parts of another process on the same database and chains. */
  another(): Promise<Omit<GatewayParts, "watcher">>;
  caller(more?: Partial<Pick<ApiKey, "account" | "mode">>, idempotency?: Idempotency): Caller;
  /** The record by its id, after a look at the chain. */
  look(paymentId: string): Promise<PaymentRecord>;
  /** Looks until the record is so, at most 15 seconds. */
  until(paymentId: string, is: (record: PaymentRecord) => boolean): Promise<PaymentRecord>;
  payment(id: string): Promise<Payment>;
}

/** Opens all of it, and closes it with the test. */
export async function openWatching(options: WatchingOptions): Promise<Watching> {
  const log: string[] = [];
  const say = (facts: object, message: string) => void log.push(`${message} ${JSON.stringify(facts)}`);
  const logger: GatewayLogger = { debug: say, info: say, warn: say, error: say, child: () => logger };
  const where = await newPlace(options.database ?? "SQLite");
  const times = options.clock ? { clock: options.clock } : {};
  const opened = await openDatabase(where, times);
  const { database, onChange } = announceChanges(opened, logger);
  const written: PaymentWritten[] = [];
  onChange((one) => written.push(one));
  const networks = openNetworksOf(options, logger);
  const settings = { sponsored: { perAccount: 1_000, perPayer: 1_000 } } as GatewaySettings;
  const parts = { settings, database, networks, custody: undefined, logger, now: Date.now };
  const watcher = createWatcher(parts, { onChange, intervalMs: 100 });
  const databases = [opened];
  onTestFinished(async () => {
    await watcher.close();
    await networks.close();
    for (const one of databases) await one.close();
  });
  const { id: account } = await database.accounts.create("shop");
  const engine = { buildSend: createBuildSend(parts), ...createRecords({ ...parts, watcher }) };
  const payment = async (id: string): Promise<Payment> => {
    const found = await database.payments.get(id);
    if (!found) throw new Error(`there is no payment ${id}`);
    return found;
  };
  const caller: Watching["caller"] = (more, idempotency) => toCaller({ account, ...more }, idempotency);
  // A watcher of its own has not looked yet: as if a second had passed since the last look.
  const look: Watching["look"] = async (id) => {
    await createWatcher(parts).refresh(await payment(id));
    return toRecord(
      await payment(id),
      await database.payments.historyOf(id),
      networks.find((await payment(id)).network),
    );
  };
  return {
    ...engine,
    parts,
    watcher,
    account,
    onChange,
    written,
    log,
    async another() {
      const own = await openDatabase(where, times);
      databases.unshift(own);
      return { ...parts, database: own };
    },
    caller,
    look,
    async until(id, is) {
      const endAt = Date.now() + 15_000;
      for (;;) {
        const record = await look(id);
        if (is(record)) return record;
        if (Date.now() > endAt) throw new Error(`the payment is still ${JSON.stringify(record)}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    payment,
  };
}

async function newPlace(name: DatabaseName): Promise<GatewaySettings["database"]> {
  if (name === "Postgres") return { url: await (await postgresServer()).newSchema() };
  const folder = mkdtempSync(join(tmpdir(), "tollgate-watch-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { file: join(folder, "gateway.db") };
}

function openNetworksOf(options: WatchingOptions, logger: GatewayLogger): GatewayNetworks {
  const { evm, solana, confirmations = 1, behindMs = 0 } = options;
  const now = () => Date.now() - behindMs;
  const all: GatewayNetwork[] = [];
  if (evm) {
    const rpcUrl = options.rpcUrl ?? evm.rpcUrl;
    const settings = networkSettings("base-sepolia", rpcUrl, confirmations);
    const transfers = openEvmTransfers(settings, { logger, now });
    const usdc = { address: evm.token.address, symbol: "USDC", decimals: 6, domain: evm.domain, minimum: 0n };
    const receiver = evm.receive({ rpcUrl });
    all.push({
      network: settings.network,
      confirmations,
      sponsors: true,
      assets: [native("ETH", 18), usdc],
      receiver,
      transfers,
    });
  }
  if (solana) {
    const rpcUrl = options.rpcUrl ?? solana.rpcUrl;
    const settings = networkSettings(solana.caip2, rpcUrl, 1);
    const transfers = openSolanaTransfers(settings, { logger, now });
    const usdc = { address: solana.usdc, symbol: "USDC", decimals: 6, minimum: 0n };
    const receiver = solana.receive({ rpcUrl });
    const assets = [native("SOL", 9), usdc] as const;
    all.push({ network: settings.network, confirmations: 1, sponsors: true, assets, receiver, transfers });
  }
  return {
    all,
    find: (name) => all.find(({ network }) => network === findNetwork(name)),
    defaultFor: (family, mode) => all.find(({ network }) => network.family === family && mode === "test"),
    async close() {
      for (const { transfers, receiver } of all) {
        transfers.close();
        await receiver.close();
      }
    },
  };
}

const native = (symbol: string, decimals: number): Asset => ({ address: NATIVE, symbol, decimals, minimum: 0n });

function networkSettings(name: string, rpcUrl: string, confirmations: number): NetworkSettings {
  const network = findNetwork(name);
  if (!network) throw new Error(`there is no network ${name}`);
  return { network, options: { rpcUrl }, settler: undefined, isDefault: true, confirmations, assets: [] };
}

function toCaller(more: Pick<ApiKey, "account"> & Partial<ApiKey>, idempotency?: Idempotency): Caller {
  const key: ApiKey = {
    id: "key_1",
    prefix: "tg_test_11111111",
    name: "shop",
    mode: "test",
    plan: "standard",
    rateLimit: null,
    scopes: ["build", "read"],
    wallets: [],
    createdAt: 0,
    lastUsedAt: null,
    expiresAt: null,
    revokedAt: null,
    ...more,
  };
  const caller = { key, requestId: "request", signal: AbortSignal.timeout(20_000) };
  return idempotency ? { ...caller, idempotency } : caller;
}

/** Of one idempotent request: `sealed` under a key that only `open` with the same key undoes. */
export const idempotencyOf = (id: string, key = id): Idempotency => ({
  id,
  seal: (text) => `${key}:${Buffer.from(text).toString("base64")}`,
  open: (sealed) =>
    sealed.startsWith(`${key}:`) ? Buffer.from(sealed.slice(key.length + 1), "base64").toString() : undefined,
});

/** The test fails with the fault's own words where there is one. */
export function answerOf<Value>(outcome: Outcome<Value>): Value {
  if (!outcome.ok) throw new Error(`${outcome.code}: ${outcome.message}`);
  return outcome.value;
}

/** `CODE field`, or `ok`. */
export const faultOf = (outcome: Outcome<unknown>): string =>
  outcome.ok ? "ok" : [outcome.code, ...(outcome.details ?? []).map(({ path }) => path)].join(" ");

/** The bytes that the caller signs. */
export const bytesOf = ({ transaction }: Pick<BuildAnswer, "transaction">): Buffer =>
  Buffer.from(transaction ?? "", "base64");
