// What the command line reads from and writes to. Words go to standard error, answers to standard output, so that a script
// gets the answer alone. Only this folder prints.
import type { Environment } from "../environment.js";

/** The streams of a process, or those of a test. */
export interface Io {
  readonly env: Environment;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: Output;
  readonly stderr: Output;
  /** Calls back at SIGINT and SIGTERM; gives what takes that back. */
  onStop(stop: (signal: string) => void): () => void;
  /**
   * Code that is not ours is about to run: calls back with whatever it throws where nobody waits for it. From then on the
   * process ends with the command, whatever that code keeps open.
   */
  onForeign(thrown: (error: unknown) => void): void;
}

/** The streams of a process, which somebody must end. */
export interface ProcessIo extends Io {
  /** Has code that is not ours been let in? */
  readonly hasForeign: boolean;
}

export interface Output {
  /** `done`: the system has taken it, or it could not. */
  write(chunk: string | Uint8Array, done?: (error?: Error | null) => void): unknown;
  readonly isTTY?: boolean;
}

/**
 * 0: done. 1: it failed. 2: the command line or the configuration is wrong, and nothing was done. Of `pay` alone, 3: not paid,
 * 4: paid and not served, 5: nobody knows whether it was paid, 6: the seller's error, and nothing was paid.
 */
export type ExitCode = 0 | 1 | 2 | 3 | 4 | 5 | 6;

/** What a command line is refused for: told in its sentence, without a stack. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly code: Exclude<ExitCode, 0>;
  constructor(message: string, code: Exclude<ExitCode, 0> = 1) {
    super(message);
    this.code = code;
  }
}

/** The command line itself is wrong. */
export const usage = (message: string): CliError => new CliError(message, 2);

/** The streams of this process. */
export function processIo(): ProcessIo {
  const { env, stdin, stdout, stderr } = process;
  let hasForeign = false;
  return {
    env,
    stdin,
    stdout,
    stderr,
    onStop(stop) {
      const signals = ["SIGINT", "SIGTERM"] as const;
      for (const signal of signals) process.once(signal, stop);
      return () => {
        for (const signal of signals) process.off(signal, stop);
      };
    },
    onForeign(thrown) {
      hasForeign = true;
      process.on("uncaughtException", thrown);
      process.on("unhandledRejection", thrown);
    },
    get hasForeign() {
      return hasForeign;
    },
  };
}
