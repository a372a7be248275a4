// The gateway's endpoints as its client calls them: one table, by which every call is made and every answer recognised. A test
// compares it with the gateway's OpenAPI document, both ways.
import * as z from "zod/mini";
import type {
  BuildAnswer,
  ChallengeAnswer,
  HealthAnswer,
  HistoryAnswer,
  ProveAnswer,
  ReadyAnswer,
  ReceiveAnswer,
  SendAnswer,
  SettleResponse,
  StatusAnswer,
  SupportedResponse,
  TransactionAnswer,
  VerifyResponse,
} from "./gateway-client-shapes.js";

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

export interface EndpointFacts {
  /** Gets an `Idempotency-Key`: what it does must be done once, however often it is asked for. */
  readonly keyed?: true;
  /** Needs no key, so it gets none. */
  readonly open?: true;
  /** Asks how things are at this moment: an answer that says "not well" is an answer, and is not asked for again. */
  readonly once?: true;
  /** x402's own shape, which has no `success: true`. */
  readonly bare?: true;
  /** Of what this client itself goes by; an answer of another shape is not a gateway's. */
  readonly shape?: z.ZodMiniType;
}

/** One endpoint; the type of its answer goes along. */
export interface Endpoint<Answer = unknown> extends EndpointFacts {
  readonly method: Method;
  /** As the OpenAPI document writes it. */
  readonly path: string;
  /** Members that every answer of it has: JSON without them is not a gateway's. */
  readonly members: readonly (keyof Answer & string)[];
  /** Never there: it carries the type. */
  readonly answer?: Answer;
}

/** @example endpoint<{ account: Account }>("GET", "/admin/accounts/{account}", ["account"]) */
export const endpoint = <Answer>(
  method: Method,
  path: string,
  members: Endpoint<Answer>["members"],
  facts: EndpointFacts = {},
): Endpoint<Answer> => Object.freeze({ method, path, members, ...facts });

const statusShape = z.object({
  status: z.enum(["created", "submitted", "confirmed", "finalized", "failed", "expired"]),
});
const historyShape = z.object({
  payments: z.array(z.object({ paymentId: z.string() })),
  pagination: z.object({ hasMore: z.boolean(), before: z.optional(z.string()) }),
});

export const ENDPOINTS = Object.freeze({
  send: endpoint<SendAnswer>("POST", "/payment/send", ["paymentId", "status", "paymentProof"], { keyed: true }),
  receive: endpoint<ReceiveAnswer>("POST", "/payment/receive", ["verified", "status", "payer"], { keyed: true }),
  status: endpoint<StatusAnswer>("GET", "/payment/status/{paymentId}", ["paymentId", "status", "history"], {
    shape: statusShape,
  }),
  history: endpoint<HistoryAnswer>("GET", "/payment/history/{walletAddress}", ["payments", "pagination"], {
    shape: historyShape,
  }),
  buildSend: endpoint<BuildAnswer>("POST", "/transaction/send", ["paymentId", "transaction", "secret"], {
    keyed: true,
  }),
  buildReceive: endpoint<BuildAnswer>("POST", "/transaction/receive", ["paymentId", "transaction", "status"], {
    keyed: true,
  }),
  transaction: endpoint<TransactionAnswer>("GET", "/transaction/{transactionId}", ["network", "transaction"]),
  verify: endpoint<VerifyResponse>("POST", "/verify", ["isValid"], { bare: true }),
  settle: endpoint<SettleResponse>("POST", "/settle", ["success", "transaction", "network"], {
    keyed: true,
    bare: true,
  }),
  supported: endpoint<SupportedResponse>("GET", "/supported", ["kinds"], { open: true, bare: true }),
  walletChallenge: endpoint<ChallengeAnswer>("POST", "/wallets/challenge", ["message", "nonce"]),
  // A challenge is good for one proof, so the repeat of a lost answer has to be known as one.
  walletProve: endpoint<ProveAnswer>("POST", "/wallets/prove", ["walletAddress", "account"], { keyed: true }),
  health: endpoint<HealthAnswer>("GET", "/healthz", ["status"], { open: true, once: true }),
  ready: endpoint<ReadyAnswer>("GET", "/readyz", ["status", "checks"], { open: true, once: true }),
});

/** `POST /payment/send`: for messages. */
export const nameOf = ({ method, path }: Pick<Endpoint, "method" | "path">): string => `${method} ${path}`;
