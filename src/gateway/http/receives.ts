// At most 20 receives of an account at once: each may hold a node for as long as its timeout.
import { type Fault, fault } from "../errors.js";

export const MAX_RECEIVES = 20;

export interface Receives {
  /** Runs the task, or refuses where the account has as many under way, here or (as the database counts) anywhere. */
  run<Value>(account: string, task: () => Promise<Value>): Promise<Value | Fault>;
}

/** @param countElsewhere what the database knows of receives under way; absent where this process is the only one */
export function createReceives(countElsewhere?: (account: string) => Promise<number>): Receives {
  const running = new Map<string, number>();
  const refusal = () =>
    fault(
      "RATE_LIMIT",
      `at most ${MAX_RECEIVES} receives of an account run at once; this is another limit than the plan's`,
      {
        retryAfter: 1,
      },
    );
  return {
    async run(account, task) {
      const here = running.get(account) ?? 0;
      if (here >= MAX_RECEIVES) return refusal();
      // Taken before anything is awaited, so that two cannot take the last place.
      running.set(account, here + 1);
      try {
        if (countElsewhere && (await countElsewhere(account)) >= MAX_RECEIVES) return refusal();
        return await task();
      } finally {
        const left = (running.get(account) ?? 1) - 1;
        if (left > 0) running.set(account, left);
        else running.delete(account);
      }
    },
  };
}
