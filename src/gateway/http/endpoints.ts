// The endpoints that a key opens: the six of the specification, a transaction's bytes, the facilitator's two, and those by which
// wallets are shown. Source: gateway-spec, design §7.
import { z } from "@hono/zod-openapi";
import { facilitatorRequestBody, settleResponse, verifyResponse } from "../../wire/facilitator.js";
import { fault, type Outcome } from "../errors.js";
import {
  buildAnswer,
  buildReceiveRequest,
  buildSendRequest,
  historyAnswer,
  historyQuery,
  receiveAnswer,
  receiveRequest,
  sendAnswer,
  sendRequest,
  statusAnswer,
  transactionAnswer,
  transactionId,
  transactionQuery,
  walletAddress,
} from "../schemas/index.js";
import { invalidRequest } from "./details.js";
import { byBody, type EndpointDefinition, readQuery } from "./endpoint.js";
import { EXAMPLES } from "./examples.js";
import { WALLET_ENDPOINTS } from "./wallet-endpoints.js";

/** A payment id, the id of an EVM transaction, a proof id, the id of a Solana transaction. */
const PAYMENT_ID = /^(?:pay_[1-9A-HJ-NP-Za-km-z]{22}|0x[0-9a-fA-F]{64}|[0-9a-f]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$/;

const paymentId = z.string().openapi({
  description: "A payment id (pay_…), a transaction id, or a proof id",
  example: EXAMPLES.status.answer.paymentId,
});

/** Answers of status and facilitator stand alone; the others bring their own `success`. */
const withSuccess = (outcome: Outcome<object>): Outcome<object> =>
  outcome.ok ? { ...outcome, value: { success: true, ...outcome.value } } : outcome;

export const PROTECTED: readonly EndpointDefinition[] = [
  {
    name: "POST /payment/send",
    method: "post",
    path: "/payment/send",
    scopes: ["send"],
    summary: "Execute a payment",
    description:
      "Pays from a wallet that this account lodged with the gateway, and answers with a proof that opens the resource at the seller.",
    codes: ["INVALID_RECIPIENT", "INSUFFICIENT_BALANCE", "PAYMENT_VERIFICATION_FAILED", "UNAVAILABLE"],
    body: sendRequest,
    answer: sendAnswer,
    examples: EXAMPLES.send,
    read: byBody(sendRequest, (engine, caller, body) => engine.send(caller, body)),
  },
  {
    name: "POST /payment/receive",
    method: "post",
    path: "/payment/receive",
    scopes: ["receive"],
    summary: "Verify and process an incoming payment",
    description:
      "Verifies a buyer's proof and settles it. Grants each proof once; validate it before the resource is handed out. At most 20 of an account run at once.",
    codes: ["INVALID_RECIPIENT", "INVALID_PAYMENT_PROOF", "PAYMENT_VERIFICATION_FAILED", "UNAVAILABLE"],
    body: receiveRequest,
    answer: receiveAnswer,
    examples: EXAMPLES.receive,
    read: byBody(
      receiveRequest,
      (engine, caller, body) => engine.receive(caller, body),
      ({ timeout }) => timeout * 1000,
    ),
  },
  {
    name: "GET /payment/status",
    method: "get",
    path: "/payment/status/{paymentId}",
    scopes: ["read", "send", "receive", "build"],
    summary: "Status and details of one payment",
    description: "Looks at the chain where the payment is not final, at most once a second.",
    codes: ["NOT_FOUND"],
    params: z.object({ paymentId }),
    answer: statusAnswer,
    examples: EXAMPLES.status,
    read({ params }) {
      const id = params.paymentId ?? "";
      if (!PAYMENT_ID.test(id)) return fault("NOT_FOUND", "there is no payment with this id");
      return {
        ok: true,
        value: { content: id, run: async (engine, caller) => withSuccess(await engine.status(caller, id)) },
      };
    },
  },
  {
    name: "GET /payment/history",
    method: "get",
    path: "/payment/history/{walletAddress}",
    scopes: ["read"],
    summary: "Sent and received payments of a wallet",
    description: "This account's payments that touch the address, newest first.",
    codes: [],
    params: z.object({ walletAddress: walletAddress.describe("The wallet whose payments are asked for") }),
    query: historyQuery,
    answer: historyAnswer,
    examples: EXAMPLES.history,
    read({ params, query }) {
      const address = walletAddress.safeParse(params.walletAddress);
      if (!address.success) {
        return invalidRequest({
          issues: address.error.issues.map((issue) => ({ ...issue, path: ["walletAddress", ...issue.path] })),
        });
      }
      const page = readQuery(historyQuery, query);
      if (!page.ok) return page;
      const run: ReturnType<EndpointDefinition["read"]> = {
        ok: true,
        value: { content: address.data, run: (engine, caller) => engine.history(caller, address.data, page.value) },
      };
      return run;
    },
  },
  {
    name: "POST /transaction/send",
    method: "post",
    path: "/transaction/send",
    scopes: ["build"],
    summary: "Build an unsigned send-payment transaction",
    description:
      "The caller inspects, signs and broadcasts it over its own RPC endpoint before it expires; keys never leave the caller.",
    codes: ["INVALID_RECIPIENT", "INSUFFICIENT_BALANCE", "UNAVAILABLE"],
    body: buildSendRequest,
    answer: buildAnswer,
    examples: EXAMPLES.buildSend,
    read: byBody(buildSendRequest, (engine, caller, body) => engine.buildSend(caller, body)),
  },
  {
    name: "POST /transaction/receive",
    method: "post",
    path: "/transaction/receive",
    scopes: ["receive", "build"],
    summary: "Build an unsigned receive/verify transaction",
    description: "Verifies a buyer's proof and builds the transaction that collects it, to be signed by the seller.",
    codes: [
      "INVALID_RECIPIENT",
      "INVALID_PAYMENT_PROOF",
      "INSUFFICIENT_BALANCE",
      "PAYMENT_VERIFICATION_FAILED",
      "UNAVAILABLE",
    ],
    body: buildReceiveRequest,
    answer: buildAnswer,
    examples: EXAMPLES.buildReceive,
    read: byBody(buildReceiveRequest, (engine, caller, body) => engine.buildReceive(caller, body)),
  },
  {
    name: "GET /transaction",
    method: "get",
    path: "/transaction/{transactionId}",
    scopes: ["receive"],
    summary: "The bytes of a public transaction",
    description: "For sellers without a node of their own, who are shown the id of a transaction as a payment.",
    codes: ["NOT_FOUND", "PAYMENT_VERIFICATION_FAILED"],
    params: z.object({
      transactionId: transactionId.openapi({
        description: "An EVM transaction's hash, or the first signature of a Solana one",
        example: EXAMPLES.transaction.id,
      }),
    }),
    query: transactionQuery,
    answer: transactionAnswer,
    examples: EXAMPLES.transaction,
    read({ params, query }) {
      const id = transactionId.safeParse(params.transactionId);
      if (!id.success) return fault("NOT_FOUND", "there is no transaction with this id");
      const asked = readQuery(transactionQuery, query);
      if (!asked.ok) return asked;
      const request = { ...asked.value, transactionId: id.data };
      return { ok: true, value: { content: request, run: (engine, caller) => engine.transaction(caller, request) } };
    },
  },
  {
    name: "POST /verify",
    method: "post",
    path: "/verify",
    scopes: ["receive"],
    summary: "x402 facilitator: verify",
    description: "x402 v1 and v2. A payment that is refused is an answer of status 200 with isValid: false.",
    codes: ["PAYMENT_VERIFICATION_FAILED", "UNAVAILABLE"],
    body: facilitatorRequestBody,
    answer: verifyResponse,
    examples: EXAMPLES.verify,
    read: byBody(facilitatorRequestBody, (engine, caller, body) => engine.verify(caller, body)),
  },
  {
    name: "POST /settle",
    method: "post",
    path: "/settle",
    scopes: ["receive"],
    summary: "x402 facilitator: settle",
    description: "x402 v1 and v2. A payment that is refused is an answer of status 200 with success: false.",
    codes: ["PAYMENT_VERIFICATION_FAILED", "UNAVAILABLE"],
    body: facilitatorRequestBody,
    answer: settleResponse,
    examples: EXAMPLES.settle,
    read: byBody(facilitatorRequestBody, (engine, caller, body) => engine.settle(caller, body)),
  },
  ...WALLET_ENDPOINTS,
];
