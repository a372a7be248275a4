// A gateway on a real port, over real chains and a real database, with accounts, keys and hosted wallets at hand.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NewKey, WalletLimit } from "../../src/gateway/database/database.js";
import { type Gateway, type GatewayContext, openGateway } from "../../src/gateway/gateway.js";
import { type GatewayOptions, readGatewayOptions } from "../../src/gateway/options.js";
import { type RunningGateway, serve } from "../../src/gateway/serve.js";
import { createSandbox, createSolanaSandbox, type Sandbox, type SolanaSandbox } from "../../src/testing/index.js";
import { type Answer, ask, type CallOptions } from "./call.js";
import { type CapturedLog, captureLog } from "./captured-log.js";
import { sharedPostgres, sharedRedis } from "./services.js";

export interface WorldOptions {
  readonly database?: "sqlite" | "postgres";
  /** Several instances share limits. */
  readonly redis?: boolean;
  /** Which chains it serves: started here, or given to be shared by several worlds. None by default. */
  readonly chains?: { readonly evm?: Sandbox | true; readonly solana?: SolanaSandbox | true };
  /** In place of what the world chooses. */
  readonly options?: GatewayOptions;
  readonly context?: Pick<GatewayContext, "engine" | "now" | "eventTimes" | "nodeMs">;
  /** Follow payments in the background; true. */
  readonly watch?: boolean;
}

/** One instance; several may share a database. */
export interface Instance {
  readonly gateway: Gateway;
  readonly server: RunningGateway;
  readonly url: string;
  /** One request on a connection of its own. `key` absent = the world's own; null = none. */
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  close(): Promise<void>;
}

export interface GatewayWorld extends Instance {
  readonly options: GatewayOptions;
  readonly evm: Sandbox | undefined;
  readonly solana: SolanaSandbox | undefined;
  readonly log: CapturedLog;
  /** The account and key that calls are made with where none is named: every scope, `premium`, test networks. */
  readonly account: string;
  readonly apiKey: string;
  newAccount(name?: string): Promise<string>;
  /** The whole key; of the world's account where no other is named. */
  newKey(key?: Partial<NewKey>): Promise<string>;
  /** A hosted wallet with money and generous limits, and a key that may open it. */
  newWallet(wallet: NewWallet): Promise<{ readonly id: string; readonly address: string; readonly apiKey: string }>;
  /** One more instance on the same database and Redis. */
  another(context?: WorldOptions["context"], port?: number): Promise<Instance>;
}

export interface NewWallet {
  readonly family: "evm" | "solana";
  readonly account?: string;
  readonly limits?: readonly WalletLimit[];
  /** Atomic units; one ETH or ten SOL, and 1,000 USDC, where they are left out. */
  readonly native?: bigint;
  readonly usdc?: bigint;
}

const PASSPHRASE = "correct horse battery staple of the sandbox";
const SCOPES = ["send", "receive", "read", "build", "events"] as const;

/**
 * @example
 * const world = await createGatewayWorld({ database: "postgres", chains: { evm: true } });
 * const { address, apiKey } = await world.newWallet({ family: "evm" });
 * const { status, body } = await world.call("POST", "/payment/send", { … }, { key: apiKey });
 * await world.close();
 */
