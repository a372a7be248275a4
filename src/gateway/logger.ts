// The gateway's log: pino, one JSON line each. Nothing secret is ever handed to it; what is cut out here is a second line of
// defence, by the names that secrets have and by the form of an API key.
import { type DestinationStream, type Logger, pino } from "pino";

const SECRETS = [
  "authorization",
  "apiKey",
  "secret",
  "passphrase",
  "privateKey",
  "paymentProof",
  "paymentPayload",
  "payload",
  "idempotencyKey",
  "rpcUrl",
  "body",
];
const CENSORED = "(not shown)";
/** A whole key: its public part is 16 characters. */
const API_KEY = /(tg_(?:live|test)_[1-9A-HJ-NP-Za-km-z]{8})[1-9A-HJ-NP-Za-km-z]{8,}/g;

export interface LoggerOptions {
  readonly level?: "debug" | "info" | "warn" | "error" | "silent";
  /** Absent = standard output. */
  readonly destination?: DestinationStream;
}

/** @example const logger = createLogger({ level: "debug" }) */
export function createLogger({ level = "info", destination }: LoggerOptions = {}): Logger {
  const options = {
    level,
    base: { service: "tollgate" },
    redact: { paths: SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: CENSORED },
    hooks: { streamWrite: (line: string) => line.replace(API_KEY, `$1${CENSORED}`) },
  };
  return destination ? pino(options, destination) : pino(options);
}
