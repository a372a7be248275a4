// What forms do with keys: made, rotated and deleted for the account of the session, by the same rules as everywhere else. A key
// that may send is not made by a session.

import { createKey } from "../admin/create-key.js";
import type { ApiKey } from "../caller.js";
import { fault, type Outcome } from "../errors.js";
import type { GatewayParts } from "../parts.js";
import { createKeyRequest } from "../schemas/admin.js";

type Parts = Pick<GatewayParts, "settings" | "database">;
type Made = Outcome<{ readonly key: ApiKey; readonly secret: string }>;
export type Form = Readonly<Record<string, unknown>>;

const DAY = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;
const SENDS = fault("FORBIDDEN", "a key that may send widens what money can do: make it with tollgate keys create");

export async function makeKey(
  parts: Parts,
  account: string,
  { name, mode, plan, scopes, expires }: Form,
): Promise<Made> {
  const expiresAt =
    typeof expires === "string" && DAY.test(expires) ? Date.parse(`${expires}T23:59:59Z`) / 1000 : undefined;
  if (expiresAt === undefined && expires !== undefined && expires !== "") {
    return fault("INVALID_REQUEST", "the day on which it ends cannot be read");
  }
  const asked = { name, mode, plan, scopes: [scopes ?? []].flat(), ...(expiresAt !== undefined && { expiresAt }) };
  const parsed = createKeyRequest.safeParse(asked);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return fault("INVALID_REQUEST", `${issue?.path.join(".")}: ${issue?.message}`);
  }
  // Invariant: who only has a browser's session makes nothing that moves money out.
  if (parsed.data.scopes.includes("send")) return SENDS;
  return createKey(parts, account, parsed.data);
}

/** Another account's is as unknown as none. */
export async function findKey({ database }: Parts, account: string, id: string): Promise<ApiKey | undefined> {
  const key = await database.keys.get(id);
  return key?.account === account && key.revokedAt === null ? key : undefined;
}

/** A second key like the first: it may no more and lives no longer. */
export function rotateKey(
  parts: Parts,
  { account, name, mode, plan, scopes, rateLimit, expiresAt }: ApiKey,
): Promise<Made> {
  if (scopes.includes("send")) return Promise.resolve(SENDS);
  return createKey(parts, account, {
    ...{ name, mode, plan, scopes: [...scopes] },
    ...(rateLimit !== null && { rateLimit }),
    ...(expiresAt !== null && { expiresAt: Math.floor(expiresAt / 1000) }),
  });
}
