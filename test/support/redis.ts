// A Redis of the test's own.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Redis } from "ioredis";
import { freePort } from "./process.js";
import { findProgram, reasonToSkip } from "./service.js";

const program = findProgram("redis-server");
export const noRedis = (): string | undefined => reasonToSkip(program, "redis-server");

export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Ends the server without a word to its clients; what it held is lost unless it is kept on disk. */
  kill(): Promise<void>;
  /** Stops it where it stands, connections and all, and lets it go on. */
  freeze(): void;
  thaw(): void;
  /** One command, on a connection of its own. */
  command(name: string, ...args: string[]): Promise<unknown>;
  /** Starts it again on the same port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a server that keeps nothing on disk. `settings` are those of its command line. */
export async function startRedis(settings: readonly string[] = []): Promise<RedisServer> {
  if (program === undefined) throw new Error("redis-server is not installed");
  const folder = mkdtempSync(join(tmpdir(), "tollgate-redis-"));
  const port = await freePort();
  let child = await launch(program, folder, port, settings);
  const end = () => void child.kill("SIGKILL");
  process.on("exit", end);
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    kill,
    freeze: () => void child.kill("SIGSTOP"),
    thaw: () => void child.kill("SIGCONT"),
    async command(name, ...args) {
      const client = new Redis(port, "127.0.0.1");
      return client.call(name, ...args).finally(() => client.disconnect());
    },
    async restart() {
      await kill();
      child = await launch(program, folder, port, settings);
    },
    async stop() {
      await kill();
      process.off("exit", end);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function launch(path: string, folder: string, port: number, settings: readonly string[]): Promise<ChildProcess> {
  const usual = ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--save", "", "--appendonly", "no"];
  const child = spawn(path, [...usual, ...settings], { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise<void>((resolve, reject) => {
    const lines = createInterface({ input: child.stdout });
    lines.on("line", (line) => {
      if (line.includes("Ready to accept connections")) resolve();
    });
    child.once("exit", (code) => reject(new Error(`redis-server ended with ${code}`)));
  });
  return child;
}
