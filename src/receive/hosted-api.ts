// The gateway's endpoints as the `hosted` receiver calls them, and the shapes of their answers. What an answer proves is
// decided in hosted-answers.ts.
import * as z from "zod/mini";
import { formatDecimal } from "../money.js";
import { findNetwork, tokenByAddress } from "../networks.js";
import type { BoundProof } from "../proof.js";
import { NATIVE, type Requirement, type Resource } from "../requirement.js";
import { readSupportedResponse, type SupportedResponse } from "../wire/facilitator.js";
import { encodeHeader } from "../wire/header.js";
import { toOfferV2 } from "../wire/v2.js";
import type { HostedOptions } from "./hosted-options.js";
import type { HttpClient, HttpReply } from "./http.js";
import type { Fetched } from "./supported.js";

const STATUSES = ["created", "submitted", "confirmed", "finalized", "failed", "expired"] as const;

/** The answer of `POST /payment/receive`, as far as it is read. */
export const receivedSchema = z.object({
  success: z.literal(true),
  verified: z.literal(true),
  status: z.nullable(z.enum(STATUSES)),
  payer: z.string(),
  signature: z.nullable(z.string()),
  network: z.string(),
  amountAtomic: z.string().check(z.regex(/^(?:0|[1-9][0-9]{0,77})$/)),
  balanceAtomic: z.optional(z.string().check(z.regex(/^(?:0|[1-9][0-9]{0,77})$/))),
});

/** The answer of `GET /payment/status`, as far as it is read. */
export const statusSchema = z.object({
  success: z.literal(true),
  type: z.enum(["sent", "received"]),
  status: z.enum(STATUSES),
  network: z.string(),
  recipient: z.string(),
  signature: z.nullable(z.string()),
  amountAtomic: z.string().check(z.regex(/^(?:0|[1-9][0-9]{0,77})$/)),
});

/** An error of the gateway, whatever its endpoint. */
export const errorSchema = z.object({
  success: z.literal(false),
  error: z.object({
    code: z.string(),
    message: z.string(),
    details: z.optional(z.array(z.object({ path: z.string(), message: z.string() }))),
  }),
});

const transactionSchema = z.object({ success: z.literal(true), transaction: z.string() });

export interface Receiving {
  readonly proof: BoundProof;
  readonly resource: Resource;
  /** How long the gateway may wait for the chain; the same for every call of a settlement, or it would be another request. */
  readonly waitMs: number;
  /** How long its answer is waited for. */
  readonly timeoutMs: number;
  /** Absent = verify only. */
  readonly settlementId?: string;
  readonly signal?: AbortSignal;
}

export type Collecting = Pick<Receiving, "proof" | "resource" | "timeoutMs">;

export type ProbePath = "/payment/receive" | "/transaction/receive";

