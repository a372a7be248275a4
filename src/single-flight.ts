// One question at a time for each key: whoever comes meanwhile waits for its answer. On Workers a question dies with the request that
// asked it, without a word, and so would all who wait for nothing else: each of them has a timer of his own.
import type { Clock } from "./clock.js";
import { inTime } from "./time-limit.js";

export interface SingleFlight<Answer> {
  /** Is a question under way that may still be answered? */
  has(key: string): boolean;
  /** The answer to the question that is under way, or to `ask`. Rejects as that question does. */
  once(key: string, ask: () => Promise<Answer>): Promise<Answer>;
}

interface Flight<Answer> {
  readonly answer: Promise<{ readonly value: Answer }>;
  /** Epoch milliseconds. */
  readonly endsAt: number;
}

/** @param ms a question counts for so long; those who have waited ask another one then */
export function createSingleFlight<Answer>(clock: Clock, ms: number): SingleFlight<Answer> {
  // In the order of their ends, because each may take the same time.
  const flights = new Map<string, Flight<Answer>>();
  const isOver = ({ endsAt }: Flight<Answer>) => endsAt <= clock.now();

  function begin(key: string, ask: () => Promise<Answer>): Flight<Answer> {
    for (const [old, flight] of flights) {
      if (!isOver(flight)) break;
      flights.delete(old);
    }
    const answer = ask().then((value) => ({ value }));
    const flight = { answer, endsAt: clock.now() + ms };
    flights.set(key, flight);
    const end = () => void (flights.get(key) === flight && flights.delete(key));
    answer.then(end, end);
    return flight;
  }

  function underWay(key: string): Flight<Answer> | undefined {
    const flight = flights.get(key);
    return flight && !isOver(flight) ? flight : undefined;
  }

  return {
    has: (key) => underWay(key) !== undefined,
    async once(key, ask) {
      for (let flight = underWay(key); flight; flight = underWay(key)) {
        const { answer, endsAt } = flight;
        const given = await inTime({ clock, ms: endsAt - clock.now(), late: () => undefined }, () => answer);
        if (given) return given.value;
      }
      return (await begin(key, ask).answer).value;
    },
  };
}
