// One Idempotency-Key, one run: its repeats get the same answer, whichever process and whether the first caller waited for it
// or not. An answer that may be another one later is not kept, so its repeat evaluates anew. Source: design §7.
import type { Idempotency } from "../caller.js";
import type { Requests } from "../database/database.js";
import { type Fault, fault } from "../errors.js";
import type { GatewayLogger } from "../parts.js";
import { reasonOf } from "../reason.js";
import { contentHash } from "./seal.js";

/** A run that has not renewed its lease by then has died with its process. */
const LEASE_MS = 15_000;
const RENEW_MS = 5_000;
const RETRY_AFTER_S = 2;

const KEY = /^[\x21-\x7e]{1,255}$/;

/** Visible ASCII, as the header says it; two headers come joined by a space, which is none. */
export const isIdempotencyKey = (text: string): boolean => KEY.test(text);

/** An answer before it is one of HTTP. */
export interface Answered {
  readonly status: number;
  readonly body: object;
  /** Will it be the same whenever the same request comes again? */
  readonly final: boolean;
}

export type Repeatable<Own extends Answered> =
  | { readonly outcome: "answered"; readonly answer: Own }
  /** What was answered before, as JSON text. */
  | { readonly outcome: "replayed"; readonly status: number; readonly text: string }
  | { readonly outcome: "refused"; readonly fault: Fault };

export interface IdempotentParts {
  readonly requests: Requests;
  readonly logger: GatewayLogger;
}

/** @param content what was asked, as validated */
export async function runOnce<Own extends Answered>(
  { requests, logger }: IdempotentParts,
  idempotency: Idempotency,
  content: unknown,
  run: () => Promise<Own>,
): Promise<Repeatable<Own>> {
  const { id } = idempotency;
  const begun = await requests.begin(id, contentHash(content), LEASE_MS);
  switch (begun.outcome) {
    case "new":
      return { outcome: "answered", answer: await runUnderLease(requests, logger, idempotency, run) };
    case "done": {
      const text = idempotency.open(begun.sealed);
      if (text === undefined) throw new Error("a kept answer could not be opened: it was altered");
      return { outcome: "replayed", status: begun.status, text };
    }
    case "running":
      return conflict("a request with this Idempotency-Key is still running");
    case "other_content":
      return conflict("this Idempotency-Key was used for another request: other content needs another key", false);
  }
}

const conflict = (message: string, passes = true): Repeatable<never> => ({
  outcome: "refused",
  fault: fault("CONFLICT", message, passes ? { retryAfter: RETRY_AFTER_S } : {}),
});

async function runUnderLease<Own extends Answered>(
  requests: Requests,
  logger: GatewayLogger,
  { id, seal }: Idempotency,
  run: () => Promise<Own>,
): Promise<Own> {
  const renewal = setInterval(() => {
    // A renewal that is lost costs nothing: whoever takes over finds the record that this run has made.
    requests.renew(id, LEASE_MS).catch(noted(logger, "the lease of an idempotent request was not renewed"));
  }, RENEW_MS);
  try {
    const answer = await run();
    const kept = answer.final
      ? requests.finish(id, { status: answer.status, sealed: seal(JSON.stringify(answer.body)) })
      : requests.release(id);
    // Safe because the answer is true either way, and a repeat finds what was done by the record in the database.
    await kept.catch(noted(logger, "the answer of an idempotent request was not kept"));
    return answer;
  } catch (error) {
    await requests.release(id).catch(noted(logger, "an idempotent request was not released"));
    throw error;
  } finally {
    clearInterval(renewal);
  }
}

const noted =
  (logger: GatewayLogger, message: string) =>
  (error: unknown): void =>
    logger.error({ reason: reasonOf(error) }, message);