export interface HostedApi {
  receive(receiving: Receiving): Promise<HttpReply>;
  /** Asks for the transaction that collects a proof. */
  collect(collecting: Collecting): Promise<HttpReply>;
  /** Shows it a proof that is none: the answer tells whether the gateway would take these terms of this key. */
  probe(
    path: ProbePath,
    requirement: Requirement,
    call: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<HttpReply>;
  /** By payment, transaction or proof id. */
  status(id: string, call: { readonly timeoutMs: number; readonly signal?: AbortSignal }): Promise<HttpReply>;
  /** The bytes behind the id of a public transaction, base64; or the answer that has none. */
  transaction(id: string, network: string, signal: AbortSignal): Promise<string | HttpReply>;
  supported(): Promise<Fetched<SupportedResponse>>;
}

/** One spelling of the gateway's base URL, without a slash at its end. */
export const baseOf = ({ baseUrl }: Pick<HostedOptions, "baseUrl">): string =>
  new URL(baseUrl).href.replace(/\/+$/, "");

export function createHostedApi(options: HostedOptions, http: HttpClient, timeoutMs: number): HostedApi {
  const { apiKey, tokens = [] } = options;
  const base = baseOf(options);
  const authorization = `Bearer ${apiKey}`;
  const get = (path: string, call: { readonly timeoutMs: number; readonly signal?: AbortSignal }) =>
    http.call({ method: "GET", url: `${base}${path}`, headers: { authorization }, ...call });

  const post = (
    path: string,
    body: object,
    call: { readonly timeoutMs: number; readonly signal?: AbortSignal },
    headers: Readonly<Record<string, string>> = {},
  ) =>
    http.call({
      method: "POST",
      url: `${base}${path}`,
      headers: { authorization, ...headers },
      body: JSON.stringify(body),
      ...call,
    });
  /** What is to come, in the gateway's words. */
  const termsOf = (requirement: Requirement) => ({
    walletAddress: requirement.payTo,
    expectedAmount: formatDecimal(requirement.amount, decimalsOf(requirement, tokens) ?? 0),
    network: requirement.network,
    ...(requirement.asset !== NATIVE && { asset: requirement.asset }),
  });
  const saleOf = ({ proof, resource }: Pick<Receiving, "proof" | "resource">) => ({
    ...termsOf(proof.requirement),
    paymentProof: encodeHeader(ownPayload(proof, resource)),
    ...(resource.url.length <= MAX_RESOURCE && { resource: resource.url }),
  });

  return {
    receive({ proof, resource, waitMs, timeoutMs: limitMs, settlementId, signal }) {
      const timeout = Math.min(Math.max(1, Math.floor(waitMs / 1000)), 300);
      const body = { ...saleOf({ proof, resource }), timeout, settle: settlementId !== undefined };
      const call = { timeoutMs: limitMs, ...(signal && { signal }) };
      return post(
        "/payment/receive",
        body,
        call,
        settlementId === undefined ? {} : { "idempotency-key": settlementId },
      );
    },
    collect: ({ proof, resource, timeoutMs: limitMs }) =>
      post("/transaction/receive", saleOf({ proof, resource }), { timeoutMs: limitMs }),
    probe(path, requirement, call) {
      const settle = path === "/payment/receive" ? { settle: false } : {};
      return post(path, { ...termsOf(requirement), paymentProof: NO_PROOF, ...settle }, call);
    },
    status: (id, call) => get(`/payment/status/${encodeURIComponent(id)}`, call),
    async transaction(id, network, signal) {
      const query = `?network=${encodeURIComponent(network)}`;
      const reply = await get(`/transaction/${encodeURIComponent(id)}${query}`, { timeoutMs, signal });
      if (reply.outcome === "failed") return reply;
      const parsed = transactionSchema.safeParse(reply.body);
      return reply.status === 200 && parsed.success ? parsed.data.transaction : reply;
    },
    async supported() {
      const reply = await get("/supported", { timeoutMs });
      if (reply.outcome === "failed") return { outcome: "failed", message: `/supported: ${reply.message}` };
      const list = reply.status === 200 ? readSupportedResponse(reply.body) : undefined;
      if (list) return { outcome: "list", list };
      const message = `/supported answered ${reply.status} without a list`;
      const { retryAfterMs } = reply;
      return { outcome: "failed", message, ...(retryAfterMs !== undefined && { retryAfterMs }) };
    },
  };
}

const MAX_RESOURCE = 2048;
/** Base64 of no payload. */
const NO_PROOF = "bm9uZQ==";

/** As the buyer sent it; what it says it accepted, and for what, is our own copy. */
function ownPayload({ payload, requirement }: BoundProof, { url }: Resource): object {
  if (payload.x402Version === 1) return payload;
  return { ...payload, accepted: toOfferV2(requirement), resource: { url } };
}

/** Undefined where neither the table nor the options know the token. */
export function decimalsOf(
  { network: id, asset }: Requirement,
  tokens: NonNullable<HostedOptions["tokens"]>,
): number | undefined {
  const network = findNetwork(id);
  if (!network) return undefined;
  if (asset === NATIVE) return network.native.decimals;
  const spell = network.family === "evm" ? (text: string) => text.toLowerCase() : (text: string) => text;
  const own = tokens.find((one) => findNetwork(one.network)?.id === id && spell(one.address) === spell(asset));
  return own?.decimals ?? tokenByAddress(network, asset)?.decimals;
}
