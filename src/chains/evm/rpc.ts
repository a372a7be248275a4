// JSON-RPC to one chain over several URLs: every batch is one HTTP request, answers keep the order of the calls, and no
// failure rejects. Reads and raw transactions (the same bytes again are harmless) pass over to the next URL on a failure.
// URLs carry API keys, so messages name hosts only.
import * as z from "zod/mini";
import { createHttpClient, type HttpClient, type HttpReply } from "../../receive/http.js";
import { withoutBytes } from "./printable.js";
import { isRevert } from "./revert.js";

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** What the node said to one call; its message without bytes that it repeats. */
export type RpcAnswer =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly code: number; readonly message: string; readonly data?: unknown };

/** The node gave no answers that can be read. Codes of `errors.ts`. */
export interface RpcFault {
  readonly ok: false;
  readonly code: "receiver_unreachable" | "receiver_bad_response" | "receiver_auth";
  readonly message: string;
  /** A wrong chain id, or a node that has none: both values. */
  readonly chainId?: { readonly expected: number; readonly got: string };
}

export type RpcReply =
  | {
      readonly ok: true;
      readonly answers: readonly RpcAnswer[];
      /** Another URL was asked first and failed: it may have acted on the request all the same. */
      readonly afterFault?: boolean;
    }
  | RpcFault;

export interface RpcOptions {
  /** Gives up at this time, epoch milliseconds, whatever the time-out. */
  readonly deadlineAt?: number;
  readonly signal?: AbortSignal;
  /** Demand that the answering node is on this chain, in the same request. Default true. */
  readonly checkChain?: boolean;
}

export interface Rpc {
  /** One HTTP request as long as the first URL answers. Never rejects. */
  batch(calls: readonly RpcCall[], options?: RpcOptions): Promise<RpcReply>;
  /** HTTP requests made so far, for tests and figures. */
  readonly requests: number;
  /** The same chain over each URL by itself, for start-up checks. */
  readonly each: readonly Rpc[];
  close(): void;
}

export interface RpcSettings {
  readonly urls: readonly string[];
  readonly chainId: number;
  /** For one HTTP request, 3,000: a node that hangs must leave time for the next one. */
  readonly timeoutMs?: number;
}

const answerSchema = z.object({
  id: z.number(),
  result: z.optional(z.unknown()),
  error: z.optional(
    z.nullable(z.looseObject({ code: z.number(), message: z.string(), data: z.optional(z.unknown()) })),
  ),
});

/** Codes with which nodes say "too many requests" inside an answer of status 200. */
const BUSY = new Set([-32005, 429, -32029, -32007]);
/** Where they say it in words alone. */
const BUSY_WORDS = /rate.?limit|request limit|too many requests/i;

/** Invariant: the words of a contract are not the node's. A revert is an answer, whatever it says. */
const isBusy = (error: { code: number; message: string; data?: unknown }): boolean =>
  BUSY.has(error.code) || (BUSY_WORDS.test(error.message) && !isRevert(error));

