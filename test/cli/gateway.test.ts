// `tollgate gateway` as an operator runs it: a program of its own, on a real chain, from the first start to the signal.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { neededPeers, requirePeers } from "../../src/cli/peers.js";
import { openDatabase } from "../../src/gateway/database/open.js";
import { findNetwork } from "../../src/networks.js";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { ask } from "../gateway/call.js";
import { freePort, runNode } from "../support/process.js";
import { buildProgram, ownFolder } from "./cli.js";

const PASSPHRASE = "orbit velvet mango tractor lantern";
/** Up to three programs one after the other, and a passphrase takes half a second and 128 MiB on a quiet machine. */
const timeout = 90_000;

let sandbox: Sandbox;
let program: string;
beforeAll(async () => {
  [sandbox, program] = await Promise.all([createSandbox(), buildProgram()]);
});
afterAll(() => sandbox?.close());

interface Started {
  readonly child: ChildProcess;
  readonly printed: { stdout: string; stderr: string };
  /** Resolves when standard error holds it. */
  says(text: RegExp): Promise<RegExpExecArray>;
  readonly ended: Promise<number | null>;
}

function start(env: Record<string, string>, ...argv: string[]): Started {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, [program, ...argv], {
    env: { PATH, HOME, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const printed = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => (printed.stdout += chunk));
  child.stderr.on("data", (chunk: Buffer) => (printed.stderr += chunk));
  const ended = once(child, "close").then(([code]) => code as number | null);
  const says = async (text: RegExp) => {
    for (;;) {
      const found = text.exec(printed.stderr);
      if (found) return found;
      const next = once(child.stderr, "data");
      const over = ended.then((code) => Promise.reject(new Error(`it ended with ${code}:\n${printed.stderr}`)));
      await Promise.race([next, over]);
    }
  };
  return { child, printed, says, ended };
}

const settings = (file: string, more: Record<string, string> = {}) => ({
  TOLLGATE_DATABASE_FILE: file,
  TOLLGATE_RPC_URL_BASE_SEPOLIA: sandbox.rpcUrl,
  ...more,
});

describe("tollgate gateway", { timeout }, () => {
  it("prints the first key once, in a box, and where it listens; the key works; SIGTERM ends it with 0", async () => {
    const { database } = ownFolder();
    const first = start(settings(database, { TOLLGATE_SETTLER_KEY_EVM: sandbox.settlerKey }), "gateway", "--port", "0");
    const [, url = ""] = await first.says(/listens at (http:\/\/127\.0\.0\.1:\d+)/);
    const [box, key = ""] = await first.says(/┌─+┐\n(?:│.*│\n)*│ {3}(tg_test_\w+) +│\n(?:│.*│\n)*└─+┘/);
    expect(box).toContain("not shown again");
    expect(new Set(box.split("\n").map((line) => line.length)).size).toBe(1);
    const history = "/payment/history/0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
    expect((await ask(url, "GET", history, undefined, { key })).status).toBe(200);
    expect((await ask(url, "GET", "/readyz")).status).toBe(200);
    first.child.kill("SIGTERM");
    expect(await first.ended).toBe(0);
    expect(first.printed.stderr).toContain("Stopping (SIGTERM)");
    expect(first.printed.stderr.split(key).length).toBe(2);
    expect(first.printed.stdout).not.toContain(key);
    // Standard output is the log alone: one line of JSON each.
    for (const line of first.printed.stdout.trim().split("\n"))
      expect(JSON.parse(line)).toMatchObject({ service: "tollgate" });

    const second = start(settings(database), "gateway", "--port=0");
    const [, again = ""] = await second.says(/listens at (http:\/\/\S+)/);
    expect((await ask(again, "GET", history, undefined, { key })).status).toBe(200);
    expect(second.printed.stderr).not.toMatch(/┌|tg_test_/);
    second.child.kill("SIGINT");
    expect(await second.ended).toBe(0);
  });

  it("says who settles with how much, what is missing, and how to set it, without a secret", async () => {
    const { database } = ownFolder();
    const empty = `0x${"a1".repeat(32)}`;
    const poor = start(settings(database, { TOLLGATE_SETTLER_KEY_EVM: empty }), "gateway", "--port", "0");
    await poor.says(/settler 0x[0-9a-fA-F]{40} is EMPTY: send it ETH/);
    const hints = await poor.says(/Worth knowing\n(?: {4}- .*\n)+/);
    expect(hints[0]).toMatch(/TOLLGATE_WALLET_PASSPHRASE/);
    expect(hints[0]).toMatch(/TOLLGATE_ADMIN_TOKEN/);
    poor.child.kill("SIGTERM");
    await poor.ended;
    expect(poor.printed.stderr + poor.printed.stdout).not.toContain("a1a1a1");

    const none = start(settings(database, { TOLLGATE_WALLET_PASSPHRASE: PASSPHRASE }), "gateway", "--port", "0");
    await none.says(/base-sepolia \(default\) +ETH, USDC +no settler/);
    await none.says(/set TOLLGATE_SETTLER_KEY_EVM or TOLLGATE_SETTLER_KEY_BASE_SEPOLIA/);
    expect(none.printed.stderr).not.toMatch(/TOLLGATE_WALLET_PASSPHRASE\./);
    none.child.kill("SIGTERM");
    await none.ended;

    const rich = start(settings(database, { TOLLGATE_SETTLER_KEY_EVM: sandbox.settlerKey }), "gateway", "--port", "0");
    await rich.says(/settler 0x\w{40} holds \d+(?:\.\d+)? ETH/);
    rich.child.kill("SIGTERM");
    await rich.ended;
  });

  it("says at start which node is dead or of another chain, with both chains, and serves all the same", async () => {
    const dead = `http://127.0.0.1:${await freePort()}`;
    const env = { TOLLGATE_RPC_URL_BASE: sandbox.rpcUrl, TOLLGATE_RPC_URL_POLYGON_AMOY: dead };
    const wrong = start(settings(ownFolder().database, env), "gateway", "--port", "0");
    const [hints] = await wrong.says(/Worth knowing\n(?: {4}- .*\n)+/);
    expect(hints).toMatch(/A node of base cannot be used: .*8453.*84532.*set TOLLGATE_RPC_URL_BASE /);
    expect(hints).toMatch(/A node of polygon-amoy cannot be used: .*ECONNREFUSED.*set TOLLGATE_RPC_URL_POLYGON_AMOY /);
    expect(hints).not.toMatch(/A node of base-sepolia/);
    wrong.child.kill("SIGTERM");
    expect(await wrong.ended).toBe(0);
  });

  it("says of a database whose wallets are sealed that they are locked, not that there are none", async () => {
    const { database } = ownFolder();
    const sealed = start(settings(database, { TOLLGATE_WALLET_PASSPHRASE: PASSPHRASE }), "gateway", "--port", "0");
    await sealed.says(/listens at/);
    sealed.child.kill("SIGTERM");
    await sealed.ended;
    const locked = start(settings(database), "gateway", "--port", "0");
    const [hints] = await locked.says(/Worth knowing\n(?: {4}- .*\n)+/);
    expect(hints).toMatch(/wallets of this database are locked.*set TOLLGATE_WALLET_PASSPHRASE to the passphrase/);
    expect(hints).not.toContain("There are no hosted wallets");
    locked.child.kill("SIGTERM");
    await locked.ended;
  });

  it("refuses a wrong passphrase at start, and starts nothing", async () => {
    const { database } = ownFolder();
    const env = settings(database, { TOLLGATE_WALLET_PASSPHRASE: PASSPHRASE });
    const first = start(env, "gateway", "--port", "0");
    await first.says(/listens at/);
    first.child.kill("SIGTERM");
    await first.ended;
    const second = start(
      { ...env, TOLLGATE_WALLET_PASSPHRASE: "copper willow engine harbour" },
      "gateway",
      "--port",
      "0",
    );
    expect(await second.ended).toBe(2);
    expect(second.printed.stderr).toMatch(/passphrase with which this database's wallets were sealed/);
    expect(second.printed.stderr).not.toMatch(/copper|listens/);
  });

  it("says in one sentence that its port is taken, and keeps the first key's box", async () => {
    const one = start(settings(ownFolder().database), "gateway", "--port", "0");
    const [, port = ""] = await one.says(/listens at http:\/\/127\.0\.0\.1:(\d+)/);
    const two = start(settings(ownFolder().database), "gateway", "--port", port);
    expect(await two.ended).toBe(1);
    expect(two.printed.stderr).toMatch(
      new RegExp(`Port ${port} of 127\\.0\\.0\\.1 is taken: choose another one with --port`),
    );
    expect(two.printed.stderr).toMatch(/tg_test_/);
    one.child.kill("SIGTERM");
    expect(await one.ended).toBe(0);
  });
});

describe("the program", { timeout }, () => {
  it("ends with 0, 1 and 2 as its help says", async () => {
    const { database } = ownFolder();
    const env = { TOLLGATE_DATABASE_FILE: database };
    expect((await runNode([program, "--version"], env)).code).toBe(0);
    expect((await runNode([program, "keys", "create", "--name", "x"], env)).code).toBe(1);
    expect((await runNode([program, "keys", "crate"], env)).code).toBe(2);
  });

  it("hands a key to a script by standard output alone", async () => {
    const env = { TOLLGATE_DATABASE_FILE: ownFolder().database };
    await runNode([program, "accounts", "create", "--name", "shop"], env);
    const { stdout } = await runNode([program, "keys", "create", "--name", "till"], env);
    expect(stdout).toMatch(/^tg_test_\w{43,44}\n$/);
  });

  it("ends well where nobody reads its output to the end", async () => {
    const { database: file } = ownFolder();
    const database = await openDatabase({ file });
    // More than a pipe holds.
    for (let i = 0; i < 800; i++) await database.accounts.create("x".repeat(100));
    await database.close();
    const list = start({ TOLLGATE_DATABASE_FILE: file }, "accounts", "list");
    list.child.stdout?.destroy();
    expect(await list.ended).toBe(0);
    expect(list.printed.stderr).toBe("");
  });

  it("takes a private key from standard input", async () => {
    const env = { TOLLGATE_DATABASE_FILE: ownFolder().database, TOLLGATE_WALLET_PASSPHRASE: PASSPHRASE };
    await runNode([program, "accounts", "create", "--name", "shop"], env);
    const imported = ["wallets", "import", "--name", "x", "--family", "evm"];
    const { code, stdout, stderr } = await runNode([program, ...imported], env, sandbox.settlerKey);
    expect([code, stderr]).toEqual([0, expect.stringContaining("nothing yet")]);
    expect(stdout).toContain(sandbox.settler.address);
  });
});

describe("packages that are not installed", () => {
  const base = findNetwork("base-sepolia");
  const networks = base
    ? [{ network: base, options: { rpcUrl: "" }, settler: undefined, isDefault: true, confirmations: 1, assets: [] }]
    : [];
  const missing = (name: string) => {
    if (/^(hono|libsql|viem|ioredis)$/.test(name))
      throw Object.assign(new Error("no"), { code: "ERR_MODULE_NOT_FOUND" });
  };

  it("are all named in one line that installs them, by what the settings need", async () => {
    const needed = { database: { file: "x" }, redisUrl: "redis://h", networks };
    await expect(requirePeers("gateway", needed, missing)).rejects.toThrow(
      /\n {2}npm install hono libsql ioredis viem$/,
    );
    await expect(requirePeers("database", needed, missing)).rejects.toMatchObject({
      code: 2,
      message: expect.stringMatching(/npm install libsql$/),
    });
    const postgres = { database: { url: "postgres://h" }, redisUrl: undefined, networks: [] };
    expect(neededPeers("gateway", postgres)).toEqual(expect.arrayContaining(["hono", "kysely", "pg", "pino"]));
    expect(neededPeers("gateway", postgres)).not.toContain("libsql");
    await requirePeers("database", postgres, missing);
  });
});
