// The shop of the rig: one store, one chain, one settler key, and as many processes of a seller as a test wants, each of which can
// be killed, stopped and set going again.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import type { Sandbox } from "../../src/testing/index.js";
import { noPostgres, startPostgres } from "../support/postgres.js";
import { type Running, startNode } from "../support/process.js";
import { noRedis, startRedis } from "../support/redis.js";
import { root } from "../support/sources.js";

export interface RigStore {
  readonly url: string;
  stop(): Promise<void>;
}

/** A Redis that keeps what it was told, also when it is killed. */
export const startDurableRedis = () => startRedis(["--appendonly", "yes", "--appendfsync", "always"]);

/** The stores of several processes; `absent` tells why one cannot be used here. */
export const SHARED_STORES = [
  { name: "Redis", absent: noRedis, start: startDurableRedis },
  { name: "PostgreSQL", absent: noPostgres, start: startPostgres },
] as const;

export interface Run {
  readonly payer: string;
  readonly run: number;
  /** As the goods say. */
  readonly name: string;
}

export interface Process extends Running {
  readonly url: string;
}

export interface Shop {
  readonly sandbox: Sandbox;
  /** Its own in each shop, so that what it has received is this shop's. */
  readonly payTo: `0x${string}`;
  readonly processes: readonly Process[];
  /** Starts one more; what is given stands beside or in place of the shop's own environment. */
  open(env?: Environment, args?: readonly string[]): Promise<Process>;
  /** Every run of the handler in every process, the dead ones too. */
  runs(): readonly Run[];
  close(): Promise<void>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** @param env for each of its processes: see seller.mjs */
export async function openShop(sandbox: Sandbox, store: Pick<RigStore, "url">, env: Environment = {}): Promise<Shop> {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-rig-"));
  const RUNS_FILE = join(folder, "runs.jsonl");
  const settler = generatePrivateKey();
  await sandbox.native.setBalances([privateKeyToAccount(settler).address], 10n ** 20n);
  const payTo = privateKeyToAccount(generatePrivateKey()).address;
  const processes: Process[] = [];
  const common = { RPC_URL: sandbox.rpcUrl, SETTLER_KEY: settler, PAY_TO: payTo, STORE_URL: store.url, RUNS_FILE };
  return {
    sandbox,
    payTo,
    processes,
    async open(own = {}, args = []) {
      const running = await startNode([...args, join(root, "test/rig/seller.mjs")], { ...common, ...env, ...own });
      const process = { ...running, url: `http://127.0.0.1:${running.firstLine}` };
      processes.push(process);
      return process;
    },
    runs: () => readLines(RUNS_FILE),
    async close() {
      await Promise.all(processes.map((one) => one.kill()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function readLines(file: string): readonly Run[] {
  try {
    const lines = readFileSync(file, "utf8").trim().split("\n");
    return lines.map((line) => JSON.parse(line) as Run);
  } catch {
    // No handler has run yet.
    return [];
  }
}