export function createRpc(settings: RpcSettings, http: HttpClient = createHttpClient()): Rpc {
  const { urls, chainId, timeoutMs = 3_000 } = settings;
  let preferred = 0;
  let requests = 0;

  async function ask(url: string, calls: readonly RpcCall[], options: RpcOptions): Promise<RpcReply> {
    const checked = options.checkChain ?? true;
    const all = checked ? [{ method: "eth_chainId", params: [] }, ...calls] : calls;
    const left = options.deadlineAt === undefined ? timeoutMs : Math.min(timeoutMs, options.deadlineAt - Date.now());
    if (left <= 0) return { ok: false, code: "receiver_unreachable", message: "no time is left to ask the chain" };
    requests++;
    const reply = await http.call({
      method: "POST",
      url,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(all.map((call, id) => ({ jsonrpc: "2.0", id, ...call }))),
      timeoutMs: left,
      ...(options.signal && { signal: options.signal }),
    });
    const answers = readAnswers(reply, all.length, new URL(url).host);
    if (!answers.ok || !checked) return answers;
    const [first, ...rest] = answers.answers;
    return checkChainId(first, chainId, new URL(url).host) ?? { ok: true, answers: rest };
  }

  return {
    get requests() {
      return requests;
    },
    get each() {
      return urls.map((url) => createRpc({ ...settings, urls: [url] }, http));
    },
    async batch(calls, options = {}) {
      let fault: RpcFault | undefined;
      for (let turn = 0; turn < urls.length; turn++) {
        const at = (preferred + turn) % urls.length;
        const reply = await ask(urls[at]!, calls, options);
        if (reply.ok) {
          preferred = at;
          return fault ? { ...reply, afterFault: true } : reply;
        }
        fault ??= reply;
        if (options.signal?.aborted) break;
      }
      return fault ?? { ok: false, code: "receiver_unreachable", message: "no RPC URL is configured" };
    },
    close: () => http.close(),
  };
}

function readAnswers(reply: HttpReply, count: number, host: string): RpcReply {
  const fault = (code: RpcFault["code"], message: string): RpcFault => ({
    ok: false,
    code,
    message: `${host}: ${message}`,
  });
  if (reply.outcome === "failed") {
    const code = reply.failure === "unreachable" ? "receiver_unreachable" : "receiver_bad_response";
    return fault(code, reply.message);
  }
  if (reply.status === 401 || reply.status === 403) return fault("receiver_auth", `HTTP status ${reply.status}`);
  if (reply.status === 429 || reply.status >= 500) return fault("receiver_unreachable", `HTTP status ${reply.status}`);
  if (reply.status !== 200) return fault("receiver_bad_response", `HTTP status ${reply.status}`);
  const parsed = z.array(answerSchema).safeParse(reply.body);
  if (!parsed.success) return fault("receiver_bad_response", "not a JSON-RPC batch answer");
  const byId = new Map(parsed.data.map((answer) => [answer.id, answer]));
  const answers: RpcAnswer[] = [];
  for (let id = 0; id < count; id++) {
    const answer = byId.get(id);
    if (!answer) return fault("receiver_bad_response", "an answer of the batch is missing");
    const { error } = answer;
    if (error && isBusy(error)) return fault("receiver_unreachable", "too many requests");
    if (error) {
      answers.push({ ok: false, code: error.code, message: withoutBytes(error.message), data: error.data });
      continue;
    }
    if (answer.result === undefined) return fault("receiver_bad_response", "an answer without result or error");
    answers.push({ ok: true, result: answer.result });
  }
  return { ok: true, answers };
}

const METHOD_NOT_FOUND = -32601;
const NO_CHAIN = "none (it knows no eth_chainId: is it a node of Solana?)";

function checkChainId(answer: RpcAnswer | undefined, expected: number, host: string): RpcFault | undefined {
  const got = answer?.ok && typeof answer.result === "string" ? answer.result : undefined;
  if (got === undefined) {
    if (answer?.ok === false && answer.code === METHOD_NOT_FOUND) {
      const message = `${host}: the node knows no eth_chainId`;
      return { ok: false, code: "receiver_bad_response", message, chainId: { expected, got: NO_CHAIN } };
    }
    const hint = `is it a node of an EVM chain? Set rpcUrl of eip155:${expected}`;
    const message = `${host}: the node does not tell its chain id: ${hint}`;
    return { ok: false, code: "receiver_bad_response", message };
  }
  if (/^0x[0-9a-f]{1,16}$/i.test(got) && BigInt(got) === BigInt(expected)) return undefined;
  const shown = /^0x[0-9a-f]{1,16}$/i.test(got) ? BigInt(got).toString() : "something else";
  const message = `${host}: expected chain id ${expected}, got ${shown}`;
  return { ok: false, code: "receiver_bad_response", message, chainId: { expected, got: shown } };
}
