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
  /** `code` and `message` of a seller who answers in such words, as ours do. */
  readonly seller: SellerVerdict;
}

/** Printable and cut short. Shown to the caller: nothing is decided by them. */
export interface SellerVerdict {
  readonly sellerCode?: string;
  readonly sellerMessage?: string;
}

const BODY = { maxBytes: 16 * 1024, timeoutMs: 5_000 } as const;
/** As much as a challenge may have, because in protocol v1 it stands there. */
const CHALLENGE_BODY = { ...BODY, maxBytes: 256 * 1024 } as const;
const LONGEST_CODE = 60;

/** Rejects only with the reason of an aborted signal. The body of an answer that may go to the caller is not touched. */
export async function readPaidAnswer(
  response: Response,
  receipt: SellerReceipt | undefined,
  signal: AbortSignal | undefined,
): Promise<HeardAnswer> {
  const { status } = response;
  // A browser shows nothing of a redirect that it does not follow.
  const heard = { status: status || undefined, lost: false, code: undefined, retry: undefined, seller: {} } as const;
  if (status === 402) {
    const body = await readBodyText(response, { ...CHALLENGE_BODY, signal });
    const text = body.ok ? body.text : "";
    const read = await readChallenge(new Response(text, { headers: response.headers }));
    const reason = receipt?.reason ?? (read.ok ? read.challenge.error : undefined);
    return { ...heard, reason, seller: toVerdict(parseRecord(text)) };
  }
  if (!isRepeated(status)) return { ...heard, reason: receipt?.reason };
  const body = await readBodyText(response, { ...BODY, signal });
  const said = body.ok ? parseRecord(body.text) : {};
  const { code, retry, error, message } = said;
  return {
    ...heard,
    code: typeof code === "string" ? code : undefined,
    retry: typeof retry === "string" ? retry : undefined,
    reason: receipt?.reason ?? toSellerWords(error) ?? toSellerWords(message),
    seller: toVerdict(said),
  };
}

function toVerdict({ code, message }: Readonly<Record<string, unknown>>): SellerVerdict {
  const [sellerCode, sellerMessage] = [toSellerWords(code, LONGEST_CODE), toSellerWords(message)];
  return { ...(sellerCode !== undefined && { sellerCode }), ...(sellerMessage !== undefined && { sellerMessage }) };
}

function parseRecord(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
