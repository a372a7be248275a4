// Who calls: a bearer key, looked up by its public part and compared by its hash. A key that is unknown, wrong, revoked or
// over runs the same code and gets the same answer. Keys in URLs are never read. Source: gateway-spec, faults A41.
import { createHash, timingSafeEqual } from "node:crypto";
import type { ApiKey } from "../caller.js";
import type { Keys } from "../database/database.js";
import { fault } from "../errors.js";
import type { GatewayLogger } from "../parts.js";
import { reasonOf } from "../reason.js";
import { answerFault } from "./answer.js";
import type { Step } from "./context.js";
import type { FloodGate } from "./flood.js";

/** `tg_live_` or `tg_test_` and 32 bytes in base58. */
const BEARER = /^Bearer (tg_(?:live|test)_[1-9A-HJ-NP-Za-km-z]{32,44})$/i;
/** `tg_test_` and 8 characters: what is looked up, and what may be logged. */
const PREFIX_LENGTH = 16;
/** A key is marked as used at most once in this time. */
const USED_MS = 60_000;

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();

/** What is compared where no key has the prefix: no key's hash, in the form of one. */
const NOBODY = sha256("no key has this hash").toString("hex");
const HASH_LENGTH = 32;

/** Names a credential without holding it. */
export const digestOf = (header: string): string => sha256(header).toString("base64");

export interface AuthParts {
  readonly keys: Pick<Keys, "find" | "used">;
  readonly gate: FloodGate;
  readonly logger: GatewayLogger;
  readonly now: () => number;
}

export const NO_KEY = fault("UNAUTHORIZED", "there is no API key: the request has no Authorization header");
/** One text for a key that is unknown, wrong, revoked or over: which of these it is, is nobody's to learn. */
export const WRONG_KEY = fault(
  "UNAUTHORIZED",
  "the API key is invalid: it is mistyped, revoked, expired or of another gateway",
);

/** The key of an `Authorization` header; undefined = 401. */
export async function findKey(
  header: string | undefined,
  { keys, now }: Pick<AuthParts, "keys" | "now">,
): Promise<ApiKey | undefined> {
  const secret = header === undefined ? undefined : BEARER.exec(header)?.[1];
  // Safe because the form of a key is public: what is learned here is only that this is none.
  if (secret === undefined) return undefined;
  const found = await keys.find(secret.slice(0, PREFIX_LENGTH));
  // Decoded in either case: even this little time would tell.
  const expected = Buffer.from(found?.hash ?? NOBODY, "hex");
  const equal = expected.length === HASH_LENGTH && timingSafeEqual(sha256(secret), expected);
  const usable =
    found !== undefined &&
    found.key.revokedAt === null &&
    (found.key.expiresAt === null || found.key.expiresAt > now());
  return equal && usable ? found.key : undefined;
}

/** Lets a request with a good key pass, before a byte of its body is read. */
export function authenticate(parts: AuthParts): Step {
  return async (c, next) => {
    c.header("Cache-Control", "no-store");
    const header = c.req.header("authorization");
    const key = await findKey(header, parts);
    if (header !== undefined) parts.gate.judged(digestOf(header), key !== undefined);
    if (!key) return answerFault(c, header === undefined ? NO_KEY : WRONG_KEY);
    c.set("key", key);
    markUsed(key, parts);
    return next();
  };
}

/** Beside the request, which does not wait for it. */
export function markUsed(key: ApiKey, { keys, now, logger }: Omit<AuthParts, "gate">): void {
  if (key.lastUsedAt !== null && now() - key.lastUsedAt < USED_MS) return;
  keys.used(key.id).catch((error: unknown) => {
    logger.warn({ key: key.prefix, reason: reasonOf(error) }, "the last use of a key was not recorded");
  });
}
