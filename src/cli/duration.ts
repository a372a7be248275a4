// How long something is good for, as people write it: `30d`, `12h`, or a date.

const UNITS = { m: 60, h: 3_600, d: 86_400, w: 604_800 } as const;
const DURATION = /^([1-9][0-9]{0,5})([mhdw])$/;
const DATE = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?Z)?$/;

/** What `--expires` takes, for messages. */
export const EXPIRES = "30d, 12h, 90m, 4w, or a date such as 2030-01-31";

/**
 * The end in Unix seconds; undefined where the text is neither a duration nor a date of the calendar.
 *
 * @example readExpiry("30d", 1_700_000_000) // 1702592000
 */
export function readExpiry(text: string, nowSeconds: number): number | undefined {
  const [, count, unit] = DURATION.exec(text) ?? [];
  if (count !== undefined && (unit === "m" || unit === "h" || unit === "d" || unit === "w")) {
    return nowSeconds + Number(count) * UNITS[unit];
  }
  if (!DATE.test(text)) return undefined;
  const ms = Date.parse(text);
  // 2030-02-30 would be read as a day in March.
  if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== text.slice(0, 10)) return undefined;
  return ms / 1000;
}
