// The paid answer: receipt headers in the buyer's version, cache headers that keep it out of shared caches, exposure for
// pages on other origins; merged with what the app set.
import { findNetwork } from "./networks.js";
import { EXPOSED_HEADERS, VARY_HEADERS } from "./refusal.js";
import type { HeaderList } from "./request.js";
import { encodeHeader } from "./wire/header.js";

/** What a settlement came to (x402 *SettleResponse*). Source: protocol §2.3. */
export interface Receipt {
  readonly success: boolean;
  /** Empty where none is known. */
  readonly transaction: string;
  /** CAIP-2. */
  readonly network: string;
  readonly payer: string;
  readonly errorReason?: string;
  /** Atomic units, decimal, where more came than the price. */
  readonly amount?: string;
}

/** One header for each version the buyer speaks; v1 in v1's words. */
export function receiptHeaders(receipt: Receipt, versions: readonly (1 | 2)[]): HeaderList {
  return versions.map((version) =>
    version === 2
      ? (["PAYMENT-RESPONSE", encodeHeader(receipt)] as const)
      : (["X-PAYMENT-RESPONSE", encodeHeader(inV1(receipt))] as const),
  );
}

/** Version 1 has its own names of networks, and no amount. */
function inV1({ amount, ...receipt }: Receipt): Receipt {
  return { ...receipt, network: findNetwork(receipt.network)?.v1Name ?? receipt.network };
}

/** The headers to set on a paid answer that already has `held`. An answer with a `pass` in its headers is kept by no cache. */
export function paidHeaders(held: HeaderList, receipts: HeaderList, pass: HeaderList = []): HeaderList {
  const caching = privately(headerValue(held, "cache-control"));
  return [
    ...receipts,
    ...pass,
    ["Cache-Control", pass.length > 0 ? "private, no-store" : caching],
    ["Vary", mergeList(headerValue(held, "vary"), VARY_HEADERS)],
    ["Access-Control-Expose-Headers", mergeList(headerValue(held, "access-control-expose-headers"), EXPOSED_HEADERS)],
  ];
}

function headerValue(headers: HeaderList, name: string): string | undefined {
  let found: string | undefined;
  for (const [key, value] of headers) {
    if (key.length !== name.length || key.toLowerCase() !== name) continue;
    found = found === undefined ? value : `${found}, ${value}`;
  }
  return found;
}

/** Adds `private` unless the answer already says so, and takes back what contradicts it. */
function privately(value: string | undefined): string {
  if (value === undefined) return "private";
  const directives = value
    .split(",")
    .map((directive) => directive.trim())
    .filter((directive) => directive !== "" && !/^(public|s-maxage=.*)$/i.test(directive));
  if (directives.some((directive) => /^(private|no-store)$/i.test(directive))) return directives.join(", ");
  return ["private", ...directives].join(", ");
}

/** Union of two comma lists, without duplicates; `*` already covers everything. */
export function mergeList(present: string | undefined, added: string): string {
  if (present === undefined) return added;
  const names = present
    .split(",")
    .map((name) => name.trim())
    .filter(Boolean);
  if (names.includes("*")) return names.join(", ");
  const known = new Set(names.map((name) => name.toLowerCase()));
  const missing = added.split(", ").filter((name) => !known.has(name.toLowerCase()));
  return [...names, ...missing].join(", ");
}
