// A program of its own that tells people what it does on standard error: wait for its words, then end it.
import { spawn } from "node:child_process";
import { once } from "node:events";

export interface Told {
  /** Resolves when it has said this on standard error; rejects with all it said when it ends before that. */
  says(words: RegExp): Promise<void>;
  /** Standard error so far. */
  printed(): string;
  stop(): Promise<void>;
}

/** Runs `node ARGS` with this environment and nothing of our own but the path. */
export function spawnWords(
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Told {
  const { PATH, HOME } = process.env;
  const child = spawn(process.execPath, args, {
    cwd,
    env: { PATH, HOME, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let printed = "";
  child.stderr.on("data", (chunk: Buffer) => (printed += chunk));
  const ended = once(child, "close");
  return {
    async says(words) {
      const over = ended.then(() => Promise.reject(new Error(`it ended, having said:\n${printed}`)));
      while (!words.test(printed)) await Promise.race([once(child.stderr, "data"), over]);
      over.catch(() => {});
    },
    printed: () => printed,
    async stop() {
      child.kill();
      await ended;
    },
  };
}
