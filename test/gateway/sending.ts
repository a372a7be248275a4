// Hosted wallets with money on both real chains, a real database, and the part of the gateway that sends: without HTTP, so that
// a test can end it between any two steps and begin it anew on the same database.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Keypair } from "@solana/web3.js";
import { onTestFinished, type TestContext } from "vitest";
import type { ApiKey, Caller } from "../../src/gateway/caller.js";
import type { GatewayNetwork } from "../../src/gateway/chain.js";
import type { GatewayDatabase, HostedWallet, WalletLimit } from "../../src/gateway/database/database.js";
import { openDatabase } from "../../src/gateway/database/open.js";
import type { Outcome } from "../../src/gateway/errors.js";
import { createIdempotency } from "../../src/gateway/http/seal.js";
import { openNetworks } from "../../src/gateway/networks.js";
import { readGatewayOptions } from "../../src/gateway/options.js";
import type { Custody, GatewayParts } from "../../src/gateway/parts.js";
import type { Payment } from "../../src/gateway/payment.js";
import type { SendAnswer, SendRequest } from "../../src/gateway/schemas/index.js";
import { createSend } from "../../src/gateway/send/send.js";
import { openCustody } from "../../src/gateway/wallets/custody.js";
import { announceChanges } from "../../src/gateway/watch/announce.js";
import { createWatcher } from "../../src/gateway/watch/watcher.js";
import type { Sandbox, SolanaSandbox } from "../../src/testing/index.js";
import { type CapturedLog, captureLog } from "./captured-log.js";
import { sharedPostgres } from "./services.js";

export type DatabaseName = "sqlite" | "postgres";

export interface SendingOptions {
  readonly database?: DatabaseName;
  readonly evm?: Sandbox;
  readonly solana?: SolanaSandbox;
  /** In place of the sandbox's own. */
  readonly rpcUrl?: string;
  /** Milliseconds by which the database's time is ahead, as a test moves it; SQLite only. */
  readonly ahead?: () => number;
  /** The test's own, where others run at the same time. */
  readonly finally?: TestContext["onTestFinished"];
}

/** One process: what it sends with, and what follows it. */
export interface Process {
  readonly parts: GatewayParts;
  send(request: Partial<SendRequest>, asked?: Asked): Promise<Outcome<SendAnswer>>;
  close(): Promise<void>;
}

export interface Asked {
  readonly idempotencyKey?: string;
  readonly key?: Partial<ApiKey>;
  readonly signal?: AbortSignal;
}

/** What stands between a process and its parts. */
export type Change = (parts: Omit<GatewayParts, "watcher">) => Omit<GatewayParts, "watcher">;

export interface SendingWorld extends Process {
  readonly account: string;
  readonly database: GatewayDatabase;
  readonly log: CapturedLog;
  /** A wallet with money that keys of this world may open. */
  newWallet(family: "evm" | "solana", wallet?: Partial<NewWallet>): Promise<HostedWallet>;
  /** An address that has received nothing. */
  newPayee(family: "evm" | "solana"): Promise<string>;
  /** Another process on the same database, or this one after a crash. */
  start(change?: Change): Promise<Process>;
  payment(id: string): Promise<Payment>;
  /** Every payment of the account that touches the address, oldest first. */
  payments(address: string): Promise<readonly Payment[]>;
  /** Atomic units of each debit of the sender that the chain shows, oldest first. */
  debits(network: GatewayNetwork, sender: string, asset?: string): Promise<readonly bigint[]>;
  network(family: "evm" | "solana"): GatewayNetwork;
}

export interface NewWallet {
  readonly account: string;
  readonly mode: "live" | "test";
  readonly limits: readonly WalletLimit[];
  readonly native: bigint;
  readonly usdc: bigint;
}

const PASSPHRASE = "seven sober sailors sew sails";
const UNBOUNDED = 10n ** 24n;

