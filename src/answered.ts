// What a receiver's answer counts for, whoever wrote it. Invariant: what it throws, at once or later, and what is no answer of the
// contract decides nothing: `unknown` once a settlement has begun, unreachable before.
import type { Receiver } from "./receive/receiver.js";

const VERDICTS = ["valid", "invalid", "used", "unavailable"] as const;
const SETTLEMENTS = ["settled", "refused", "unavailable", "unknown"] as const;
const LOOKUPS = ["settled", "expired", "too_old", "unknown"] as const;

/** Rejects where there is none. */
async function answerOf<Answer extends { readonly outcome: string; readonly transaction?: string }>(
  outcomes: readonly Answer["outcome"][],
  ask: () => Promise<Answer>,
): Promise<Answer> {
  const answer: Answer | null | undefined = await ask();
  const isOne = answer && outcomes.includes(answer.outcome);
  // Money that is there is there by some transaction.
  if (isOne && (answer.outcome !== "settled" || typeof answer.transaction === "string")) return answer;
  throw new TypeError("no answer of the contract");
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
