// From an admitted request to its answer: body, idempotency, engine. What the engine has begun is finished and kept, also when
// its caller has gone or its time is over.
import type { Caller, Idempotency } from "../caller.js";
import type { Payments } from "../database/database.js";
import type { Engine } from "../engine.js";
import { type Fault, fault, invalidField, type Outcome } from "../errors.js";
import type { GatewayLogger } from "../parts.js";
import { reasonOf } from "../reason.js";
import { mayOpen, notOpened } from "../send/order.js";
import { answerFault, statusOf, toErrorAnswer } from "./answer.js";
import { readBody } from "./body.js";
import type { GatewayContext } from "./context.js";
import type { EndpointDefinition, ReadRequest } from "./endpoint.js";
import { type Answered, type IdempotentParts, isIdempotencyKey, type Repeatable, runOnce } from "./idempotent.js";
import type { Metrics } from "./metrics.js";
import type { Receives } from "./receives.js";
import { createIdempotency } from "./seal.js";
import type { Work } from "./work.js";

export interface RunParts extends IdempotentParts {
  readonly engine: Engine;
  readonly payments: Pick<Payments, "byIdempotency">;
  readonly logger: GatewayLogger;
  readonly metrics: Metrics;
  readonly receives: Receives;
  readonly work: Work;
}

/**
 * What the engine gets to say how far it came, once its time is over: it knows more than we do. Whoever calls has to listen for
 * longer (faults F12).
 */
export const GRACE_MS = 2_000;

/** The last step of an endpoint: its answer. */
export const runEndpoint =
  (endpoint: EndpointDefinition, parts: RunParts) =>
  async (c: GatewayContext): Promise<Response> => {
    const body = endpoint.method === "post" ? await readBody(c) : { ok: true as const, value: undefined };
    if (!body.ok) return answerFault(c, body);
    const read = endpoint.read({ params: c.req.param(), query: new URL(c.req.url).searchParams, body: body.value });
    if (!read.ok) return answerFault(c, read);
    const idempotency = idempotencyOf(c, endpoint);
    if (idempotency && !idempotency.ok) return answerFault(c, idempotency);
    const result = await runInTime(c, endpoint, read.value, idempotency?.value, parts);
    switch (result.outcome) {
      case "refused":
        return answerFault(c, result.fault);
      case "replayed":
        return c.body(result.text, statusCode(result.status), {
          "Content-Type": "application/json",
          "Idempotent-Replayed": "true",
        });
      case "answered":
        return result.answer.fault ? answerFault(c, result.answer.fault) : c.json(result.answer.body, 200);
    }
  };

/** Kept statuses are our own. */
const statusCode = (status: number): 200 | 400 => (status === 200 ? 200 : 400);

function idempotencyOf(c: GatewayContext, { name, method }: EndpointDefinition): Outcome<Idempotency> | undefined {
  const key = c.req.header("idempotency-key");
  const owner = c.get("key");
  if (key === undefined || method !== "post" || !owner) return undefined;
  if (!isIdempotencyKey(key)) {
    return invalidField("Idempotency-Key", "expected 1 to 255 visible ASCII characters");
  }
  return { ok: true, value: createIdempotency({ account: owner.account, mode: owner.mode, endpoint: name, key }) };
}

/** An answer, and the fault that it was made of. */
interface EngineAnswer extends Answered {
  readonly fault?: Fault;
}
type Result = Repeatable<EngineAnswer>;

async function runInTime(
  c: GatewayContext,
  endpoint: EndpointDefinition,
  request: ReadRequest,
  idempotency: Idempotency | undefined,
  parts: RunParts,
): Promise<Result> {
  const stop = new AbortController();
  const { timeoutMs } = request;
  const leave = () => stop.abort();
  // A caller that can ask again will: what it has begun goes on without it.
  if (!idempotency) c.req.raw.signal.addEventListener("abort", leave, { once: true });
  const timer = timeoutMs === undefined ? undefined : setTimeout(leave, timeoutMs);
  const task = parts.work.run(() => answer(c, endpoint, request, idempotency, stop.signal, parts));
  try {
    return await (timeoutMs === undefined ? task : within(task, timeoutMs + GRACE_MS, c, parts));
  } finally {
    clearTimeout(timer);
    c.req.raw.signal.removeEventListener("abort", leave);
  }
}

/** The task's result, or 504 when the time is over: the task itself goes on. */
function within(task: Promise<Result>, ms: number, c: GatewayContext, { logger }: RunParts): Promise<Result> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      const message =
        "the payment was not verified in time; ask for its status, or repeat with the same Idempotency-Key";
      resolve({ outcome: "refused", fault: fault("PAYMENT_VERIFICATION_FAILED", message, { status: 504 }) });
    }, ms);
    task
      .then(resolve, (error: unknown) => {
        // Said here too: nobody may be waiting any more.
        logger.error({ requestId: c.get("requestId"), reason: reasonOf(error) }, "a receive failed");
        reject(error);
      })
      .finally(() => clearTimeout(timer));
  });
}

async function answer(
  c: GatewayContext,
  endpoint: EndpointDefinition,
  request: ReadRequest,
  idempotency: Idempotency | undefined,
  signal: AbortSignal,
  parts: RunParts,
): Promise<Result> {
  const key = c.get("key");
  if (!key) throw new Error("an endpoint was reached without authentication");
  const requestId = c.get("requestId");
  const caller: Caller = { key, requestId, signal, ...(idempotency && { idempotency }) };
  const ask = () => request.run(parts.engine, caller);
  const run = async (): Promise<EngineAnswer> => {
    const counted = endpoint.name === "POST /payment/receive";
    const outcome = counted ? await parts.receives.run(key.account, ask) : await ask();
    parts.metrics.outcome(endpoint.name, outcome);
    return toAnswer(outcome, requestId);
  };
  if (!idempotency) return { outcome: "answered", answer: await run() };
  const result = await runOnce(parts, idempotency, request.content, run);
  if (result.outcome !== "replayed" || (await mayRead(parts, caller, idempotency))) return result;
  return { outcome: "refused", fault: notOpened() };
}

/**
 * Invariant: a kept answer holds the proof of a payment, so that a key reads it only where it may open the wallet that paid. The
 * engine, which would say so, is not asked.
 */
async function mayRead({ payments }: RunParts, { key }: Caller, { id }: Idempotency): Promise<boolean> {
  const made = await payments.byIdempotency(id);
  return !made || made.wallet === null || mayOpen(key, made.wallet);
}

/**
 * Final are successes that say so and refusals of what was asked. A refusal that time, money of the operator or a setting may
 * lift is evaluated anew.
 */
function toAnswer(outcome: Outcome<object>, requestId: string): EngineAnswer {
  if (outcome.ok) return { status: 200, body: outcome.value, final: outcome.pending !== true };
  const status = statusOf(outcome);
  return { status, body: toErrorAnswer(outcome, requestId), final: status === 400, fault: outcome };
}
