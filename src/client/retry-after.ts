// How long to wait before the same request goes out again.

/** `Retry-After` in either of its forms, as milliseconds from now. */
export function parseRetryAfter(value: string | null, now: number): number | undefined {
  if (!value) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

const FIRST_MS = 500;

/** Doubles with each attempt; between a half and the whole of it, so that many buyers do not come back at one moment. */
export function backoff(attempt: number, maxMs: number): number {
  const whole = Math.min(maxMs, FIRST_MS * 2 ** attempt);
  return Math.round(whole / 2 + (Math.random() * whole) / 2);
}