export async function createGatewayWorld(wanted: WorldOptions = {}): Promise<GatewayWorld> {
  const { chains = {}, watch = true, context } = wanted;
  const [evm, solana] = await Promise.all([
    chains.evm === true ? createSandbox() : chains.evm,
    chains.solana === true ? createSolanaSandbox() : chains.solana,
  ]);
  const folder = mkdtempSync(join(tmpdir(), "tollgate-gateway-"));
  const options: GatewayOptions = {
    database:
      wanted.database === "postgres"
        ? { url: await (await sharedPostgres()).newSchema() }
        : { file: join(folder, "gateway.db") },
    ...(wanted.redis && { redisUrl: (await sharedRedis()).url }),
    // Its key takes half a second to derive: only where there can be hosted wallets.
    ...((evm || solana) && { passphrase: PASSPHRASE }),
    shutdownMs: 5_000,
    networks: networksOf(evm, solana),
    ...wanted.options,
  };
  const log = captureLog();
  let apiKey = "";
  const start = async (own: WorldOptions["context"] = {}, port = 0): Promise<Instance> => {
    const settings = readGatewayOptions(options, {});
    const gateway = await openGateway(settings, { logger: log.logger, ...own });
    if (watch) gateway.start();
    const server = await serve(gateway, { port });
    const { url } = server;
    return {
      ...{ gateway, server, url },
      call: (method, path, body, { key = apiKey, ...rest } = {}) => ask(url, method, path, body, { key, ...rest }),
      close: () => server.close(),
    };
  };
  const first = await start(context);
  const { database, parts } = first.gateway;
  const [account] = await database.accounts.list();
  if (!account) throw new Error("the first start made no account");
  const others: Instance[] = [];
  const newKey = async (key: Partial<NewKey> = {}) => {
    const usual = { account: account.id, name: "test", mode: "test", plan: "premium", scopes: SCOPES } as const;
    return (await database.keys.create({ ...usual, ...key })).secret;
  };
  apiKey = await newKey();
  return {
    ...first,
    ...{ options, evm, solana, log, apiKey, account: account.id, newKey },
    newAccount: async (name = "another") => (await database.accounts.create(name)).id,
    async newWallet({ family, account: owner = account.id, limits, ...funds }) {
      const usual =
        limits ?? first.gateway.networks.all.filter(({ network }) => network.family === family).flatMap(generous);
      const wallet = await parts.custody?.create({ account: owner, mode: "test", family, name: "test", limits: usual });
      if (!wallet) throw new Error("the wallet was not made");
      await fund(wallet.address, funds, family === "evm" ? { evm } : { solana });
      return { id: wallet.id, address: wallet.address, apiKey: await newKey({ account: owner, wallets: [wallet.id] }) };
    },
    async another(own, port) {
      const instance = await start(own ?? context, port);
      others.push(instance);
      return instance;
    },
    async close() {
      await Promise.all([first, ...others].map((instance) => instance.close()));
      await Promise.all([
        chains.evm === true ? evm?.close() : undefined,
        chains.solana === true ? solana?.close() : undefined,
      ]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type BothWorld = GatewayWorld & { readonly evm: Sandbox; readonly solana: SolanaSandbox };

/** A world of the usual options over both chains, which are its own. */
export async function createBothWorld(): Promise<BothWorld> {
  const world = await createGatewayWorld({ chains: { evm: true, solana: true } });
  const { evm, solana } = world;
  if (!evm || !solana) throw new Error("the chains were not started");
  return { ...world, evm, solana };
}

/** Without a chain: a network whose node nobody is. */
const UNSERVED = { "base-sepolia": { rpcUrl: "http://127.0.0.1:9" } };

const networksOf = (
  evm: Sandbox | undefined,
  solana: SolanaSandbox | undefined,
): NonNullable<GatewayOptions["networks"]> => ({
  ...(!evm && !solana && UNSERVED),
  ...(evm && { "base-sepolia": { rpcUrl: evm.rpcUrl, settler: evm.settlerKey } }),
  ...(solana && { "solana-devnet": { rpcUrl: solana.rpcUrl, settler: solana.settlerKey } }),
});

const UNBOUNDED = 10n ** 24n;
const generous = ({ network, assets }: Gateway["networks"]["all"][number]): WalletLimit[] =>
  assets.map(({ address: asset }) => ({ network: network.id, asset, perPayment: UNBOUNDED, perDay: UNBOUNDED }));

async function fund(
  address: string,
  { native, usdc = 1_000_000_000n }: Pick<NewWallet, "native" | "usdc">,
  { evm, solana }: Partial<Pick<GatewayWorld, "evm" | "solana">>,
): Promise<void> {
  const own = address as `0x${string}`;
  await evm?.native.setBalances([own], native ?? 10n ** 18n);
  await evm?.token.setBalances([own], usdc);
  solana?.chain.airdrop(address, native ?? 10n ** 10n);
  solana?.chain.mintTo(solana.usdc, address, usdc);
}
