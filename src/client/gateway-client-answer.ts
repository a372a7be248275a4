// What an answer of the gateway means: a value, or a failure with what is known of the request. A pure function over what came;
// whoever called decides whether to ask again.
import * as z from "zod/mini";
import type { HttpAnswer, HttpReply } from "../receive/http.js";
import { type Endpoint, nameOf } from "./gateway-client-endpoints.js";
import type { GatewayErrorFacts } from "./gateway-client-error.js";
import type { GatewayErrorCode } from "./gateway-client-shapes.js";
import { toLine, toSellerWords } from "./seller-words.js";

export interface Failed {
  readonly ok: false;
  readonly facts: GatewayErrorFacts;
  /** Is it worth asking again? */
  readonly again: boolean;
  /** The gateway has judged this very request: whatever became of it before, this is how it ended. */
  readonly final: boolean;
}

export type Read<Answer> = { readonly ok: true; readonly value: Answer } | Failed;

const code = z.custom<GatewayErrorCode>((value) => typeof value === "string" && /^[A-Z][A-Z_]{0,63}$/.test(value));
const errorSchema = z.object({
  success: z.literal(false),
  error: z.object({
    code,
    message: z.string(),
    action: z.optional(z.string()),
    details: z.optional(z.array(z.object({ path: z.string(), message: z.string() }))),
    retryable: z.boolean(),
    paymentId: z.optional(z.string()),
  }),
  requestId: z.optional(z.string()),
});
type ErrorBody = z.infer<typeof errorSchema>;

/** @param secret the key that was sent: it stands in no text of a failure, whoever wrote that */
export function readAnswer<Answer>(endpoint: Endpoint<Answer>, reply: HttpReply, secret: string): Read<Answer> {
  const name = nameOf(endpoint);
  if (reply.outcome === "failed") {
    const code = reply.failure === "unreachable" ? "UNREACHABLE" : "BAD_ANSWER";
    const facts = { code, endpoint: name, message: reply.message, retryable: true, inDoubt: reply.sent } as const;
    return { ok: false, facts, again: true, final: false };
  }
  const { status, body } = reply;
  const isSuccess = status === 200 || status === 201;
  if (isSuccess && isAnswer(endpoint, body)) return { ok: true, value: body };
  const error = isSuccess ? undefined : errorSchema.safeParse(body).data;
  return error ? ofGateway(name, reply, error, secret) : ofStranger(name, reply);
}

function isAnswer<Answer>({ members, bare, shape }: Endpoint<Answer>, body: unknown): body is Answer {
  if (typeof body !== "object" || body === null) return false;
  if (!bare && Reflect.get(body, "success") !== true) return false;
  if (!members.every((name) => Object.hasOwn(body, name))) return false;
  return shape === undefined || shape.safeParse(body).success;
}

function ofGateway(endpoint: string, { status, retryAfterMs }: HttpAnswer, body: ErrorBody, secret: string): Failed {
  const { code, message, action, details, retryable, paymentId } = body.error;
  const { requestId } = body;
  // Invariant: the key is looked for in what is shown: cleaned first, or it comes together again; cut last, or a part of it stays.
  const words = (text: string) => toSellerWords(toLine(text).replaceAll(secret, "(key)"), LONGEST_WORDS) ?? "";
  // An Idempotency-Key that was used for something else will not do so later either; one that is in use now has a time to wait.
  const again = retryable && (status !== 409 || retryAfterMs !== undefined);
  const facts = {
    ...{ code, endpoint, status, message: words(message), retryable: again },
    ...(action !== undefined && { action: words(action) }),
    ...(details && { details: details.map((one) => ({ path: words(one.path), message: words(one.message) })) }),
    ...(paymentId !== undefined && { paymentId: words(paymentId) }),
    ...(requestId !== undefined && { requestId: words(requestId) }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    inDoubt: (status >= 500 && status !== 503) || (status === 409 && again),
  };
  return { ok: false, facts, again, final: status === 400 };
}

const LONGEST_WORDS = 1_000;

/** No answer of a gateway: a proxy's page, a redirect, another service, JSON that breaks off. Nothing of its text is repeated. */
function ofStranger(endpoint: string, { status, body, retryAfterMs }: HttpAnswer): Failed {
  const isRedirect = status >= 300 && status < 400;
  const what = isRedirect
    ? "it redirects, and the API key goes nowhere but to baseUrl"
    : `expected JSON of a gateway, got ${body === undefined ? "something else" : "other JSON"}`;
  const again = status >= 500 || status === 429;
  const facts: GatewayErrorFacts = {
    ...{ code: "BAD_ANSWER" as const, endpoint, status, message: `HTTP ${status}: ${what}`, retryable: again },
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    // Whatever refused it with a 3xx or 4xx stands before the gateway.
    inDoubt: status < 300 || status >= 500 || status === 408,
  };
  return { ok: false, facts, again, final: false };
}
