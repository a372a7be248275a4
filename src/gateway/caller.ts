// Who calls: the account and key of one authenticated request, and what its idempotency gives the engine.
import type { Mode } from "./payment.js";

export const SCOPES = ["send", "receive", "read", "build", "events"] as const;
export type Scope = (typeof SCOPES)[number];

export interface ApiKey {
  readonly id: string;
  readonly account: string;
  /** The public part, by which it is looked up and named in logs: `tg_test_` and 8 characters. */
  readonly prefix: string;
  readonly name: string;
  readonly mode: Mode;
  readonly plan: string;
  /** Requests a minute, where the plan leaves it to the key (`enterprise`). */
  readonly rateLimit: number | null;
  readonly scopes: readonly Scope[];
  /** Hosted wallets that it may open, by id. */
  readonly wallets: readonly string[];
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
}

export interface Caller {
  readonly key: ApiKey;
  readonly requestId: string;
  /** Ends when the client has gone and nothing has begun that must be finished; money that moves is never stopped by it. */
  readonly signal: AbortSignal;
  readonly idempotency?: Idempotency;
}

/** One `Idempotency-Key` of an account, mode and endpoint. */
export interface Idempotency {
  /** Names the request in the database: a hash, never the key itself. */
  readonly id: string;
  /** Encrypts under the caller's key, which the database does not have. */
  seal(text: string): string;
  /** Undefined where it was sealed under another key or altered. */
  open(sealed: string): string | undefined;
}
