// Accounts, keys and wallets as operators see them: instants in Unix seconds, amounts as text, and never a secret, a hash or a
// sealed key.
import type { ApiKey } from "../caller.js";
import type { Account, HostedWallet } from "../database/database.js";
import type { AccountRecord, KeyRecord, WalletRecord } from "../schemas/admin.js";
import type { FindNetwork } from "./assets.js";
import { formatLimit } from "./limits.js";

/** Epoch milliseconds as Unix seconds. */
export const toInstant = (ms: number): number => Math.floor(ms / 1000);
const orNull = (ms: number | null): number | null => (ms === null ? null : toInstant(ms));

export const toAccountRecord = ({ id, name, createdAt }: Account): AccountRecord => ({
  id,
  name,
  createdAt: toInstant(createdAt),
});

export const toKeyRecord = (key: ApiKey): KeyRecord => ({
  id: key.id,
  account: key.account,
  prefix: key.prefix,
  name: key.name,
  mode: key.mode,
  plan: key.plan,
  rateLimit: key.rateLimit,
  scopes: [...key.scopes],
  wallets: [...key.wallets],
  createdAt: toInstant(key.createdAt),
  lastUsedAt: orNull(key.lastUsedAt),
  expiresAt: orNull(key.expiresAt),
  revokedAt: orNull(key.revokedAt),
});

export const toWalletRecord = (wallet: HostedWallet, find: FindNetwork): WalletRecord => ({
  id: wallet.id,
  account: wallet.account,
  mode: wallet.mode,
  family: wallet.family,
  address: wallet.address,
  name: wallet.name,
  limits: wallet.limits.map((limit) => formatLimit(limit, find)),
  createdAt: toInstant(wallet.createdAt),
});
