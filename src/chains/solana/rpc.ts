// JSON-RPC to one Solana cluster over several URLs. No answer of a URL is believed before its genesis hash is the cluster's;
// a URL that fails is passed over for the next one, and proves its cluster again. Every call has an end, and no failure
// rejects. Calls go out one by one: many providers take no batches. URLs carry API keys, so messages name hosts only.
import * as z from "zod/mini";
import { createHttpClient, type HttpClient, type HttpReply } from "../../receive/http.js";
import { decodeAddress } from "./base58.js";
import { printable } from "./print.js";

/** No answer that can be read and believed. Codes of `errors.ts`. */
export interface RpcFault {
  readonly ok: false;
  readonly kind: "fault";
  readonly code: "receiver_unreachable" | "receiver_bad_response" | "receiver_auth";
  readonly message: string;
  /** Another cluster answered, or no cluster at all: both genesis hashes, ours by its first 32 characters. */
  readonly genesis?: { readonly expected: string; readonly got: string };
}

/** What the node said against the call. */
export interface RpcRefusal {
  readonly ok: false;
  readonly kind: "refusal";
  /** The node's own. */
  readonly error: number;
  readonly message: string;
}

export type RpcReply = { readonly ok: true; readonly result: unknown } | RpcRefusal | RpcFault;

/** No usable answer, whoever is to blame for it: a code of `errors.ts`. */
export interface RpcFailure {
  readonly ok: false;
  readonly code: RpcFault["code"];
  readonly message: string;
}

export interface RpcOptions {
  /** Gives up at this time, epoch milliseconds, whatever the time-out. */
  readonly deadlineAt?: number;
  readonly signal?: AbortSignal;
  /** Largest answer that is read; absent = that of the HTTP client. */
  readonly maxBytes?: number;
}

export interface SolanaRpc {
  call(method: string, params: readonly unknown[], options?: RpcOptions): Promise<RpcReply>;
  /** The same cluster over each URL by itself: for start-up checks, and for answers that must come from one node. */
  readonly each: readonly SolanaRpc[];
  /** Of the URL, or of the first one. */
  readonly host: string;
  close(): void;
}

export interface SolanaRpcSettings {
  readonly urls: readonly string[];
  /** CAIP-2: `solana:` and the first 32 characters of the genesis hash. */
  readonly network: string;
  /** For one HTTP request, 3,000: a node that hangs must leave time for the next one. */
  readonly timeoutMs?: number;
}

const answerSchema = z.object({
  result: z.optional(z.unknown()),
  error: z.optional(
    z.nullable(z.looseObject({ code: z.number(), message: z.string(), data: z.optional(z.unknown()) })),
  ),
});

/** "Too many requests" inside an answer of status 200. */
const BUSY = new Set([429, -32005, -32029]);
/** Where the node says it in words alone. */
const BUSY_WORDS = /rate.?limit|too many requests/i;
/** The node has simulated a transaction that the cluster would refuse; why stands in `data.err`. */
const PREFLIGHT_FAILED = -32002;

/** Invariant: what a program says is not the node's word. A failed simulation is an answer, whatever it says. */
function isBusy({ code, message, data }: { code: number; message: string; data?: unknown }): boolean {
  const isSimulated = code === PREFLIGHT_FAILED && Boolean(Reflect.get(Object(data), "err"));
  return BUSY.has(code) || (BUSY_WORDS.test(message) && !isSimulated);
}

/** What another node may know or do: behind, not reached the slot, an inner error, no history. */
const ELSEWHERE = new Set([-32004, -32011, -32016, -32603]);

export function createSolanaRpc(settings: SolanaRpcSettings, http: HttpClient = createHttpClient()): SolanaRpc {
  const nodes = settings.urls.map((url) => createNode(url, settings, http));
  let preferred = 0;
  return {
    each: nodes,
    host: nodes[0]?.host ?? "",
    async call(method, params, options = {}) {
      let worst: RpcFault | RpcRefusal | undefined;
      for (let turn = 0; turn < nodes.length; turn++) {
        const at = (preferred + turn) % nodes.length;
        const reply = await nodes[at]!.call(method, params, options);
        if (reply.ok || (reply.kind === "refusal" && !ELSEWHERE.has(reply.error))) {
          preferred = at;
          return reply;
        }
        worst ??= reply;
        if (options.signal?.aborted) break;
      }
      return worst ?? fault("receiver_unreachable", "no RPC URL is configured");
    },
    close: () => http.close(),
  };
}

