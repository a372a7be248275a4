// A request as curl takes it: URL, method, headers, body. Headers may come from a file, because arguments can be read by every
// user of the machine.
import type { OptionSpecs, Values } from "./command.js";
import { type Io, usage } from "./io.js";
import { readData } from "./read-text.js";

export const REQUEST_OPTIONS = {
  request: { type: "string", short: "X", value: "METHOD", description: "GET by default, POST with --data" },
  header: {
    type: "string",
    short: "H",
    multiple: true,
    value: '"NAME: VALUE"|@FILE',
    description: "A header, or a file with one on each line",
  },
  data: {
    type: "string",
    short: "d",
    value: "DATA|@FILE|@-",
    description: "The body, unchanged; JSON is sent as application/json unless a header says otherwise",
  },
} as const satisfies OptionSpecs;

export interface WrittenRequest {
  /** Without a fragment. */
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer> | undefined;
}

/** @throws CliError (2) for whatever cannot be sent. No sentence repeats a header's value or a URL's password. */
export async function readRequest(
  url: string,
  { request, header = [], data }: Values<typeof REQUEST_OPTIONS>,
  io: Io,
): Promise<WrittenRequest> {
  const target = readUrl(url);
  const headers = new Headers();
  for (const line of (await Promise.all(header.map((one) => readHeaderLines(one, io)))).flat())
    setHeader(headers, line);
  const body = data === undefined ? undefined : new Uint8Array(await readData(data, io));
  const method = (request ?? (body ? "POST" : "GET")).toUpperCase();
  if (!/^[A-Z][A-Z-]{0,30}$/.test(method) || /^(?:CONNECT|TRACE|TRACK)$/.test(method))
    throw usage("--request takes a method such as GET or POST");
  if (body && (method === "GET" || method === "HEAD")) throw usage(`A ${method} has no body: leave out --data`);
  if (body && !headers.has("Content-Type")) headers.set("Content-Type", contentTypeOf(body));
  return { url: target, method, headers, body };
}

function readUrl(text: string): string {
  const scheme = /^https?:\/\//i.test(text);
  if (!scheme || !URL.canParse(text)) throw usage("URL must be a whole one, such as https://api.example/report");
  const url = new URL(text);
  if (url.username !== "" || url.password !== "")
    throw usage("URL holds a password, and arguments can be read by every user: send it with --header @FILE");
  url.hash = "";
  return url.href;
}

async function readHeaderLines(written: string, io: Io): Promise<string[]> {
  if (!written.startsWith("@")) return [written];
  const text = new TextDecoder().decode(await readData(written, io));
  return text.split(/\r?\n/).filter((line) => line.trim() !== "");
}

/** The buyer itself sets them; a proof of somebody else's making would be sent past every limit. */
const OURS = /^(?:x-payment|payment-signature|idempotency-key)$/i;

function setHeader(headers: Headers, line: string): void {
  const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*:[ \t]*(.*)$/.exec(line) ?? [];
  if (name === undefined || value === undefined) throw usage('--header takes "Name: value"');
  if (OURS.test(name)) throw usage(`--header ${name}: tollgate sets this header itself`);
  try {
    headers.append(name, value);
  } catch {
    throw usage(`--header ${name}: its value cannot be sent (what came is not shown)`);
  }
}

/** curl says that every body is a form; a JSON body that is called one would be paid for and refused. */
function contentTypeOf(body: Uint8Array): string {
  const text = new TextDecoder().decode(body);
  if (!/^\s*[{[]/.test(text)) return "application/x-www-form-urlencoded";
  try {
    JSON.parse(text);
    return "application/json";
  } catch {
    return "application/x-www-form-urlencoded";
  }
}
