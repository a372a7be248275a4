// Text as people paste it, taken apart: one header value, `Name: value` lines, a whole answer as curl prints it, or the JSON of
// a 402. Nothing is decoded here.

/** Names under which x402 values travel, lower case, with what each carries. */
export const CARRIERS = {
  "payment-required": { name: "PAYMENT-REQUIRED", kind: "challenge", version: 2 },
  "x-payment": { name: "X-PAYMENT", kind: "payment", version: 1 },
  "payment-signature": { name: "PAYMENT-SIGNATURE", kind: "payment", version: 2 },
  "x-payment-response": { name: "X-PAYMENT-RESPONSE", kind: "receipt", version: 1 },
  "payment-response": { name: "PAYMENT-RESPONSE", kind: "receipt", version: 2 },
} as const;

export type Carrier = (typeof CARRIERS)[keyof typeof CARRIERS];

/** One value to explain. */
export interface Piece {
  /** The header that carried it; undefined for a bare value and for a body. */
  readonly carrier: Carrier | undefined;
  readonly form: "header" | "json";
  readonly text: string;
}

export interface Input {
  readonly pieces: readonly Piece[];
  readonly idempotencyKey: string | undefined;
}

const LINE = /^([A-Za-z][A-Za-z-]*)[ \t]*:(.*)$/;

/** Takes pasted text apart; no pieces where nothing in it looks like an x402 value. */
export function readInput(text: string): Input {
  const whole = text.replace(/^\ufeff/, "").trim();
  if (/^[{[]/.test(whole))
    return { pieces: [{ carrier: undefined, form: "json", text: whole }], idempotencyKey: undefined };
  // curl -v marks what it sends and receives.
  const lines = whole.split(/\r?\n/).flatMap((line) => (line.startsWith("* ") ? [] : [line.replace(/^[<>] ?/, "")]));
  if (lines.some((line) => LINE.test(line))) return readLines(lines);
  const value = unquoted(whole.replace(/\s+/g, ""));
  return {
    pieces: value === "" ? [] : [{ carrier: undefined, form: "header", text: value }],
    idempotencyKey: undefined,
  };
}

function readLines(lines: readonly string[]): Input {
  const end = lines.findIndex((line, at) => line.trim() === "" && /^\s*\{/.test(lines[at + 1] ?? ""));
  const pieces: Piece[] = [];
  let idempotencyKey: string | undefined;
  for (const line of end < 0 ? lines : lines.slice(0, end)) {
    const [, name = "", value = ""] = LINE.exec(line) ?? [];
    const key = name.toLowerCase();
    if (key === "idempotency-key") idempotencyKey = value.trim();
    if (isCarrier(key)) pieces.push({ carrier: CARRIERS[key], form: "header", text: unquoted(value.trim()) });
  }
  const body =
    end < 0
      ? ""
      : lines
          .slice(end + 1)
          .join("\n")
          .trim();
  // What is sold is no business of ours, unless there is nothing else to explain.
  if (body !== "" && (pieces.length === 0 || /"accepts"/.test(body)))
    pieces.push({ carrier: undefined, form: "json", text: body });
  return { pieces, idempotencyKey };
}

const isCarrier = (name: string): name is keyof typeof CARRIERS => Object.hasOwn(CARRIERS, name);

/** Quotes that came along from a shell or from code. */
const unquoted = (text: string): string => /^(["'])(.*)\1[,;]?$/.exec(text)?.[2] ?? text;
