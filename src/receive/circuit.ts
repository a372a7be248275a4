// A circuit breaker for one verb of one receiver: it opens after some failures in a row, and lets a single trial through now and
// then. It decides who is asked first, never what an answer means.

export interface Circuit {
  /** May it be asked now? Of an open circuit one trial is let through each pause, and this call takes it. */
  admits(): boolean;
  /** Is it open with no trial due? Takes nothing. */
  isOpen(): boolean;
  /** Was its last answer none, or one that decides nothing, a pause ago at most? */
  isFailing(): boolean;
  /** Was its last answer one that decides nothing, a pause ago at most? */
  isOdd(): boolean;
  succeeded(): void;
  /** An answer that decides nothing: it is asked later than others for a pause, and neither left out for it nor cleared by it. */
  answered(): void;
  failed(): void;
}

export interface CircuitSettings {
  /** In a row, after which it opens. */
  readonly failures: number;
  /** Before a trial, and between two. */
  readonly pauseMs: number;
}

/** @param changed told once each time it opens, and once when it is closed again; a trial that fails is no change */
export function createCircuit(
  { failures, pauseMs }: CircuitSettings,
  now: () => number,
  changed: (open: boolean) => void = () => {},
): Circuit {
  let failed = 0;
  let pausedAt = Number.NEGATIVE_INFINITY;
  let oddAt = Number.NEGATIVE_INFINITY;
  /** A clock that is set back makes no pause longer than two: what seems to lie further ahead than a pause is over. */
  const isRecent = (at: number) => Math.abs(now() - at) < pauseMs;
  const isOpen = () => failed >= failures && isRecent(pausedAt);
  /** Closes it, with so many failures left to its account at most. */
  const close = (left: number) => {
    if (failed >= failures) changed(false);
    failed = Math.min(failed, left);
  };
  return {
    isOpen,
    isOdd: () => isRecent(oddAt),
    isFailing: () => isRecent(oddAt) || (failed > 0 && isRecent(pausedAt)),
    admits() {
      if (isOpen()) return false;
      // The next trial has a time of its own, so one that never ends (on Workers) keeps nobody out for ever.
      if (failed >= failures) pausedAt = now();
      return true;
    },
    succeeded() {
      close(0);
      oddAt = Number.NEGATIVE_INFINITY;
    },
    answered() {
      // Who sends odd proofs would otherwise keep in one that is silent on all others: the next silence opens it again.
      close(failures - 1);
      oddAt = now();
    },
    failed() {
      failed += 1;
      pausedAt = now();
      if (failed === failures) changed(true);
    },
  };
}
