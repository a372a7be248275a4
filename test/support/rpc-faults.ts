// The faults a scripted RPC can be told to have. Each decides what happens to one call: whether the node behind sees it,
// and what the caller gets.

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** A JSON-RPC answer without its frame. */
export type RpcAnswer = { readonly result?: unknown; readonly error?: unknown };

/** `hang` holds the connection open, `reset` breaks it; both and `http` end the whole request, a batch too. */
export type Outcome =
  | { readonly kind: "answer"; readonly answer: RpcAnswer }
  | { readonly kind: "http"; readonly status: number; readonly headers: Record<string, string>; readonly body: string }
  | { readonly kind: "hang" }
  | { readonly kind: "reset" };

export interface FaultContext {
  readonly call: RpcCall;
  /** Passes the call on to the node, with other parameters where some are given; counted. */
  forward(params?: readonly unknown[]): Promise<RpcAnswer>;
  /** A question of the fault's own to the node; not counted. */
  ask(method: string, params: readonly unknown[]): Promise<RpcAnswer>;
}

export type Fault = (context: FaultContext) => Promise<Outcome>;

const answer = (value: RpcAnswer): Outcome => ({ kind: "answer", answer: value });
const http = (status: number, type: string, body: string, headers: Record<string, string> = {}): Outcome => ({
  kind: "http",
  status,
  headers: { "content-type": type, ...headers },
  body,
});

export const fault = {
  pass: (): Fault => async (context) => answer(await context.forward()),
  /** Never answers; the node does not see the call. */
  hang: (): Fault => async () => ({ kind: "hang" }),
  /** Never answers, though the node has done what was asked. */
  hangAfter: (): Fault => async (context) => {
    await context.forward();
    return { kind: "hang" };
  },
  /** Breaks the connection before the node sees the call. */
  resetBefore: (): Fault => async () => ({ kind: "reset" }),
  /** The node has done what was asked; its answer is lost with the connection. */
  resetAfter: (): Fault => async (context) => {
    await context.forward();
    return { kind: "reset" };
  },
  /** Passes the call on after so many milliseconds, or when the promise resolves. */
  delay:
    (until: number | Promise<unknown>): Fault =>
    async (context) => {
      await (typeof until === "number" ? new Promise((resolve) => setTimeout(resolve, until)) : until);
      return answer(await context.forward());
    },
  /** The node is asked, and another result given. */
  lie: (result: unknown): Fault => fault.twist(() => result),
  /** The node is asked, and its result changed. */
  twist:
    (change: (truth: unknown) => unknown): Fault =>
    async (context) => {
      const truth = await context.forward();
      return answer({ result: change(truth.result) });
    },
  /** A JSON-RPC error; the node does not see the call unless `forward` is set. */
  error:
    (code: number, message: string, options: { data?: unknown; forward?: boolean } = {}): Fault =>
    async (context) => {
      if (options.forward) await context.forward();
      return answer({ error: { code, message, ...(options.data !== undefined && { data: options.data }) } });
    },
  /** A page where JSON was expected, as gateways and captive portals send it. */
  html:
    (status = 200): Fault =>
    async () =>
      http(status, "text/html", "<!doctype html><title>Bad gateway</title>"),
  /** Any status with any JSON; the node does not see the call unless `forward` is set. */
  status:
    (status: number, body: unknown = {}, options: { forward?: boolean } = {}): Fault =>
    async (context) => {
      if (options.forward) await context.forward();
      return http(status, "application/json", JSON.stringify(body));
    },
  /** The rate limit of a provider. */
  tooMany:
    (retryAfterSeconds = 1): Fault =>
    async () =>
      http(429, "application/json", JSON.stringify({ error: { code: -32005, message: "rate limit exceeded" } }), {
        "retry-after": `${retryAfterSeconds}`,
      }),
  wrongChain: (chainId: number): Fault => fault.lie(`0x${chainId.toString(16)}`),
  /** A node that lags: it answers as the chain stood so many blocks ago. */
  stale:
    (blocks: number): Fault =>
    async (context) => {
      const head = BigInt(text((await context.ask("eth_blockNumber", [])).result));
      const seen = head > BigInt(blocks) ? head - BigInt(blocks) : 0n;
      const truth = await context.forward(context.call.params.map((param) => backdate(param, hex(seen))));
      if (context.call.method === "eth_blockNumber") return answer({ result: hex(seen) });
      const block = blockOf(truth.result);
      return answer(block !== undefined && block > seen ? { result: null } : truth);
    },
};

const tags = new Set(["latest", "pending", "safe", "finalized"]);
const hex = (value: bigint): string => `0x${value.toString(16)}`;
const text = (value: unknown): string => (typeof value === "string" ? value : "0x0");

/** A block tag becomes the older block, in a parameter or at the end of a log filter. */
function backdate(param: unknown, block: string): unknown {
  if (typeof param === "string") return tags.has(param) ? block : param;
  if (typeof param !== "object" || param === null || !("fromBlock" in param || "toBlock" in param)) return param;
  const until =
    "toBlock" in param && typeof param.toBlock === "string" && !tags.has(param.toBlock) ? param.toBlock : block;
  return { ...param, toBlock: BigInt(until) < BigInt(block) ? until : block };
}

/** Block of a receipt or transaction. */
function blockOf(result: unknown): bigint | undefined {
  if (typeof result !== "object" || result === null || !("blockNumber" in result)) return undefined;
  return typeof result.blockNumber === "string" ? BigInt(result.blockNumber) : undefined;
}
