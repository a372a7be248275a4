// A capture whose outcomes are changed on their way to the adapter: headers are added, an answer is put into other words.
import type { Capture, Outcome } from "./request.js";

/** The same capture; each outcome passes `change`, which must not throw. */
export function mapOutcomes(capture: Capture, change: (outcome: Outcome) => Outcome): Capture {
  return {
    hold: capture.hold,
    ended: capture.ended,
    timedOut: capture.timedOut.then(change),
    answered: (answer) => capture.answered(answer).then(change),
    streaming: (head) => capture.streaming(head).then(change),
    flushed: capture.flushed,
    failed: () => capture.failed().then(change),
  };
}
