// The options of `failover()`: at least two receivers, none of them a failover itself, and times that fit into what the guard
// waits for. Every problem in one PaywallConfigError.
import * as z from "zod/mini";
import { createProblems } from "../config-problems.js";
import { reportIssues, whole, wrong } from "../config-schema.js";
import type { Logger } from "../settings.js";
import { VERIFY_MS } from "../time-limit.js";
import type { Receiver } from "./receiver.js";

export const FAILOVER = "failover";

/** Less is no time in which a service far away could answer. */
const LEAST_VERIFY_MS = 500;

const has = (value: unknown, names: readonly string[]): boolean =>
  names.every((name) => typeof Reflect.get(Object(value), name) === "function");
const isReceiver = (value: unknown) => has(value, ["settleMs", "ready", "verify", "settle", "lookup", "close"]);
const isNested = (value: unknown) => Reflect.get(Object(value), "name") === FAILOVER;

const receivers = z
  .array(
    z
      .custom<Receiver>(isReceiver, wrong("expected what local({ … }), hosted({ … }) or facilitator({ … }) returns"))
      .check(
        z.refine((one) => !isNested(one), "a failover() cannot hold another one: write all receivers in one list"),
      ),
    "expected a list of receivers, in the order in which they are to be asked",
  )
  .check(
    z.minLength(2, "expected at least 2 receivers: one alone is given to receive as it is"),
    z.refine((list) => new Set(list).size === list.length, "a receiver stands twice in the list"),
  );

const schema = z.strictObject(
  {
    failures: z.optional(whole(1, 1000)),
    pauseMs: z.optional(whole(100, 3_600_000, "whole milliseconds")),
    verifyMs: z.optional(whole(LEAST_VERIFY_MS, VERIFY_MS, "whole milliseconds")),
    logger: z.optional(
      z.custom<Logger>(
        (value) => has(value, ["debug", "info", "warn", "error"]),
        wrong("expected an object with the functions debug, info, warn and error"),
      ),
    ),
  },
  wrong("expected an object of options"),
);

export type FailoverOptions = z.infer<typeof schema>;

export interface ReadFailover extends FailoverOptions {
  readonly receivers: readonly Receiver[];
  readonly verifyMs: number;
}

/** @throws PaywallConfigError with every problem. */
export function readFailoverOptions(list: unknown, input: unknown): ReadFailover {
  const problems = createProblems();
  const [all, options] = [receivers.safeParse(list), schema.safeParse(input)];
  const places = { known: () => Object.keys(schema.def.shape) };
  for (const [{ error }, given, pathOf] of [
    [all, list, ([at]: readonly PropertyKey[]) => (at === undefined ? FAILOVER : `${FAILOVER}[${String(at)}]`)],
    [
      options,
      input,
      ([name]: readonly PropertyKey[]) => (name === undefined ? FAILOVER : `${FAILOVER}.${String(name)}`),
    ],
  ] as const) {
    if (error) reportIssues(error.issues, given, { ...places, pathOf }, problems);
  }
  const count = all.data?.length ?? 2;
  const verifyMs = options.data?.verifyMs ?? Math.floor(VERIFY_MS / count);
  if (options.success && (verifyMs * count > VERIFY_MS || verifyMs < LEAST_VERIFY_MS)) {
    const message =
      `${count} receivers with ${verifyMs} ms each to verify do not fit in the ${VERIFY_MS} ms that a paywall waits: ` +
      `set verifyMs to ${Math.floor(VERIFY_MS / count)} or less, or name fewer receivers`;
    problems.add(`${FAILOVER}.verifyMs`, "contradiction", message);
  }
  problems.throwIfAny();
  if (!all.success || !options.success) throw new TypeError("options without problems could not be read");
  // The very objects that came: a receiver may be a class instance.
  return { ...options.data, receivers: all.data, verifyMs };
}
