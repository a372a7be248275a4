// A link that signs in once: made by whoever has the database, good for ten minutes, for one gateway and one account. The token
// stands in the fragment, which browsers send to nobody.
import { createHash, randomBytes } from "node:crypto";
import type { GatewayDatabase } from "../database/database.js";

const GOOD_FOR_MS = 10 * 60_000;
const TOKEN = /^(acc_[1-9A-HJ-NP-Za-km-z]{22})\.([A-Za-z0-9_-]{43})$/;

type Parts = Pick<GatewayDatabase, "accounts" | "now">;

/**
 * @param url The public URL of the gateway that the link is for, by its settings.
 * @param at Where it listens, if the settings leave the port to the start.
 */
export async function createLink({ accounts, now }: Parts, account: string, url: string, at = url): Promise<string> {
  const token = `${account}.${randomBytes(32).toString("base64url")}`;
  await accounts.rememberNonce(hashOf(token), purposeOf(account, url), (await now()) + GOOD_FOR_MS);
  return `${at}/dashboard/login#${token}`;
}

/** The account that the token signs in, once; undefined where it is unknown, over, used, or another gateway's. */
export async function useLink({ accounts }: Parts, token: string, url: string): Promise<string | undefined> {
  const account = TOKEN.exec(token)?.[1];
  if (account === undefined) return undefined;
  // Invariant: of two that come with one link, one finds nothing.
  const used = await accounts.useNonce(hashOf(token), purposeOf(account, url));
  return used ? account : undefined;
}

const purposeOf = (account: string, url: string): string => `dashboard link ${account} ${url}`;
const hashOf = (token: string): string => createHash("sha256").update(token).digest("hex");
