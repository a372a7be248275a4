// The command line for tests: in this process with streams of the test's own, or as a program of its own.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { build } from "esbuild";
import { runCli } from "../../src/cli/run.js";
import type { Environment } from "../../src/environment.js";
import { atEndOfFile } from "../support/end-of-file.js";
import { root } from "../support/sources.js";

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Environment;
  /** Piped into it; or typed where it sits at a terminal. */
  readonly input?: string;
  /** Is somebody sitting at a terminal? False. */
  readonly terminal?: boolean;
}

/** Runs a command in this process to its end. */
export async function run(
  argv: readonly string[],
  { env = {}, input, terminal = false }: RunOptions = {},
): Promise<Ran> {
  const printed = { stdout: "", stderr: "" };
  const stdin = Object.assign(new PassThrough(), { isTTY: terminal });
  const output = (name: keyof typeof printed) => ({
    isTTY: terminal,
    write(chunk: string | Uint8Array, done?: () => void) {
      const text = typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
      printed[name] += text;
      done?.();
      // Typed line by line, each when it is asked for.
      if (terminal && name === "stderr" && /(?:: |\[y\/N\] )$/.test(text)) stdin.write(typed.shift() ?? "\n");
    },
  });
  const typed = (input ?? "").split(/(?<=\n)/);
  if (!terminal) stdin.end(input ?? "");
  const io = {
    env,
    stdin,
    stdout: output("stdout"),
    stderr: output("stderr"),
    onStop: () => () => {},
    onForeign: () => {},
  };
  const code = await runCli(argv, io);
  return { code, ...printed };
}

const removeAtEnd = (folder: string) => atEndOfFile(() => rmSync(folder, { recursive: true, force: true }));

/** An empty folder of the test file's own, with the path of a database in it. */
export function ownFolder(): { readonly folder: string; readonly database: string } {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-cli-"));
  removeAtEnd(folder);
  return { folder, database: join(folder, "tollgate.db") };
}

/** The program, built where it finds the packages of this repository. */
export async function buildProgram(): Promise<string> {
  mkdirSync(join(root, ".cache"), { recursive: true });
  const outdir = mkdtempSync(join(root, ".cache/cli-"));
  removeAtEnd(outdir);
  await build({
    absWorkingDir: root,
    entryPoints: { main: "src/cli/main.ts" },
    ...{ bundle: true, splitting: true, format: "esm", platform: "node", packages: "external", target: "node20" },
    ...{ outdir, outExtension: { ".js": ".mjs" }, logLevel: "silent" },
  });
  return join(outdir, "main.mjs");
}
