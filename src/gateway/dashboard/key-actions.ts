// What forms do with keys: made, rotated and deleted for the account of the session, by the same rules as everywhere else. A key
// that may send is made for a signature only.
import { createKey } from "../admin/create-key.js";
import type { ApiKey, Scope } from "../caller.js";
import { fault, invalidField, type Outcome } from "../errors.js";
import type { GatewayParts } from "../parts.js";
import { type CreateKeyRequest, createKeyRequest } from "../schemas/admin.js";
import type { Form } from "./signed-form.js";

type Parts = Pick<GatewayParts, "settings" | "database">;
export type MadeKey = Outcome<{ readonly key: ApiKey; readonly secret: string }>;

const DAY = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;
const listOf = (field: unknown): readonly unknown[] => [field ?? []].flat();

export function readKeyForm({ name, mode, plan, scopes, wallets, expires }: Form): Outcome<CreateKeyRequest> {
  const expiresAt =
    typeof expires === "string" && DAY.test(expires) ? Date.parse(`${expires}T23:59:59Z`) / 1000 : undefined;
  if (expiresAt === undefined && expires !== undefined && expires !== "") {
    return invalidField("expires", "the day on which it ends cannot be read");
  }
  const asked = { name, mode, plan, scopes: listOf(scopes), wallets: listOf(wallets) };
  const parsed = createKeyRequest.safeParse({ ...asked, ...(expiresAt !== undefined && { expiresAt }) });
  if (parsed.success) return { ok: true, value: parsed.data };
  const [issue] = parsed.error.issues;
  return fault("INVALID_REQUEST", `${issue?.path.join(".")}: ${issue?.message}`);
}

export const maySend = ({ scopes }: { readonly scopes: readonly Scope[] }): boolean => scopes.includes("send");

/** By a session alone. */
export async function makeKey(parts: Parts, account: string, request: CreateKeyRequest): Promise<MadeKey> {
  // Invariant: who only has a browser's session makes nothing that moves money out.
  if (maySend(request)) return SENDS;
  return createKey(parts, account, request);
}

/** Another account's is as unknown as none. */
export async function findKey({ database }: Parts, account: string, id: string): Promise<ApiKey | undefined> {
  const key = await database.keys.get(id);
  return key?.account === account && key.revokedAt === null ? key : undefined;
}

/** What a second key like the first is asked for by: it may no more and lives no longer. */
export const likeKey = ({ name, mode, plan, scopes, wallets, rateLimit, expiresAt }: ApiKey): CreateKeyRequest => ({
  ...{ name, mode, plan, scopes: [...scopes], wallets: [...wallets] },
  ...(rateLimit !== null && { rateLimit }),
  ...(expiresAt !== null && { expiresAt: Math.floor(expiresAt / 1000) }),
});

const SENDS = fault(
  "FORBIDDEN",
  "A key that may send widens what money can do: make it with tollgate keys create, or add a wallet that signs for this account.",
);
