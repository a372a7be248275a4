// Starts a local EVM chain: the Anvil binary out of its npm package, on a free port, gone when this process is gone.
// Node only. It knows nothing of tokens or payments.
import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { setTimeout as after } from "node:timers/promises";
import * as z from "zod/mini";
import { aheadBy, catchUp } from "./anvil-time.js";

/** How to start the chain. */
export interface AnvilOptions {
  /** 84532, Base Sepolia. */
  readonly chainId?: number;
  /** Absent = one block for each transaction, at once. */
  readonly blockTimeMs?: number;
  /** Blocks become final when twice as many stand on them, 1. `reorg` to a depth beyond that takes back what was final. */
  readonly slotsInEpoch?: number;
  /** Absent = any free port. */
  readonly port?: number;
  /** Milliseconds until the start is given up, 15,000. */
  readonly startMs?: number;
}

/** A running chain. Every call rejects with the node's own words when the node refuses it. */
export interface Anvil {
  readonly url: string;
  readonly chainId: number;
  readonly pid: number;
  /** One JSON-RPC call; the result as it came. */
  rpc(method: string, params?: readonly unknown[]): Promise<unknown>;
  /** Many calls in one request; results in the order of the calls. */
  batch(calls: readonly (readonly [method: string, params: readonly unknown[]])[]): Promise<unknown[]>;
  mine(blocks?: number): Promise<void>;
  /** Mines one block with exactly this timestamp, in Unix seconds; later blocks count on from there. */
  setTime(unixSeconds: number | bigint): Promise<void>;
  /** Timestamp of the latest block, Unix seconds. */
  time(): Promise<number>;
  setAutomine(on: boolean): Promise<void>;
  snapshot(): Promise<string>;
  /** Back to a snapshot, which is used up by it; the node's clock goes on as it went then. */
  revert(snapshot: string): Promise<void>;
  /** Replaces the last `depth` blocks by as many empty ones: their transactions never happened, and what waited is dropped. */
  reorg(depth: number): Promise<void>;
  stop(): Promise<void>;
}

const answerSchema = z.object({
  id: z.optional(z.nullable(z.union([z.number(), z.string()]))),
  result: z.optional(z.unknown()),
  error: z.optional(z.object({ code: z.number(), message: z.string(), data: z.optional(z.unknown()) })),
});

/** A block takes less to be mined, also on a busy machine. */
const QUIET_MS = 250;

/** Reorganisations until the last blocks are empty. */
const MOST_REORGS = 10;

const blockSchema = z.nullable(z.object({ transactions: z.array(z.string()) }));

/** The node answered with a JSON-RPC error. */
export class AnvilError extends Error {
  override readonly name = "AnvilError";
  readonly code: number;
  readonly data: unknown;

  constructor(method: string, error: { code: number; message: string; data?: unknown }) {
    super(`${method}: ${error.message}`);
    this.code = error.code;
    this.data = error.data;
  }
}

/**
 * Starts Anvil and resolves when it listens. Rejects with a sentence that names the package when it is not installed,
 * and with the node's output when it does not come up in time.
 * @example
 * const chain = await startAnvil();
 * await chain.mine(3);
 * await chain.stop();
 */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const chainId = options.chainId ?? 84532;
  const args = ["--host", "127.0.0.1", "--port", `${options.port ?? 0}`, "--chain-id", `${chainId}`];
  // Blocks become final after two epochs: by default `finalized` trails the head as closely as Anvil allows.
  args.push("--slots-in-an-epoch", `${options.slotsInEpoch ?? 1}`);
  if (options.blockTimeMs !== undefined) args.push("--block-time", `${options.blockTimeMs / 1000}`);
  const child = spawn(anvilBinary(), args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, RUST_LOG: "" },
  });
  const gone = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  const release = dieWithParent(child);
  const stop = async () => {
    release();
    // Whoever waits for the end has nothing else that keeps his program alive.
    child.ref();
    child.kill("SIGKILL");
    await gone;
  };
  try {
    const port = await listeningPort(child, options.startMs ?? 15_000);
    const connected = connect(`http://127.0.0.1:${port}`, options.blockTimeMs);
    await catchUp(connected, 0);
    return { ...connected, chainId, pid: child.pid!, stop };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    // A forgotten chain must not keep the program alive; the exit hook ends it.
    child.unref();
  }
}

