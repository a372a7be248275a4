// The answer as one JSON object for programs: `{ status, receipt, body }`. JSON stays JSON, text stays text, anything else is base64
// and says so.
import type { Purchase } from "../../client/purchase.js";
import type { CliError, Io } from "../io.js";
import { writeOut } from "./answer.js";
import { toReceipt } from "./purchase-words.js";

/** What a program is given in one piece; more than that is for --output. */
const MAX_BODY = 256 * 1024 * 1024;

export interface Read {
  readonly body: string | WrittenJson | null;
  /** Where the body is the base64 of its bytes. */
  readonly bodyEncoding?: "base64";
}

/** JSON in the seller's own writing. Written anew it would lose digits, and 600 KB of it can become gigabytes of indentation. */
interface WrittenJson {
  readonly json: string;
}

/** Reads the body whole. Rejects where it breaks off. */
export async function readAnswer(response: Response): Promise<Read> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? new Blob([]).stream()) {
    length += chunk.length;
    if (length > MAX_BODY) throw new Error(`it has more than ${MAX_BODY} bytes: use --output in place of --json`);
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks);
  if (bytes.length === 0) return { body: null };
  const text = decode(bytes);
  if (text === undefined) return { body: bytes.toString("base64"), bodyEncoding: "base64" };
  const isJson = /\bjson\b/i.test(response.headers.get("Content-Type") ?? "") || /^\s*[{[]/.test(text);
  return { body: isJson && canParse(text) ? { json: text.trim() } : text };
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Undefined where the bytes are no text. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    const text = utf8.decode(bytes);
    return text.includes("\u0000") ? undefined : text;
  } catch {
    return undefined;
  }
}

function canParse(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

interface Outcome {
  readonly status: number | null;
  readonly purchase: Purchase | undefined;
  readonly isOld: boolean;
  readonly read?: Read | undefined;
  readonly error?: CliError | undefined;
}

/** Prints the object. Where it failed, `error` says with which exit code and why. */
export async function printAnswer(io: Io, { status, purchase, isOld, read, error }: Outcome): Promise<void> {
  const { body, bodyEncoding }: Read = read ?? { body: null };
  const json = typeof body === "object" && body !== null ? plain(body.json) : toPlainJson(body);
  const before = toPlainJson({ status, receipt: purchase ? toReceipt(purchase, isOld) : null });
  const after = toPlainJson({
    ...(bodyEncoding && { bodyEncoding }),
    ...(error && { error: { exitCode: error.code, message: error.message } }),
  });
  // Both are objects: the one loses its end, the other its beginning.
  const rest = after === "{}" ? "\n}" : `,${after.slice(1)}`;
  await writeOut(io.stdout, `${before.slice(0, -2)},\n  "body": ${json}${rest}\n`);
}

/** JSON that means the same and holds nothing that a terminal obeys. */
export const toPlainJson = (value: unknown): string =>
  plain(JSON.stringify(value, (_key, one: unknown) => (typeof one === "bigint" ? `${one}` : one), 2));

/** A carriage return can stand between two values only, where every space is as good. */
const plain = (json: string): string =>
  json
    .replaceAll("\r", " ")
    .replace(/[\u007f-\u009f\u2028\u2029]|\p{Cf}/gu, (found) =>
      [...found].flatMap((one) => Array.from({ length: one.length }, (_, at) => escaped(one.charCodeAt(at)))).join(""),
    );

const escaped = (unit: number): string => `\\u${unit.toString(16).padStart(4, "0")}`;
