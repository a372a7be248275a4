// A Postgres of the test's own, with a schema for each store.
import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import pg from "pg";
import { freePort } from "./process.js";
import { findProgram, idsOf, reasonToSkip, versioned } from "./service.js";

const program = findProgram("postgres", versioned("/usr/lib/postgresql", "bin"));
export const noPostgres = (): string | undefined => reasonToSkip(program, "postgresql");

export interface PostgresServer {
  readonly url: string;
  /** The URL of a new schema, in which a store begins with nothing. */
  newSchema(): Promise<string>;
  /** One statement, on a connection of its own. */
  query(text: string, url?: string): Promise<readonly Record<string, unknown>[]>;
  /** Ends the server and starts it again on the same data. */
  restart(): Promise<void>;
  /** Makes a standby, which from now on is behind. */
  makeStandby(): Promise<void>;
  /** The server ends, and the standby takes over at its place with what it has. */
  failOver(): Promise<void>;
  /** Ends the server without a word to its clients. */
  kill(): Promise<void>;
  /** Stops it where it stands, with every process that serves a connection, and lets it go on. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
}

export async function startPostgres(settings: readonly string[] = []): Promise<PostgresServer> {
  if (program === undefined) throw new Error("postgres is not installed");
  const folder = mkdtempSync(join(tmpdir(), "tollgate-postgres-"));
  // It refuses to run as root.
  const ids = process.getuid?.() === 0 ? idsOf("postgres") : undefined;
  if (ids) chownSync(folder, ids.uid, ids.gid);
  const data = join(folder, "data");
  const made = ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale", "C", "--no-sync"];
  execFileSync(join(dirname(program), "initdb"), made, { ...ids, cwd: folder, stdio: "pipe" });
  const port = await freePort();
  const usual = ["-p", String(port), "-k", folder, "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"];
  const launch = (on = data) => start(program, ["-D", on, ...usual, ...settings], { ...ids, cwd: folder });
  const standby = join(folder, "standby");
  let child = await launch();
  const end = () => void child.kill("SIGQUIT");
  process.on("exit", end);
  const signal = (name: "SIGSTOP" | "SIGCONT") => {
    // The one that starts the others first, so that none is left out.
    child.kill(name);
    for (const pid of childrenOf(child)) {
      try {
        process.kill(pid, name);
      } catch (error) {
        // A connection that has ended since they were listed.
        if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
      }
    }
  };
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    signal("SIGCONT");
    child.kill("SIGQUIT");
    await once(child, "exit");
  };
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const query = async (text: string, at = url) => {
    const client = new pg.Client(at);
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  };
  let schemas = 0;
  return {
    url,
    query,
    async newSchema() {
      schemas += 1;
      // Its own, however many are asked for at once.
      const schema = `shop${schemas}`;
      await query(`create schema ${schema}`);
      return `${url}?options=${encodeURIComponent(`-c search_path=${schema}`)}`;
    },
    kill,
    freeze: () => signal("SIGSTOP"),
    thaw: () => signal("SIGCONT"),
    async makeStandby() {
      const from = ["-D", standby, "-R", "-c", "fast", "-h", "127.0.0.1", "-p", String(port), "-U", "postgres"];
      await promisify(execFile)(join(dirname(program), "pg_basebackup"), from, { ...ids, cwd: folder });
    },
    async failOver() {
      await kill();
      child = await launch(standby);
      await query("select pg_promote()");
    },
    async restart() {
      await kill();
      child = await launch();
    },
    async stop() {
      await kill();
      process.off("exit", end);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The processes that it has started: one for each connection, and its own. */
const childrenOf = ({ pid }: ChildProcess): readonly number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);

async function start(
  path: string,
  settings: readonly string[],
  options: { readonly cwd: string; readonly uid?: number; readonly gid?: number },
): Promise<ChildProcess> {
  const child = spawn(path, [...settings], { ...options, stdio: ["ignore", "ignore", "pipe"] });
  await new Promise<void>((resolve, reject) => {
    const said: string[] = [];
    createInterface({ input: child.stderr }).on("line", (line) => {
      said.push(line);
      if (/ready to accept (read-only )?connections/.test(line)) resolve();
    });
    child.once("exit", (code) => reject(new Error(`postgres ended with ${code}:\n${said.join("\n")}`)));
  });
  return child;
}
