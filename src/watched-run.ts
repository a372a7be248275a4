// One run of the handler, watched from its beginning to the end of its answer: in time, held in bounds, decided once, and
// never followed by a second run while it still goes on. What is at stake (money, a use of a pass) is the caller's.
import type { Context } from "./context.js";
import { NO_DELIVERY } from "./delivery.js";
import type { ErrorCode } from "./errors.js";
import type { Answer, Capture, Head, Outcome } from "./request.js";

/** What a run may win or give back. None of it rejects. */
export interface Stake {
  /** The answer is good, and nothing of it has left. `whole`: it is no stream. `done`: it is held no longer. */
  take(head: Head, whole: Answer | undefined, done: () => void): Promise<Outcome>;
  /** The run is over without goods. Called once. */
  giveBack(why: string): Promise<void>;
  /** The handler's own failure goes out as it is. */
  uncharged(): Outcome;
  /** Our own answer in place of the handler's. */
  failure(code: ErrorCode): Answer;
}

export function watchRun({ clock, held: memory }: Context, handlerTimeoutMs: number, stake: Stake): Capture {
  const held = memory.open();
  let decided: Promise<Outcome> | undefined;
  let [running, ended] = [false, false];
  let reason = "handler_timeout";
  let cancel = () => {};

  const timedOut = new Promise<Outcome>((resolve) => {
    cancel = clock.after(handlerTimeoutMs, () => {
      if (decided) return;
      // Safe because what is at stake stays held until the handler has ended: no second run beside one that still goes on.
      running = true;
      held.close();
      decided = Promise.resolve(replacement(stake.failure("handler_timeout")));
      resolve(decided);
    });
  });
  const decide = (outcome: () => Promise<Outcome>) => {
    cancel();
    decided ??= outcome();
    return decided;
  };

  return {
    timedOut,
    hold: (bytes) => held.add(bytes),
    flushed: held.close,
    answered: (answer) =>
      decide(async () => {
        if (answer.status < 400) return stake.take(answer, answer, held.close);
        await stake.giveBack(`status ${answer.status}`);
        held.close();
        return stake.uncharged();
      }),
    streaming: (head) =>
      decide(async () => {
        if (head.status < 400) return stake.take(head, undefined, held.close);
        reason = `status ${head.status}`;
        // The failed answer may flow for long, and its handler runs on: as after a timeout, no second run beside it.
        if (ended) await stake.giveBack(reason);
        else running = true;
        return stake.uncharged();
      }),
    failed: () =>
      decide(async () => {
        held.close();
        const answer = stake.failure("internal_error");
        await stake.giveBack("thrown");
        return replacement(answer);
      }),
    ended() {
      ended = true;
      if (!running) return;
      running = false;
      void stake.giveBack(reason);
    },
  };
}

/** Our own answer takes the place of the handler's. */
export const replacement = (answer: Answer): Outcome => ({ kind: "replace", answer, delivery: NO_DELIVERY });
