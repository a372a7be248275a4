import { execFile } from "node:child_process";
import { mkdir, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type Anvil, startAnvil } from "../../src/testing/anvil.js";
import { freePort, lives, startNode } from "../support/process.js";

let chain: Anvil;
beforeAll(async () => {
  chain = await startAnvil();
});
afterAll(() => chain.stop());

const head = async (of: Anvil = chain) => Number(await of.rpc("eth_blockNumber"));

describe("a local chain", () => {
  it("listens on a free port under the chain id asked for", async () => {
    const other = await startAnvil({ chainId: 8453, port: await freePort() });
    expect(await other.rpc("eth_chainId")).toBe("0x2105");
    expect(await chain.rpc("eth_chainId")).toBe("0x14a34");
    expect(other.url).not.toBe(chain.url);
    await other.stop();
    expect(lives(other.pid)).toBe(false);
  });

  it("mines, goes back to a snapshot once, and keeps the time it was given", async () => {
    const before = await head();
    const snapshot = await chain.snapshot();
    await chain.mine(3);
    expect(await head()).toBe(before + 3);
    await chain.revert(snapshot);
    expect(await head()).toBe(before);
    await expect(chain.revert(snapshot)).rejects.toThrow("no snapshot");
    const future = (await chain.time()) + 86_400;
    await chain.setTime(future);
    expect(await chain.time()).toBe(future);
    await chain.mine();
    expect(await chain.time()).toBeGreaterThanOrEqual(future);
  });

  it("takes blocks back in a reorganisation, with their transactions", async () => {
    const transaction = {
      from: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
      to: `0x${"07".repeat(20)}`,
      value: "0x1",
    };
    await chain.mine(5);
    await chain.setAutomine(false);
    const hash = await chain.rpc("eth_sendTransaction", [transaction]);
    expect(await chain.rpc("eth_getTransactionReceipt", [hash])).toBeNull();
    await chain.setAutomine(true);
    await vi.waitFor(async () => expect(await chain.rpc("eth_getTransactionReceipt", [hash])).not.toBeNull(), {
      timeout: 10_000,
    });
    const before = await head();
    await chain.reorg(1);
    expect(await head()).toBe(before);
    expect(await chain.rpc("eth_getTransactionReceipt", [hash])).toBeNull();
  });

  it("finalizes two blocks behind its head", async () => {
    await chain.mine(5);
    expect(await chain.rpc("eth_getBlockByNumber", ["finalized", false])).toMatchObject({
      number: `0x${((await head()) - 2).toString(16)}`,
    });
  });

  it("answers a batch in the order of its calls and says what it refuses", async () => {
    const calls = [
      ["eth_chainId", []],
      ["eth_accounts", []],
    ] as const;
    expect(await chain.batch(calls)).toMatchObject(["0x14a34", expect.any(Array)]);
    expect(await chain.batch([])).toEqual([]);
    await expect(chain.rpc("eth_nonsense")).rejects.toThrow("eth_nonsense: Method not found");
    await expect(chain.batch([["eth_nonsense", []]])).rejects.toThrow("Method not found");
  });

  it("mines by the clock when it is told a block time", async () => {
    const other = await startAnvil({ blockTimeMs: 100 });
    await vi.waitFor(async () => expect(await head(other)).toBeGreaterThan(1), { timeout: 10_000 });
    await other.stop();
  });
});

describe("a chain that cannot start", () => {
  it("names the package to install when there is none for this machine", async () => {
    const arch = vi.spyOn(process, "arch", "get").mockReturnValue("mips");
    try {
      await expect(startAnvil()).rejects.toThrow(
        /@foundry-rs\/anvil-\w+-mips: run `npm install --save-dev @foundry-rs\/anvil`/,
      );
    } finally {
      arch.mockRestore();
    }
  });

  it("gives the node's own words when its port is taken", async () => {
    await expect(startAnvil({ port: Number(new URL(chain.url).port) })).rejects.toThrow(/ended with[\s\S]*address/i);
  });

  it("is given up in time, and nothing of it is left", async () => {
    const started = expect(startAnvil({ startMs: 1 })).rejects.toThrow("did not listen within 1 ms");
    // Its time is over before the first of its words can be read, however slow this machine is.
    const from = performance.now();
    while (performance.now() - from < 5);
    await started;
  });
});

describe("the end of a program that started a chain", () => {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  const out = `${root}.cache/anvil-test`;
  // Node 20 runs no TypeScript: the module is compiled for the child.
  beforeAll(async () => {
    await mkdir(out, { recursive: true });
    const options = [
      "--ignoreConfig",
      "--module",
      "nodenext",
      "--target",
      "es2022",
      "--types",
      "node",
      "--skipLibCheck",
    ];
    const args = [`${root}node_modules/typescript/bin/tsc`, `${root}src/testing/anvil.ts`, ...options, "--outDir", out];
    await promisify(execFile)(process.execPath, args, { cwd: root });
  });
  afterAll(() => rm(out, { recursive: true, force: true }));

  const program = (then: string) =>
    startNode([
      "--input-type=module",
      "--eval",
      `import { startAnvil } from ${JSON.stringify(`${out}/anvil.js`)};
       const chain = await startAnvil();
       console.log(JSON.stringify([process.pid, chain.pid]));
       ${then}`,
    ]);
  const pids = (line: string) => JSON.parse(line) as [program: number, chain: number];

  it.each([
    ["when it runs to its end without stopping the chain", ""],
    ["when it calls process.exit", "process.exit(0);"],
    ["when it dies of an exception", "throw new Error('oops');"],
    ["when it is killed by SIGKILL", "setInterval(() => {}, 1000); process.kill(process.pid, 'SIGKILL');"],
    ["when it is killed by SIGTERM", "setInterval(() => {}, 1000); process.kill(process.pid, 'SIGTERM');"],
  ])("is the end of the chain %s", async (_, then) => {
    const running = await program(then);
    const [parent, child] = pids(running.firstLine);
    await vi.waitFor(() => expect([lives(parent), lives(child)]).toEqual([false, false]), { timeout: 10_000 });
  });

  it("is not watched for any longer once the chain was stopped", async () => {
    const other = await startAnvil();
    const watchers = async () => {
      const { stdout } = await promisify(execFile)("ps", ["-eo", "args"]);
      return stdout.split("\n").filter((line) => line.includes("kill -9") && line.trim().endsWith(` ${other.pid}`));
    };
    expect(await watchers()).toHaveLength(1);
    await other.stop();
    await vi.waitFor(async () => expect(await watchers()).toEqual([]), { timeout: 10_000 });
  });
});
