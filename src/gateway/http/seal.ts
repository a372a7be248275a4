// Idempotent requests by names and seals that the database cannot undo: the caller's Idempotency-Key names the request by a
// hash, and encrypts its answer. Who reads the database alone reads neither; keys that can be guessed protect as little as
// guessable passwords do, so callers use random ones. AES-256-GCM under HKDF-SHA256.
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";
import type { Idempotency } from "../caller.js";
import type { Mode } from "../payment.js";
import type { Endpoint } from "../settings.js";

const IV_BYTES = 12;
const TAG_BYTES = 16;

export interface IdempotentRequest {
  readonly account: string;
  readonly mode: Mode;
  readonly endpoint: Endpoint;
  /** As the caller sent it: kept nowhere. */
  readonly key: string;
}

/** Name and seals of one idempotent request. The same key of another account, mode or endpoint is another request. */
export function createIdempotency({ account, mode, endpoint, key }: IdempotentRequest): Idempotency {
  const id = createHash("sha256").update([account, mode, endpoint, key].join("|")).digest("hex");
  const secret = Buffer.from(hkdfSync("sha256", key, id, "tollgate idempotent answer", 32));
  return {
    id,
    seal(text) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv("aes-256-gcm", secret, iv).setAAD(Buffer.from(id));
      const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), body]).toString("base64url");
    },
    open(sealed) {
      const bytes = Buffer.from(sealed, "base64url");
      const [iv, tag] = [bytes.subarray(0, IV_BYTES), bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES)];
      if (tag.length !== TAG_BYTES) return undefined;
      const decipher = createDecipheriv("aes-256-gcm", secret, iv).setAAD(Buffer.from(id)).setAuthTag(tag);
      try {
        return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString();
      } catch {
        // Authentication failed, which is all that can: altered, or sealed under another key.
        return undefined;
      }
    },
  };
}

/** SHA-256 of a value's JSON with sorted keys: equal for equal content, in whatever order it was written. */
export const contentHash = (value: unknown): string =>
  createHash("sha256")
    .update(JSON.stringify(value, (_key, member: unknown) => sorted(member)))
    .digest("hex");

function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