function createNode(url: string, { network, timeoutMs = 3_000 }: SolanaRpcSettings, http: HttpClient): SolanaRpc {
  const { host } = new URL(url);
  let proven = false;
  let id = 0;

  async function ask(method: string, params: readonly unknown[], options: RpcOptions): Promise<RpcReply> {
    const left = options.deadlineAt === undefined ? timeoutMs : Math.min(timeoutMs, options.deadlineAt - Date.now());
    if (left <= 0) return fault("receiver_unreachable", "no time is left to ask the chain");
    const reply = await http.call({
      method: "POST",
      url,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: ++id, method, params }),
      timeoutMs: left,
      ...(options.maxBytes !== undefined && { maxBytes: options.maxBytes }),
      ...(options.signal && { signal: options.signal }),
    });
    const answer = readAnswer(reply, host);
    // Behind the same name another node may answer next time.
    if (!answer.ok && answer.kind === "fault" && !options.signal?.aborted) proven = false;
    return answer;
  }

  const node: SolanaRpc = {
    host,
    get each() {
      return [node];
    },
    async call(method, params, options = {}) {
      if (!proven) {
        const wrong = checkGenesis(await ask("getGenesisHash", [], options), network, host);
        if (wrong) return wrong;
        proven = true;
      }
      return ask(method, params, options);
    },
    close: () => http.close(),
  };
  return node;
}

function readAnswer(reply: HttpReply, host: string): RpcReply {
  const bad = (code: RpcFault["code"], what: string) => fault(code, `${host}: ${what}`);
  if (reply.outcome === "failed") {
    return bad(reply.failure === "unreachable" ? "receiver_unreachable" : "receiver_bad_response", reply.message);
  }
  const { status } = reply;
  if (status === 401 || status === 403) return bad("receiver_auth", `HTTP status ${status}`);
  if (status === 429 || status >= 500) return bad("receiver_unreachable", `HTTP status ${status}`);
  if (status !== 200) return bad("receiver_bad_response", `HTTP status ${status}`);
  const parsed = answerSchema.safeParse(reply.body);
  if (!parsed.success) return bad("receiver_bad_response", "not a JSON-RPC answer");
  const { error, result } = parsed.data;
  if (error && isBusy(error)) return bad("receiver_unreachable", "the node is too busy or too far behind");
  if (error) return { ok: false, kind: "refusal", error: error.code, message: printable(error.message) };
  return result === undefined
    ? bad("receiver_bad_response", "an answer without result or error")
    : { ok: true, result };
}

function checkGenesis(reply: RpcReply, network: string, host: string): RpcFault | undefined {
  if (!reply.ok && reply.kind === "fault") return reply;
  const got = reply.ok && decodeAddress(reply.result) ? String(reply.result) : undefined;
  const expected = network.slice("solana:".length);
  if (got === undefined) {
    const isForeign = !reply.ok && reply.error === METHOD_NOT_FOUND;
    const hint = `is it a node of Solana? Set rpcUrl of ${network}`;
    return {
      ...fault("receiver_bad_response", `${host}: the node does not tell its genesis hash: ${hint}`),
      ...(isForeign && { genesis: { expected, got: NO_CLUSTER } }),
    };
  }
  if (`solana:${got.slice(0, 32)}` === network) return undefined;
  return {
    ...fault("receiver_bad_response", `${host}: expected a node of ${network}, got the genesis hash ${got}`),
    genesis: { expected, got },
  };
}

const METHOD_NOT_FOUND = -32601;
const NO_CLUSTER = "none (it knows no getGenesisHash: is it a node of an EVM chain?)";

/** A reply that is none, for whoever does not care why the node refused. */
export function failureOf(reply: RpcFault | RpcRefusal): RpcFailure {
  if (reply.kind === "fault") return { ok: false, code: reply.code, message: reply.message };
  const code = ELSEWHERE.has(reply.error) ? "receiver_unreachable" : "receiver_bad_response";
  return { ok: false, code, message: `the node refused the call: ${reply.message} (${reply.error})` };
}

const fault = (code: RpcFault["code"], message: string): RpcFault => ({ ok: false, kind: "fault", code, message });
