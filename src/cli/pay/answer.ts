// The answer, written out as its bytes come: to a file, to a pipe, or to a terminal, which gets none of the characters that it
// would obey. What a terminal cannot show is kept in a file, because it is paid for.
import { createWriteStream, mkdirSync } from "node:fs";
import { open, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { CliError, type Io, type Output } from "../io.js";
import { printable } from "../print.js";

export interface Written {
  /** Where the body is, where that is not standard output. */
  readonly file?: string;
}

interface Target {
  /** `-o`. */
  readonly file: string | undefined;
  /** Where a binary answer goes that a terminal cannot show. */
  readonly fallback: string;
  readonly include: boolean | undefined;
}

/** Rejects where the body breaks off, or cannot be written. */
export async function writeAnswer(io: Io, response: Response, { file, fallback, include }: Target): Promise<Written> {
  const isTerminal = io.stdout.isTTY === true;
  if (include) await writeOut(io.stdout, headOf(response, isTerminal));
  const body = response.body ?? new Blob([]).stream();
  if (file !== undefined) {
    await toFile(file, body);
    return { file };
  }
  if (isTerminal) return toTerminal(io, response, body, fallback);
  for await (const chunk of body) await writeOut(io.stdout, chunk);
  return {};
}

/** The lines of `curl -i`. */
function headOf({ status, statusText, headers }: Response, isTerminal: boolean): string {
  const lines = [
    `HTTP ${status}${statusText ? ` ${statusText}` : ""}`,
    ...[...headers].map(([name, value]) => `${name}: ${value}`),
  ];
  return isTerminal ? `${lines.map(printable).join("\n")}\n\n` : `${lines.join("\r\n")}\r\n\r\n`;
}

/** Waits until the system has taken it: a slow reader slows down the seller, and nothing piles up here. */
export function writeOut(output: Output, chunk: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    output.write(chunk, (error) => (error ? reject(error) : resolve()));
  });
}

async function toFile(file: string, body: AsyncIterable<Uint8Array>, mode = 0o666): Promise<void> {
  const stream = createWriteStream(file, { mode });
  const ended = new Promise<void>((resolve, reject) => {
    stream.once("finish", resolve);
    stream.once("error", reject);
  });
  // Whoever writes is told of a failure by the write itself.
  ended.catch(() => {});
  for await (const chunk of body) await writeOut(stream, chunk);
  stream.end();
  await ended;
}

const TEXT = /^(?:text\/|application\/(?:[\w.-]+\+)?(?:json|xml|yaml|javascript|x-ndjson|x-www-form-urlencoded)\b)/i;

async function toTerminal(
  io: Io,
  response: Response,
  body: AsyncIterable<Uint8Array>,
  fallback: string,
): Promise<Written> {
  const chunks = body[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done) return {};
  const type = response.headers.get("Content-Type");
  const isText = type === null ? !first.value.includes(0) : TEXT.test(type);
  const all = startingWith(first.value, chunks);
  if (!isText) {
    mkdirSync(join(fallback, ".."), { recursive: true, mode: 0o700 });
    await toFile(fallback, all, 0o600);
    io.stderr.write(`The answer is no text (${printable(type ?? "no type")}): it is kept in ${fallback}\n`);
    return { file: fallback };
  }
  const decoder = new TextDecoder();
  let last = "\n";
  const show = async (text: string) => {
    if (text === "") return;
    last = text;
    await writeOut(io.stdout, harmless(text));
  };
  for await (const chunk of all) await show(decoder.decode(chunk, { stream: true }));
  await show(decoder.decode());
  if (!last.endsWith("\n")) await writeOut(io.stdout, "\n");
  return {};
}

async function* startingWith(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

/** Without what a terminal obeys, and what turns the direction of reading. Lines and tabs stay. */
const harmless = (text: string): string =>
  text.replace(/\r/g, "").replace(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu, "?");

/**
 * Makes sure that the file can be written before anything is paid; gives what takes it back where it stayed empty.
 *
 * @throws CliError (2) where it cannot.
 */
export async function reserveFile(file: string | undefined): Promise<() => Promise<void>> {
  if (file === undefined) return async () => {};
  const make = (flag: "wx" | "a") => open(file, flag).then((handle) => handle.close());
  const isNew = await make("wx").then(
    () => true,
    async (error: unknown) => {
      await make("a").catch(() => {
        throw new CliError(
          `--output ${file} cannot be written: ${error instanceof Error ? error.message : String(error)}`,
          2,
        );
      });
      return false;
    },
  );
  return async () => {
    const now = isNew ? await stat(file).catch(() => undefined) : undefined;
    // Another run may have filled it meanwhile.
    if (now?.size === 0) await unlink(file).catch(() => {});
  };
}
