// What anything thrown says, whatever it is: a module of somebody else may throw what it likes.

/** The words of an error. Never throws, whatever was thrown. */
export function wordsOf(error: unknown): string {
  try {
    // Several failures of one connection are one error without words of its own.
    if (error instanceof AggregateError && error.errors.length > 0) return wordsOf(error.errors[0]);
    if (!(error instanceof Error)) return String(error);
    // ioredis says only how often it has tried.
    if (/max retries per request/.test(error.message)) return "it takes no connection";
    return error.message || ("code" in error ? String(error.code) : error.name);
  } catch {
    return "an error without words";
  }
}
