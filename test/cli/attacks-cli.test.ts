// Attacks on the command line: whoever reads what it prints goes away, and secrets are put where every user of the machine sees them.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { buildProgram, ownFolder, run } from "./cli.js";

let sandbox: Sandbox;
let program: string;
beforeAll(async () => {
  [sandbox, program] = await Promise.all([createSandbox(), buildProgram()]);
});
afterAll(() => sandbox?.close());

it.each(["stdout", "stderr"] as const)(
  "goes on serving, and ends with 0, where nobody reads its %s any more",
  async (gone) => {
    const { database } = ownFolder();
    const { PATH } = process.env;
    const child = spawn(process.execPath, [program, "gateway", "--port", "0"], {
      env: { PATH, TOLLGATE_DATABASE_FILE: database, TOLLGATE_RPC_URL_BASE_SEPOLIA: sandbox.rpcUrl },
      stdio: ["ignore", "pipe", "pipe"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    let said = "";
    child.stderr.on("data", (chunk: Buffer) => (said += chunk));
    child.stdout.resume();
    const listens = /listens at (http:\/\/127\.0\.0\.1:\d+)\n/;
    await expect.poll(() => said, { timeout: 20_000 }).toMatch(listens);
    const [, url = ""] = listens.exec(said) ?? [];
    child[gone].destroy();
    const status = async () => (await fetch(`${url}/healthz`, { headers: { Connection: "close" } })).status;
    for (let n = 0; n < 5; n += 1) expect(await status()).toBe(200);
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
    // The log of the shutdown was written to nobody; the database was closed all the same.
    expect(statSync(database).mode & 0o777).toBe(0o600);
    expect(statSync(`${database}-wal`, { throwIfNoEntry: false })?.size ?? 0).toBe(0);
  },
  60_000,
);

it("ends a command with 0 where nobody reads what it prints", async () => {
  const child = spawn(process.execPath, [program, "help"], { env: {}, stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk));
  child.stdout.destroy();
  expect([await once(child, "exit"), said]).toEqual([[0, null], ""]);
});

it("takes no password in an argument, and repeats none", async () => {
  const password = "hunter2-of-the-database";
  const url = `postgres://tollgate:${password}@127.0.0.1:9/tollgate`;
  const redis = `redis://:${password}@127.0.0.1:9`;
  for (const [name, argv] of [
    ["DATABASE_URL", ["accounts", "list", "--database", url]],
    ["REDIS_URL", ["gateway", "--redis-url", redis]],
  ] as const) {
    const { code, stderr, stdout } = await run(argv);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`set ${name}`)]);
    expect(stderr + stdout).not.toContain(password);
  }
});
