// What is under way, whether somebody still waits for it or not: a shutdown lets it end.

export interface Work {
  /** Runs a task that counts until it has ended. */
  run<Value>(task: () => Promise<Value>): Promise<Value>;
  readonly running: number;
  /** Resolves with true as soon as nothing runs, or with false when the time is over. */
  idle(timeoutMs: number): Promise<boolean>;
}

export function createWork(): Work {
  let running = 0;
  const waiting = new Set<() => void>();
  return {
    get running() {
      return running;
    },
    async run(task) {
      running += 1;
      try {
        return await task();
      } finally {
        running -= 1;
        if (running === 0) for (const wake of waiting) wake();
      }
    },
    idle(timeoutMs) {
      if (running === 0) return Promise.resolve(true);
      return new Promise((resolve) => {
        const end = (idle: boolean) => {
          clearTimeout(timer);
          waiting.delete(wake);
          resolve(idle);
        };
        const wake = () => end(true);
        const timer = setTimeout(() => end(false), timeoutMs);
        waiting.add(wake);
      });
    },
  };
}
