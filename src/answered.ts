// What a receiver's answer counts for, whoever wrote it. Invariant: what it throws, at once or later, and what is no answer of the
// contract decides nothing: `unknown` once a settlement has begun, unreachable before.
import { ERRORS } from "./errors.js";
import type { Readiness, Receiver } from "./receive/receiver.js";

/** What an answer must hold, whatever else it says. */
type Holds = (answer: Said) => boolean;
interface Said {
  readonly outcome: string;
  readonly transaction?: unknown;
  readonly code?: unknown;
  readonly balance?: unknown;
}
const nothing: Holds = () => true;
/** Money that is there is there by some transaction. */
const aTransaction: Holds = ({ transaction }) => typeof transaction === "string";
/** A fault is told in the words of the table. */
const aCode: Holds = ({ code }) => typeof code === "string" && Object.hasOwn(ERRORS, code);
const noOddBalance: Holds = ({ balance }) => balance === undefined || typeof balance === "bigint";

const VERDICTS = { valid: noOddBalance, invalid: aCode, used: nothing, unavailable: aCode };
const SETTLEMENTS = { settled: aTransaction, refused: aCode, unavailable: nothing, unknown: nothing };
const LOOKUPS = { settled: aTransaction, expired: nothing, too_old: nothing, unknown: nothing };

const NO_ANSWER = "no answer of the contract";

/** Rejects where there is none. */
async function answerOf<Answer extends Said>(
  outcomes: Readonly<Record<Answer["outcome"], Holds>>,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  const answer: Answer | null | undefined = await ask();
  if (answer && Object.hasOwn(outcomes, answer.outcome) && outcomes[answer.outcome as Answer["outcome"]](answer))
    return answer;
  throw new TypeError(NO_ANSWER);
}

/** Never rejects. */
export const verifyBy = (
  receiver: Pick<Receiver, "verify">,
  ...asked: Parameters<Receiver["verify"]>
): ReturnType<Receiver["verify"]> =>
  answerOf(VERDICTS, () => receiver.verify(...asked)).catch((error: unknown) => ({
    outcome: "unavailable",
    code: "receiver_unreachable",
    message: `the receiver threw: ${String(error)}`,
  }));

/** Never rejects. */
export const settleBy = (
  receiver: Pick<Receiver, "settle">,
  ...asked: Parameters<Receiver["settle"]>
): ReturnType<Receiver["settle"]> =>
  answerOf(SETTLEMENTS, () => receiver.settle(...asked)).catch((error: unknown) => ({
    outcome: "unknown",
    unanswered: true,
    message: `the receiver threw: ${String(error)}`,
  }));

/** Rejects where there is no answer: who asks knows nothing then, and says so in the log. */
export const lookupBy = (
  receiver: Pick<Receiver, "lookup">,
  ...asked: Parameters<Receiver["lookup"]>
): ReturnType<Receiver["lookup"]> => answerOf(LOOKUPS, () => receiver.lookup(...asked));

/** Rejects where the receiver does. What is no answer tells nothing of it, so it is unreachable. */
export async function readyBy(
  receiver: Pick<Receiver, "ready">,
  ...asked: Parameters<Receiver["ready"]>
): Promise<Readiness> {
  const answer: Readiness | null | undefined = await receiver.ready(...asked);
  if (answer?.state === "ready" || answer?.state === "unreachable") return answer;
  if (answer?.state === "misconfigured" && areTold(answer.problems)) return answer;
  return { state: "unreachable", message: NO_ANSWER };
}

const areTold = (problems: unknown): boolean =>
  Array.isArray(problems) && problems.every((one) => typeof one?.check === "string");
