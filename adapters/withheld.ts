// Request headers that a paid handler does not see. A conditional request would be answered 304 without the goods: the buyer
// pays for the answer, not for its freshness. And a handler that proxies would pass a payment on to somebody else.

export const WITHHELD = [
  "if-none-match",
  "if-modified-since",
  "payment-signature",
  "x-payment",
  "payment-pass",
] as const;
