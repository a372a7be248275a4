// What a payment opens beside its own answer: nothing (`"once"`), or the same thing again, for a time or for so many uses.

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
type Unit = keyof typeof UNIT_MS;

/** Whole seconds, minutes, hours or days: `"90s"`, `"1h"`, `"30d"`. */
export type PassTime = `${number}${Unit}`;

/** `uses`: how often the handler runs for one payment, the paid answer included. */
export type Access = "once" | { readonly for: PassTime; readonly uses?: number | undefined };

/** A pass as a route sells it. */
export interface PassTerms {
  /** Absent = as often as its time allows. */
  readonly uses: number | undefined;
  readonly ms: number;
}

const MAX_MS = 366 * UNIT_MS.d;
const MAX_USES = 1_000_000;

/** Is this what the option `access` can be? */
export const isAccess = (value: unknown): value is Access => value === "once" || toPassTerms(value) !== undefined;

/** The terms of a pass; undefined for `"once"` and for what is no pass. */
export function toPassTerms(value: unknown): PassTerms | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { for: time, uses, ...others } = value as Readonly<Record<string, unknown>>;
  const [, count, unit] = typeof time === "string" ? (/^([1-9]\d{0,7})([smhd])$/.exec(time) ?? []) : [];
  const ms = Number(count) * UNIT_MS[unit as Unit];
  if (!(ms <= MAX_MS) || Object.keys(others).length > 0) return undefined;
  if (uses === undefined) return { uses, ms };
  return typeof uses === "number" && Number.isInteger(uses) && uses >= 1 && uses <= MAX_USES ? { uses, ms } : undefined;
}
