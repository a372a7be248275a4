// Child processes of tests: start one and wait for what it says, run one to its end. Nothing outlives the test that
// started it.
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { createInterface } from "node:readline";

export interface Running {
  /** The first line of its standard output. */
  readonly firstLine: string;
  /** Everything it has printed so far, both streams. */
  output(): string;
  stop(): Promise<void>;
  /** Ends it where it stands, without a chance to finish anything. */
  kill(): Promise<void>;
  /** SIGSTOP, SIGCONT and whatever else it knows. */
  signal(name: NodeJS.Signals): void;
  /** Resolves when it has ended, whoever ended it: the signal, or null where it ended by itself. */
  readonly ended: Promise<NodeJS.Signals | null>;
}

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Starts `node ARGS` and resolves at its first line of output; rejects with all it printed when it ends before that. */
export async function startNode(args: readonly string[], env: Environment = {}): Promise<Running> {
  const child = spawnNode(args, env, ["ignore", "pipe", "pipe"]);
  let output = "";
  child.stdout?.on("data", (chunk: Buffer) => (output += chunk));
  child.stderr?.on("data", (chunk: Buffer) => (output += chunk));
  const exited = once(child, "exit");
  const firstLine = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout! }).once("line", resolve);
    exited.then(([code]) => reject(new Error(`node ${args.join(" ")} ended with ${code}:\n${output}`)), reject);
  });
  return {
    firstLine,
    output: () => output,
    async stop() {
      child.kill();
      await exited;
    },
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
    signal: (name) => void child.kill(name),
    ended: exited.then(([, signal]: unknown[]) => signal as NodeJS.Signals | null),
  };
}

/** Is there such a process? One that has ended is there until its parent has taken notice. */
export function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Runs `node ARGS` to its end, with `input` on its standard input. */
export async function runNode(args: readonly string[], env: Environment = {}, input = ""): Promise<Finished> {
  const child = spawnNode(args, env, ["pipe", "pipe", "pipe"]);
  const printed = { stdout: "", stderr: "" };
  child.stdout?.on("data", (chunk: Buffer) => (printed.stdout += chunk));
  child.stderr?.on("data", (chunk: Buffer) => (printed.stderr += chunk));
  child.stdin?.end(input);
  const [code] = (await once(child, "close")) as [number | null];
  return { code, ...printed };
}

/**
 * A port that was free a moment ago and stays so until it is used: it lies below those that systems hand out by themselves,
 * to a server that listens at port 0 or to a connection that goes out. (And above 10080, which `fetch` does not open.)
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(11_000, 32_000);
    const server = createServer().listen(port);
    try {
      await once(server, "listening");
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") continue;
      throw error;
    }
    server.close();
    await once(server, "close");
    return port;
  }
}

/** Only what the child needs: settings of the machine's own environment (TOLLGATE_…) must not decide a test. */
function spawnNode(args: readonly string[], env: Environment, stdio: SpawnOptions["stdio"]): ChildProcess {
  const { PATH, HOME, SystemRoot, TMPDIR } = process.env;
  return spawn(process.execPath, [...args], { env: { PATH, HOME, SystemRoot, TMPDIR, ...env }, stdio });
}