/** Path of the platform's binary. Throws a sentence that names the command to install it. */
function anvilBinary(): string {
  const arch = process.arch === "x64" ? "amd64" : process.arch;
  const file = process.platform === "win32" ? "anvil.exe" : "anvil";
  const platformPackage = `@foundry-rs/anvil-${process.platform}-${arch}`;
  try {
    const here = createRequire(import.meta.url);
    // From the main package's place: strict installers do not lift the platform package to the top.
    return createRequire(here.resolve("@foundry-rs/anvil/package.json")).resolve(`${platformPackage}/bin/${file}`);
  } catch (cause) {
    throw new Error(
      `The local chain needs the package @foundry-rs/anvil with its optional ${platformPackage}: run \`npm install --save-dev @foundry-rs/anvil\`.`,
      { cause },
    );
  }
}

/** Reads the node's output until it names its port, and keeps draining it afterwards. */
function listeningPort(child: ChildProcess, startMs: number): Promise<number> {
  return new Promise((resolve, reject) => {
    let output = "";
    const fail = (why: string) => reject(new Error(`Anvil ${why}. Its output:\n${output.slice(-2000)}`));
    const timer = setTimeout(() => fail(`did not listen within ${startMs} ms`), startMs);
    const settled = () => {
      clearTimeout(timer);
      for (const stream of [child.stdout, child.stderr]) {
        stream?.removeListener("data", read);
        // Safe because nobody reads on: without the drain a full pipe would stop the node.
        stream?.resume();
        unref(stream);
      }
    };
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const port = /Listening on \S+:(\d+)/.exec(output)?.[1];
      if (port === undefined) return;
      settled();
      resolve(Number(port));
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.once("error", (error) => {
      settled();
      fail(`could not be started: ${error.message}`);
    });
    child.once("exit", (code, signal) => {
      settled();
      fail(`ended with ${code ?? signal} before it listened`);
    });
  });
}

/**
 * Ends the node when this process ends. A normal end goes through the exit hook; after SIGKILL there is no hook, so on
 * POSIX a shell waits for the closing of a pipe that only this process holds. Returns what undoes both.
 */
function dieWithParent(child: ChildProcess): () => void {
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  const script = 'read -r _; kill -9 "$0" 2>/dev/null';
  const watch =
    process.platform === "win32" || child.pid === undefined
      ? undefined
      : spawn("/bin/sh", ["-c", script, `${child.pid}`], { stdio: ["pipe", "ignore", "ignore"], detached: true });
  // No shell, no watch: the exit hook still holds.
  watch?.once("error", () => watch.unref());
  watch?.unref();
  unref(watch?.stdin);
  return () => {
    process.removeListener("exit", kill);
    watch?.kill("SIGKILL");
  };
}

function unref(stream: object | null | undefined): void {
  if (stream && "unref" in stream && typeof stream.unref === "function") stream.unref();
}

