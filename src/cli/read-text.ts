// Standard input and files, read whole and no further than a bound.
import { createReadStream } from "node:fs";
import { CliError, type Io, usage } from "./io.js";

const MAX_TEXT = 1024 * 1024;
/** What a request may carry. */
export const MAX_BYTES = 16 * 1024 * 1024;

/** Standard input as text. */
export async function readText(io: Io): Promise<string> {
  return Buffer.from(await readAll(io.stdin, MAX_TEXT, "Standard input")).toString("utf8");
}

/** `DATA`, `@FILE`, or `@-` for standard input: as bytes, unchanged. */
export async function readData(data: string, io: Io): Promise<Uint8Array> {
  if (!data.startsWith("@")) return new TextEncoder().encode(data);
  const file = data.slice(1);
  if (file === "") throw usage("--data @FILE needs the name of a file");
  if (file === "-") return readAll(io.stdin, MAX_BYTES, "Standard input");
  try {
    return await readAll(createReadStream(file), MAX_BYTES, file);
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`, 2);
  }
}

async function readAll(stream: NodeJS.ReadableStream, most: number, what: string): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    length += bytes.length;
    if (length > most) throw new CliError(`${what} has more than ${most} bytes`, 2);
    chunks.push(bytes);
  }
  return new Uint8Array(Buffer.concat(chunks));
}
