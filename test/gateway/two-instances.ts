// Two processes of one gateway on one Postgres and one Redis, and a client that asks either of them as clients should: it turns
// to the other one where the connection breaks, and asks again where the answer says so.
import { join } from "node:path";
import { type Running, startNode } from "../support/process.js";
import { root } from "../support/sources.js";
import { type Answer, ask } from "./call.js";
import type { GatewayWorld } from "./world.js";

export type Side = 0 | 1;

/** One request of an account, and everything that it needs to be asked again. */
export interface Request {
  readonly path: "/payment/send" | "/payment/receive" | "/transaction/send";
  readonly body: object;
  readonly key: string;
  readonly idempotencyKey: string;
}

export interface Pair {
  /** Asks until there is an answer that stays. */
  post(side: Side, request: Request): Promise<Answer>;
  /** Asks once, and the other one where nobody listens. */
  get(side: Side, path: string, key: string): Promise<Answer>;
  /** Ends a process where it stands, and starts another one in its place. */
  replace(side: Side): Promise<void>;
  close(): Promise<void>;
}

/** A dead process's lease, a settlement that got lost, a wait for the chain: none takes longer. */
const LONGEST_MS = 80_000;
const PAUSE_MS = 200;

export async function startPair({ options }: Pick<GatewayWorld, "options">): Promise<Pair> {
  const start = () =>
    startNode([join(root, "test/gateway/dying-gateway.mjs")], { GATEWAY_OPTIONS: JSON.stringify(options) });
  const processes: [Running, Running] = await Promise.all([start(), start()]);

  /** Undefined where the connection broke: the request may have been done. */
  async function once(side: Side, method: string, path: string, request?: Request, key?: string) {
    const headers = request && { "Idempotency-Key": request.idempotencyKey };
    const url = processes[side].firstLine;
    return ask(url, method, path, request?.body, {
      key: request?.key ?? key ?? null,
      ...(headers && { headers }),
    }).catch(() => undefined);
  }

  return {
    async post(side, request) {
      const endAt = Date.now() + LONGEST_MS;
      for (let at = side; ; ) {
        const answer = await once(at, "POST", request.path, request);
        if (answer && isFinal(request, answer)) return answer;
        if (Date.now() > endAt) throw new Error(`${request.path} has no answer that stays: ${answer?.text}`);
        if (!answer) at = at === 0 ? 1 : 0;
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    },
    async get(side, path, key) {
      const answer =
        (await once(side, "GET", path, undefined, key)) ??
        (await once(side === 0 ? 1 : 0, "GET", path, undefined, key));
      if (!answer) throw new Error(`nobody answers ${path}`);
      return answer;
    },
    async replace(side) {
      await processes[side].kill();
      processes[side] = await start();
    },
    close: async () => void (await Promise.all(processes.map((one) => one.stop()))),
  };
}

function isFinal({ path }: Request, { status, body }: Answer): boolean {
  if (status === 409 || status === 429 || status >= 502) return false;
  return path !== "/payment/send" || status !== 200 || /^(?:confirmed|finalized)$/.test(String(body.status));
}

/** Runs everything, so many at once, in its order. */
export async function inParallel(count: number, jobs: readonly (() => Promise<void>)[]): Promise<void> {
  const waiting = [...jobs];
  const work = async () => {
    for (let job = waiting.shift(); job; job = waiting.shift()) await job();
  };
  await Promise.all(Array.from({ length: count }, work));
}