function connect(url: string, blockTimeMs: number | undefined): Omit<Anvil, "chainId" | "pid" | "stop"> {
  let lastId = 0;
  const post = async (body: unknown): Promise<unknown> => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    return response.json();
  };
  const call = (method: string, params: readonly unknown[]) => ({ jsonrpc: "2.0", id: ++lastId, method, params });
  const result = (method: string, answer: z.infer<typeof answerSchema> | undefined): unknown => {
    if (answer === undefined) throw new Error(`${method}: the node left this call of a batch unanswered`);
    if (answer.error) throw new AnvilError(method, answer.error);
    return answer.result;
  };

  const rpc: Anvil["rpc"] = async (method, params = []) =>
    result(method, answerSchema.parse(await post(call(method, params))));

  /** How far the node's clock was ahead at each snapshot, in seconds. */
  const snapshots = new Map<string, number>();

  const height = async () => Number(z.string().parse(await rpc("eth_blockNumber")));

  /** Waits for a block that is being mined; the height by then. */
  async function quiet(): Promise<number> {
    for (let last: number | undefined; ; ) {
      const now = await height();
      if (now === last) return now;
      last = now;
      await after(QUIET_MS);
    }
  }

  /** Whether each block above that one is there and has no transactions. */
  async function isEmptyAfter(kept: number): Promise<boolean> {
    for (let number = await height(); number > kept; number -= 1) {
      const block = blockSchema.parse(await rpc("eth_getBlockByNumber", [`0x${number.toString(16)}`, false]));
      if (block?.transactions.length !== 0) return false;
    }
    return true;
  }

  /** No block until it is resumed, but by request; the one that is being mined has come by then. */
  async function pause(): Promise<() => Promise<unknown>> {
    if (blockTimeMs !== undefined && blockTimeMs % 1000 !== 0)
      throw new Error("reorg needs a blockTimeMs of whole seconds, or none");
    const byClock = blockTimeMs !== undefined;
    const [method, off] = byClock ? (["evm_setIntervalMining", 0] as const) : (["evm_setAutomine", false] as const);
    const before = byClock ? blockTimeMs / 1000 : await rpc("anvil_getAutomine");
    await rpc(method, [off]);
    await quiet();
    return () => rpc(method, [before]);
  }

  return {
    url,
    rpc,
    async batch(calls) {
      if (calls.length === 0) return [];
      const requests = calls.map(([method, params]) => call(method, params));
      const answers = z.array(answerSchema).parse(await post(requests));
      const byId = new Map(answers.map((answer) => [answer.id, answer]));
      return requests.map((request) => result(request.method, byId.get(request.id)));
    },
    async mine(blocks = 1) {
      await rpc("anvil_mine", [`0x${blocks.toString(16)}`]);
    },
    async setTime(unixSeconds) {
      await rpc("evm_setNextBlockTimestamp", [`0x${unixSeconds.toString(16)}`]);
      await rpc("evm_mine");
    },
    async time() {
      const block = z.object({ timestamp: z.string() }).parse(await rpc("eth_getBlockByNumber", ["latest", false]));
      return Number(block.timestamp);
    },
    async setAutomine(on) {
      await rpc("evm_setAutomine", [on]);
    },
    async snapshot() {
      const snapshot = z.string().parse(await rpc("evm_snapshot"));
      snapshots.set(snapshot, await aheadBy({ rpc }));
      return snapshot;
    },
    async revert(snapshot) {
      if ((await rpc("evm_revert", [snapshot])) !== true) throw new Error(`There is no snapshot ${snapshot}`);
      await catchUp({ rpc }, snapshots.get(snapshot) ?? 0);
    },
    async reorg(depth) {
      // Invariant: nothing is mined meanwhile. A block that comes into being while the node goes back keeps its receipts and logs,
      // and what its transactions did is lost: money that was moved by all that can be read, and that nobody has.
      const resume = await pause();
      const ahead = await aheadBy({ rpc });
      try {
        const kept = (await height()) - depth;
        // On a busy machine a block may come into being for all that, or what it did stay without it: the second time clears both.
        for (let times = 0; times < 2 || !(await isEmptyAfter(kept)); times += 1) {
          if (times === MOST_REORGS) throw new Error(`the last ${depth} blocks were not replaced by empty ones`);
          await rpc("anvil_reorg", [(await quiet()) - kept, []]);
        }
        // The node itself drops them with its next block: what waits is numbered after transactions that never happened.
        await rpc("anvil_dropAllTransactions", []);
        await catchUp({ rpc }, ahead);
      } finally {
        await resume();
      }
    },
  };
}
