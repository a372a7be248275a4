// A JSON-RPC proxy that misbehaves on order: one fault for the next call of a method, or for the next n. What is not
// scripted passes. It counts every call as it arrives, those inside a batch too, so a test waits for calls and not for time.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import * as z from "zod";
import { type Fault, fault, type RpcAnswer, type RpcCall } from "./rpc-faults.js";

export { type Fault, fault };

export interface ScriptedRpc {
  readonly url: string;
  /** The next `times` calls of a method meet this fault, in the order of the scripts; `"*"` is every other method. */
  script(method: string, next: Fault, times?: number): void;
  /** Forgets what is scripted for a method, or everything. */
  clear(method?: string): void;
  /** Calls of a method that have arrived; with none named, of all. */
  count(method?: string): number;
  /** Calls of a method that the node behind has answered, whatever the caller got. */
  forwarded(method: string): number;
  /** Parameters of each call of a method, in order of arrival. */
  params(method: string): readonly (readonly unknown[])[];
  /** Resolves when n calls of a method have arrived since the start. */
  called(method: string, n?: number): Promise<void>;
  /** Resolves when the node has answered n calls of a method since the start. */
  reached(method: string, n?: number): Promise<void>;
  close(): Promise<void>;
}

const callSchema = z.object({ id: z.unknown(), method: z.string(), params: z.array(z.unknown()).default([]) });
const requestSchema = z.union([z.array(callSchema), callSchema]);
const answerSchema = z.looseObject({ result: z.unknown().optional(), error: z.unknown().optional() });

/**
 * Starts the proxy in front of a JSON-RPC URL.
 * @example
 * const proxy = await startScriptedRpc(sandbox.rpcUrl);
 * proxy.script("eth_sendRawTransaction", fault.resetAfter());
 * await proxy.called("eth_sendRawTransaction");
 */
export async function startScriptedRpc(target: string): Promise<ScriptedRpc> {
  const arrived = createTally();
  const answered = createTally();
  const scripts = new Map<string, { fault: Fault; left: number }[]>();

  const take = (method: string): Fault => {
    for (const name of [method, "*"]) {
      const entry = scripts.get(name)?.find(({ left }) => left > 0);
      if (entry === undefined) continue;
      entry.left -= 1;
      return entry.fault;
    }
    return fault.pass();
  };

  const ask = async (method: string, params: readonly unknown[]): Promise<RpcAnswer> => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const response = await fetch(target, { method: "POST", headers: { "content-type": "application/json" }, body });
    return answerSchema.parse(await response.json());
  };
  const forward = async (call: RpcCall, params = call.params): Promise<RpcAnswer> => {
    const answer = await ask(call.method, params);
    answered.add(call);
    return answer;
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const parsed = requestSchema.parse(JSON.parse(await bodyOf(request)));
    const calls = (Array.isArray(parsed) ? parsed : [parsed]).map((call) => ({ ...call, fault: take(call.method) }));
    for (const call of calls) arrived.add(call);
    const answers: object[] = [];
    for (const call of calls) {
      const outcome = await call.fault({ call, ask, forward: (params) => forward(call, params) });
      // A fault of the connection or of HTTP concerns the whole request: the rest of a batch is not looked at.
      if (outcome.kind === "hang") return;
      if (outcome.kind === "reset") {
        request.socket.resetAndDestroy();
        return;
      }
      if (outcome.kind === "http") {
        response.writeHead(outcome.status, outcome.headers).end(outcome.body);
        return;
      }
      answers.push({ ...outcome.answer, jsonrpc: "2.0", id: call.id });
    }
    const body = JSON.stringify(Array.isArray(parsed) ? answers : answers[0]);
    response.writeHead(200, { "content-type": "application/json" }).end(body);
  };

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      response.writeHead(500, { "content-type": "text/plain" }).end(`The proxy itself failed: ${String(error)}`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = z.object({ port: z.number() }).parse(server.address());

  return {
    url: `http://127.0.0.1:${port}`,
    script(method, next, times = 1) {
      scripts.set(method, [...(scripts.get(method) ?? []), { fault: next, left: times }]);
    },
    clear(method) {
      if (method === undefined) scripts.clear();
      else scripts.delete(method);
    },
    count: (method) => arrived.count(method),
    forwarded: (method) => answered.count(method),
    params: (method) => arrived.params(method),
    called: (method, n = 1) => arrived.reach(method, n),
    reached: (method, n = 1) => answered.reach(method, n),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Counts calls by method and wakes whoever waits for a number of them. */
function createTally() {
  const seen: RpcCall[] = [];
  let waiting: { method: string; n: number; resolve: () => void }[] = [];
  const of = (method: string | undefined) => seen.filter((call) => method === undefined || call.method === method);
  return {
    add(call: RpcCall): void {
      seen.push(call);
      const due = waiting.filter(({ method, n }) => of(method).length >= n);
      waiting = waiting.filter((entry) => !due.includes(entry));
      for (const { resolve } of due) resolve();
    },
    count: (method: string | undefined) => of(method).length,
    params: (method: string) => of(method).map((call) => call.params),
    reach(method: string, n: number): Promise<void> {
      if (of(method).length >= n) return Promise.resolve();
      return new Promise((resolve) => waiting.push({ method, n, resolve }));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
