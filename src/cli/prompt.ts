// Secrets come from a hidden prompt or from standard input, never from arguments, which every user of the machine can read and
// which shells remember.
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { CliError, type Io } from "./io.js";

const MAX_INPUT = 64 * 1024;

/**
 * One secret: typed unseen where somebody sits at a terminal, else the first line of standard input.
 *
 * @throws CliError where nothing came.
 */
export async function readSecretInput(io: Io, question: string): Promise<string> {
  const text = io.stdin.isTTY ? await promptHidden(io, question) : await readFirstLine(io);
  if (text === "") throw new CliError(`Nothing came for ${question.toLowerCase()}`, 2);
  return text;
}

/** Twice, so that a slip does not lock anybody out; once where nobody sits there. */
export async function readNewSecret(io: Io, question: string): Promise<string> {
  const text = await readSecretInput(io, question);
  if (!io.stdin.isTTY) return text;
  if ((await promptHidden(io, `${question} again`)) === text) return text;
  throw new CliError("The two are not the same: nothing was changed", 2);
}

async function promptHidden(io: Io, question: string): Promise<string> {
  io.stderr.write(`${question}: `);
  // What is typed is echoed into nothing.
  const unseen = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: io.stdin, output: unseen, terminal: true });
  try {
    const aborted = new Promise<never>((_resolve, reject) => {
      lines.once("SIGINT", () => reject(new CliError("Interrupted: nothing was done")));
      lines.once("close", () => reject(new CliError("The input ended: nothing was done")));
    });
    return await Promise.race([lines.question(""), aborted]);
  } finally {
    lines.close();
    io.stderr.write("\n");
  }
}

async function readFirstLine(io: Io): Promise<string> {
  let text = "";
  for await (const chunk of io.stdin) {
    text += String(chunk);
    if (text.length > MAX_INPUT) throw new CliError(`Standard input has more than ${MAX_INPUT} characters`, 2);
  }
  const [line = "", ...others] = text.split(/\r?\n/);
  if (others.some((other) => other.trim() !== ""))
    throw new CliError("Expected one line on standard input, got several", 2);
  return line.trim();
}

/** @throws CliError unless somebody at a terminal says yes. */
export async function confirm(io: Io, question: string): Promise<void> {
  if (!io.stdin.isTTY) throw new CliError(`${question} Say so with --yes`, 2);
  if (!(await askYes(io, question))) throw new CliError("Nothing was done");
}

/** Asks somebody at a terminal; whatever is no yes, an end of the input or an abort too, is a no. */
export async function askYes(io: Io, question: string, signal?: AbortSignal): Promise<boolean> {
  io.stderr.write(`${question} [y/N] `);
  const lines = createInterface({ input: io.stdin });
  const close = () => lines.close();
  signal?.addEventListener("abort", close, { once: true });
  try {
    const answer = await Promise.race([
      lines.question(""),
      new Promise<string>((resolve) => lines.once("close", () => resolve(""))),
    ]);
    return !signal?.aborted && /^y(?:es)?$/i.test(answer.trim());
  } finally {
    signal?.removeEventListener("abort", close);
    close();
  }
}
