// The gateway's own log, kept for a test to read.
import { createLogger } from "../../src/gateway/logger.js";

export interface CapturedLog {
  readonly logger: ReturnType<typeof createLogger>;
  /** Every line as it was written. */
  readonly lines: readonly string[];
  /** The lines as JSON whose message is this one. */
  of(message: string): readonly Record<string, unknown>[];
}

export function captureLog(): CapturedLog {
  const lines: string[] = [];
  const logger = createLogger({ level: "debug", destination: { write: (line: string) => void lines.push(line) } });
  return {
    logger,
    lines,
    of: (message) =>
      lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ msg }) => msg === message),
  };
}
