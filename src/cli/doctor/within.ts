// Waiting with an end: what a doctor asks may never answer.

/** The task's own outcome, or a failure once the time is over. The timer keeps the process alive: a promise alone does not. */
export async function within<Value>(
  task: Promise<Value>,
  ms: number,
  late = `no answer within ${ms} ms`,
): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(late)), ms);
  });
  try {
    return await Promise.race([task, over]);
  } finally {
    clearTimeout(timer);
  }
}
