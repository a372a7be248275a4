// Turns: how many settlements of one payer may be on their way at once. A payer whose money is gone by the time they land
// makes each of them fail at the settler's cost, so the rest wait and are judged again when their turn comes.

/** Gives the turn back. */
export type EndTurn = () => void;

export interface Turns {
  /**
   * Resolves with a turn, or with undefined when none has come by `until`. First come, first served.
   *
   * @param until epoch milliseconds; a turn counts for no longer than this, because on Workers some never end
   */
  take(key: string, until: number): Promise<EndTurn | undefined>;
}

interface Line {
  readonly taken: Set<{ readonly until: number }>;
  /** Each tries again; in the order in which they came. */
  readonly waiting: Set<() => void>;
}

/** @param most turns of one key at once */
export function createTurns(most: number, now: () => number): Turns {
  const lines = new Map<string, Line>();

  function begin(key: string, line: Line, until: number): EndTurn | undefined {
    for (const one of line.taken) if (one.until <= now()) line.taken.delete(one);
    if (line.taken.size >= most) return undefined;
    const turn = { until };
    line.taken.add(turn);
    return () => {
      if (!line.taken.delete(turn)) return;
      const [next] = line.waiting;
      if (next) next();
      else if (line.taken.size === 0) lines.delete(key);
    };
  }

  return {
    async take(key, until) {
      const line = lines.get(key) ?? { taken: new Set(), waiting: new Set() };
      lines.set(key, line);
      const turn = begin(key, line, until);
      if (turn) return turn;
      return new Promise((resolve) => {
        const settle = (own: EndTurn | undefined) => {
          clearTimeout(timer);
          line.waiting.delete(retry);
          resolve(own);
        };
        const retry = () => settle(begin(key, line, until));
        const timer = setTimeout(() => settle(undefined), Math.max(0, until - now()));
        line.waiting.add(retry);
      });
    },
  };
}
