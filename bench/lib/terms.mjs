// What every library sells in the benchmark: one price for one token to one payee, on any number of routes.

/** USDC on Base: the one token that each of the libraries knows by itself. */
export const TERMS = {
  network: "eip155:8453",
  networkV1: "base",
  chainId: 8453,
  asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  name: "USD Coin",
  version: "2",
  payTo: "0x209693Bc6afc0C5328bA36FaF03C514EF312287C",
  usd: "0.01",
  amount: "10000",
  maxTimeoutSeconds: 3600,
  description: "A page of the benchmark",
  mimeType: "application/json",
};

/** The same on Solana. Nobody has the keys of the payee and the fee payer: the stub signs nothing. */
export const SOLANA_TERMS = {
  ...TERMS,
  network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
  networkV1: "solana",
  asset: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
  payTo: "GyGKxMyg1p9SsHfm15MkNUu1u9TN2JtTspcdmrtGUdse",
  feePayer: "9hSR6S7WPtxmTojgo6GG3k4yDPecgJY292j7xrsUGWBu",
};

/** Answers, equal in size on every server. */
export const PAID_ANSWER = { ok: true, page: "worth its price" };
export const FREE_ANSWER = { ok: true, page: "open to anyone." };

/**
 * n priced routes of three kinds: seven in ten literal, two with a parameter, one with a wildcard at its end. The last one,
 * which is the one that is measured, has a parameter where there are several.
 */
export function routesOf(n) {
  return Array.from({ length: n }, (_, i) => {
    if (n > 1 && (i === n - 1 || [4, 8].includes(i % 10))) {
      return { kind: "parameter", path: `/paid/p${i}/:id/page`, hit: `/paid/p${i}/2f9a/page` };
    }
    if (i % 10 === 6) return { kind: "wildcard", path: `/paid/w${i}/*`, hit: `/paid/w${i}/a/b` };
    return { kind: "literal", path: `/paid/l${i}/page`, hit: `/paid/l${i}/page` };
  });
}

/** Express 5 wants a name for its wildcards. */
export const expressPath = (path) => path.replace("/*", "/*rest");
