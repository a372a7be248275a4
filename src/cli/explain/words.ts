// Amounts, networks and times as one says them.
import { formatDecimal } from "../../money.js";
import type { Network, Token } from "../../networks.js";

/** What is known of the money that is asked for or paid. */
export interface Asset {
  readonly network: Network;
  /** `native`, a contract or a mint; undefined where nothing says it. */
  readonly address: string | undefined;
  /** Of our own table. */
  readonly token: Token | undefined;
}

/** `0.01 USDC`; atomic units where the table does not know the token. */
export function formatAmount(amount: bigint, { network, address, token }: Asset): string {
  if (address === "native") return `${formatDecimal(amount, network.native.decimals)} ${network.native.symbol}`;
  if (token) return `${formatDecimal(amount, token.decimals)} ${token.symbol}`;
  return `${amount} atomic units of ${address ?? "a token that it does not name"}`;
}

/** `base-sepolia (eip155:84532, a test network)` */
export function formatNetwork({ id, name, testnet }: Network): string {
  const notes = [...(name === id.replace(":", "-") ? [] : [id]), ...(testnet ? ["a test network"] : [])];
  const shown = name === id.replace(":", "-") ? id : name;
  return notes.length > 0 ? `${shown} (${notes.join(", ")})` : shown;
}

/** The last second that a Date can hold, rounded down: an authorization may name any uint256. */
const LAST = 8_640_000_000_000n;

/** An instant in Unix seconds, with its distance from now: `2030-01-31 12:00:00Z (in 4 minutes)`. */
export function formatTime(seconds: bigint, nowMs: number): string {
  const now = BigInt(Math.floor(nowMs / 1000));
  if (seconds > LAST) return `second ${seconds}, which is never`;
  const text = new Date(Number(seconds) * 1000).toISOString().replace(".000Z", "Z").replace("T", " ");
  if (seconds === now) return `${text} (now)`;
  return seconds > now ? `${text} (in ${formatSpan(seconds - now)})` : `${text} (${formatSpan(now - seconds)} ago)`;
}

const SPANS = [
  [31_557_600n, "year"],
  [86_400n, "day"],
  [3_600n, "hour"],
  [60n, "minute"],
  [1n, "second"],
] as const;

/** The largest unit of which there are two, or whatever there is: `90 seconds`, `10 years`. */
export function formatSpan(seconds: bigint): string {
  for (const [unit, name] of SPANS) {
    const count = seconds / unit;
    if (count >= 2n || unit === 1n) return `${count} ${name}${count === 1n ? "" : "s"}`;
  }
  return "0 seconds";
}

/** `One thing is wrong`, `3 things are wrong`. */
export const countWrong = (count: number): string => (count === 1 ? "One thing is wrong" : `${count} things are wrong`);
