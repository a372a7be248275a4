// CORS by the seller's `cors` option: which origins may read the paywall's answers. Without the option the app's own CORS
// middleware stands before the paywall, and only the payment headers are exposed.
import { mapOutcomes } from "./outcomes.js";
import { mergeList } from "./receipt.js";
import { EXPOSED_HEADERS } from "./refusal.js";
import type { Answer, Capture, HeaderList, Outcome, PaywallRequest, Verdict } from "./request.js";
import type { Cors } from "./settings.js";

/** Request headers that a paying page sends. The last one is sent by published clients. Source: protocol §1.6. */
const ALLOWED_HEADERS =
  "PAYMENT-SIGNATURE, X-PAYMENT, Payment-Pass, SIGN-IN-WITH-X, Idempotency-Key, Content-Type, Authorization, Access-Control-Expose-Headers";

/** The answer to a preflight: no payment, no handler. */
export function preflight(): Answer {
  return {
    status: 204,
    headers: [
      ["Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"],
      ["Access-Control-Allow-Headers", ALLOWED_HEADERS],
      ["Access-Control-Expose-Headers", EXPOSED_HEADERS],
      ["Access-Control-Max-Age", "600"],
      ["Vary", "Origin, Access-Control-Request-Headers"],
    ],
    body: "",
  };
}

/** Lets the allowed origin read whatever this verdict leads to. */
export function applyCors(verdict: Verdict, request: PaywallRequest, cors: Cors | undefined): Verdict {
  const origin = cors && allowedOrigin(cors, request.header("origin"));
  if (origin === undefined || verdict.kind === "open") return verdict;
  if (verdict.kind === "admit") return { ...verdict, capture: withOrigin(verdict.capture, origin) };
  return { ...verdict, answer: { ...verdict.answer, headers: addOrigin(verdict.answer.headers, origin) } };
}

function allowedOrigin({ origins }: Cors, origin: string | undefined): string | undefined {
  if (origins === "*") return "*";
  return origin !== undefined && origins.includes(origin) ? origin : undefined;
}

function addOrigin(headers: HeaderList, origin: string): HeaderList {
  const allow = ["Access-Control-Allow-Origin", origin] as const;
  if (origin === "*") return [...headers, allow];
  const vary = headers.find(([name]) => name.toLowerCase() === "vary")?.[1];
  const others = headers.filter(([name]) => name.toLowerCase() !== "vary");
  return [...others, ["Vary", mergeList(vary, "Origin")], allow];
}

function withOrigin(capture: Capture, origin: string): Capture {
  const add = (outcome: Outcome): Outcome =>
    outcome.kind === "deliver"
      ? { ...outcome, headers: addOrigin(outcome.headers, origin) }
      : { ...outcome, answer: { ...outcome.answer, headers: addOrigin(outcome.answer.headers, origin) } };
  return mapOutcomes(capture, add);
}