/** Opens all of it, and closes it with the test. */
export async function openSending(options: SendingOptions): Promise<SendingWorld> {
  const { evm, solana, ahead = () => 0, finally: atEnd = onTestFinished } = options;
  const log = captureLog();
  const where = await placeOf(options.database ?? "sqlite", atEnd);
  const networks = {
    ...(evm && { "base-sepolia": { rpcUrl: options.rpcUrl ?? evm.rpcUrl, settler: evm.settlerKey } }),
    ...(solana && { "solana-devnet": { rpcUrl: solana.rpcUrl, settler: solana.settlerKey } }),
  };
  const settings = readGatewayOptions({ database: where, networks }, {});
  const started: Process[] = [];
  let custody: Custody | undefined;
  atEnd(async () => {
    for (const process of started) await process.close();
  });
  const clock = { now: () => Date.now() + ahead(), after: () => () => {} };
  const start = async (change: Change = (parts) => parts): Promise<Process> => {
    const { database, onChange } = announceChanges(await openDatabase(where, { clock }), log.logger);
    const opened = await openNetworks(settings, { database, logger: log.logger });
    // The key of the vault takes half a second to derive, and is the same for every process.
    custody ??= await openCustody(PASSPHRASE, database);
    const whole = { settings, database, networks: opened, custody, logger: log.logger, now: Date.now };
    const changed = change(whole);
    const parts = { ...changed, watcher: createWatcher(changed, { onChange, intervalMs: 100 }) };
    const send = createSend(parts);
    const process: Process = {
      parts,
      send: (request, asked) => send(toCaller(account.id, allowed, asked), request as SendRequest),
      async close() {
        await parts.watcher.close();
        await opened.close();
        await database.close();
      },
    };
    started.push(process);
    return process;
  };
  const allowed: string[] = [];
  let account = { id: "" };
  const first = await start();
  const { database } = first.parts;
  account = await database.accounts.create("shop");
  const find = (family: "evm" | "solana") => {
    const found = first.parts.networks.defaultFor(family, "test");
    if (!found) throw new Error(`the world has no network of ${family}`);
    return found;
  };
  return {
    ...first,
    account: account.id,
    database,
    log,
    start,
    network: find,
    async newWallet(family, { account: owner = account.id, mode = "test", limits, native, usdc = 10n ** 9n } = {}) {
      const { network, assets } = find(family);
      const generous = assets.map(({ address: asset }) => ({
        ...{ network: network.id, asset },
        ...{ perPayment: UNBOUNDED, perDay: UNBOUNDED },
      }));
      const wallet = await custody?.create({ account: owner, mode, family, name: "test", limits: limits ?? generous });
      if (!wallet) throw new Error("the wallet was not made");
      if (owner === account.id) allowed.push(wallet.id);
      const address = wallet.address as `0x${string}`;
      if (family === "evm") {
        await evm?.native.setBalances([address], native ?? 100n * 10n ** 18n);
        await evm?.token.setBalances([address], usdc);
      } else {
        solana?.chain.airdrop(address, native ?? 10n ** 11n);
        solana?.chain.mintTo(solana.usdc, address, usdc);
      }
      return wallet;
    },
    async newPayee(family) {
      if (family === "evm") return `0x${randomBytes(20).toString("hex")}`;
      const payee = Keypair.generate().publicKey.toBase58();
      solana?.chain.mintTo(solana.usdc, payee, 0n);
      return payee;
    },
    async payment(id) {
      const payment = await database.payments.get(id);
      if (!payment) throw new Error(`there is no payment ${id}`);
      return payment;
    },
    async payments(address) {
      const page = await database.payments.page(account.id, "test", address, { type: "all", limit: 500, offset: 0 });
      return [...page.payments].reverse();
    },
    async debits({ network }, sender, asset = "native") {
      if (network.family === "solana") {
        const of = asset === "native" ? solana?.native : solana?.token;
        return ((await of?.transfers({ from: sender })) ?? []).map(({ value }) => value);
      }
      const of = asset === "native" ? evm?.native : evm?.token;
      return ((await of?.transfers({ from: sender as `0x${string}` })) ?? []).map(({ value }) => value);
    },
  };
}

async function placeOf(
  name: DatabaseName,
  atEnd: TestContext["onTestFinished"],
): Promise<{ readonly file: string } | { readonly url: string }> {
  if (name === "postgres") return { url: await (await sharedPostgres()).newSchema() };
  const folder = mkdtempSync(join(tmpdir(), "tollgate-sending-"));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return { file: join(folder, "gateway.db") };
}

function toCaller(
  account: string,
  wallets: readonly string[],
  { idempotencyKey: key, key: own, signal = new AbortController().signal }: Asked = {},
): Caller {
  const apiKey: ApiKey = {
    ...{ id: "key_1", account, prefix: "tg_test_11111111", name: "shop", mode: "test", plan: "standard" },
    ...{ rateLimit: null, scopes: ["send"], wallets, createdAt: 0, lastUsedAt: null, expiresAt: null, revokedAt: null },
    ...own,
  };
  const caller = { key: apiKey, requestId: "request", signal };
  if (key === undefined) return caller;
  const { account: of, mode } = apiKey;
  return { ...caller, idempotency: createIdempotency({ account: of, mode, endpoint: "POST /payment/send", key }) };
}

/** The test fails with the fault's own words where there is one. */
export function valueIn<Value>(outcome: Outcome<Value>): Value {
  if (!outcome.ok) throw new Error(`${outcome.code}: ${outcome.message}`);
  return outcome.value;
}

/** `CODE field`, or `ok`. */
export const faultOf = (outcome: Outcome<unknown>): string =>
  outcome.ok ? "ok" : [outcome.code, ...(outcome.details ?? []).map(({ path }) => path)].join(" ");

/** Asks until it holds, at most a minute. */
export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const endAt = Date.now() + 60_000;
  while (!(await holds())) {
    if (Date.now() > endAt) throw new Error(`${what}: still not so`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
