// What the answer to a paid try says: by its status, and by its body where that is never the caller's.
import { isRecord } from "../wire/json.js";
import { readBodyText } from "./bounded-body.js";
import { readChallenge } from "./challenge.js";
import { isRepeated, type PaidAnswer } from "./outcome.js";
import type { SellerReceipt } from "./receipt.js";
import { toSellerWords } from "./seller-words.js";

export interface HeardAnswer extends PaidAnswer {
  /** The seller's own words, printable and cut short. */
  readonly reason: string | undefined;
}

const BODY = { maxBytes: 16 * 1024, timeoutMs: 5_000 } as const;

/** Rejects only with the reason of an aborted signal. The body of an answer that may go to the caller is not touched. */
export async function readPaidAnswer(
  response: Response,
  receipt: SellerReceipt | undefined,
  signal: AbortSignal | undefined,
): Promise<HeardAnswer> {
  const { status } = response;
  // A browser shows nothing of a redirect that it does not follow.
  const heard = { status: status || undefined, lost: false, code: undefined, retry: undefined } as const;
  if (status === 402) {
    const read = await readChallenge(response, { signal });
    return { ...heard, reason: receipt?.reason ?? (read.ok ? read.challenge.error : undefined) };
  }
  if (!isRepeated(status)) return { ...heard, reason: receipt?.reason };
  const body = await readBodyText(response, { ...BODY, signal });
  const { code, retry, error, message } = body.ok ? parseRecord(body.text) : {};
  return {
    ...heard,
    code: typeof code === "string" ? code : undefined,
    retry: typeof retry === "string" ? retry : undefined,
    reason: receipt?.reason ?? toSellerWords(error) ?? toSellerWords(message),
  };
}

function parseRecord(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
