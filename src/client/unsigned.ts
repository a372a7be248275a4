// How a wallet says no: as a value, in words that can be shown. What an account throws becomes one of these; only an abort stays
// an exception.
import { printable } from "../chains/evm/printable.js";
import { hideKeys } from "../secret.js";
import { unlessAborted } from "./abort.js";
import type { Signed, WalletFailure } from "./wallet.js";

export type Unsigned = Extract<Signed, { readonly ok: false }>;

export const unsigned = (message: string, code: WalletFailure = "signing_failed"): Unsigned => ({
  ok: false,
  code,
  message,
});

/** Sellers need a moment to verify and to settle: a proof with less life than this is not made. */
const LEAST_LIFE_MS = 10_000;

/** Why nothing is signed any more for a proof that ends then; undefined where there is time. */
export function judgeLife(validUntil: number): Unsigned | undefined {
  const left = validUntil - Date.now();
  if (left >= LEAST_LIFE_MS) return undefined;
  const seconds = Math.max(0, Math.floor(left / 1000));
  return unsigned(`the proof would be good for ${seconds} s only, and sellers need at least ${LEAST_LIFE_MS / 1000}`);
}

/** What an account makes, or why it does not. Rejects with the signal's reason only. */
export async function askAccount<T>(
  ask: () => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<{ readonly ok: true; readonly value: T } | Unsigned> {
  signal?.throwIfAborted();
  try {
    // Called inside a promise, because an account may throw at once.
    return { ok: true, value: await unlessAborted(Promise.resolve().then(ask), signal) };
  } catch (error) {
    signal?.throwIfAborted();
    return unsigned(wordsOf(error));
  }
}

/** EIP-1193: the person said no. */
const DECLINED = 4001;
/** Libraries wrap errors in errors; nobody wraps so many. */
const MAX_CAUSES = 10;

function wordsOf(error: unknown): string {
  let cause: unknown = error;
  for (let depth = 0; depth < MAX_CAUSES && typeof cause === "object" && cause !== null; depth++) {
    if (Reflect.get(cause, "code") === DECLINED) return "declined";
    cause = Reflect.get(cause, "cause");
  }
  return `the account did not sign: ${printable(hideKeys(messageOf(error).replace(/\s+/g, " "))) || "it gave no reason"}`;
}

/** viem's long messages repeat what was to be signed. */
function messageOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return String(error);
  const [short, long]: unknown[] = [Reflect.get(error, "shortMessage"), Reflect.get(error, "message")];
  if (typeof short === "string") return short;
  return typeof long === "string" ? long : "";
}
