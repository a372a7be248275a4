// The operator's API under /admin, and how an account shows that a wallet is its own. Source: design §7.
import { z } from "@hono/zod-openapi";
import { SCOPES } from "../caller.js";
import { asset, instant, network, success, walletAddress } from "./fields.js";

const MAX_NAME = 100;

/** As it stands in lists and logs. */
const name = z
  .string("expected a name")
  .trim()
  .min(1, "expected a name")
  .max(MAX_NAME, `expected at most ${MAX_NAME} characters`)
  .regex(/^[^\p{Cc}\p{Cf}\p{Co}\p{Cs}]+$/u, "expected printable text");

const mode = z.enum(["live", "test"], "expected live or test");
const family = z.enum(["evm", "solana"], "expected evm or solana");
const DECIMAL = /^(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/;
/** Whole units of the asset. */
const amount = z
  .string('expected decimal text such as "0.5"')
  .max(80)
  .regex(DECIMAL, 'expected decimal text such as "0.5"');

export const createAccountRequest = z.strictObject({ name }).openapi("CreateAccountRequest");

export const accountRecord = z.object({ id: z.string(), name: z.string(), createdAt: instant }).openapi("Account");
export type AccountRecord = z.infer<typeof accountRecord>;

export const createKeyRequest = z
  .strictObject({
    name,
    mode,
    plan: z.string("expected the name of a plan").max(32).default("standard"),
    scopes: z
      .array(z.enum(SCOPES, `expected one of ${SCOPES.join(", ")}`), "expected a list of scopes")
      .min(1, "expected at least one scope")
      .transform((scopes) => [...new Set(scopes)]),
    /** Hosted wallets that it may open, by id. */
    wallets: z.array(z.string().max(64), "expected a list of wallet ids").max(100).optional(),
    /** Requests a minute, where the plan leaves it to the key. */
    rateLimit: z.int().min(1).max(10_000_000).optional(),
    /** Unix seconds. */
    expiresAt: instant.optional(),
  })
  .openapi("CreateKeyRequest");
export type CreateKeyRequest = z.infer<typeof createKeyRequest>;

export const keyRecord = z
  .object({
    id: z.string(),
    account: z.string(),
    /** The public part, by which it is named in logs. */
    prefix: z.string(),
    name: z.string(),
    mode,
    plan: z.string(),
    rateLimit: z.int().nullable(),
    scopes: z.array(z.enum(SCOPES)),
    wallets: z.array(z.string()),
    createdAt: instant,
    lastUsedAt: instant.nullable(),
    expiresAt: instant.nullable(),
    revokedAt: instant.nullable(),
  })
  .openapi("ApiKey");
export type KeyRecord = z.infer<typeof keyRecord>;

/** What may be sent of one asset on one network; without a limit nothing is. */
export const walletLimit = z
  .strictObject({ network, asset: asset.optional(), perPayment: amount, perDay: amount })
  .openapi("WalletLimit");
export type WalletLimitRequest = z.infer<typeof walletLimit>;

const limits = z.array(walletLimit, "expected a list of limits").max(100);

export const createWalletRequest = z
  .strictObject({
    name,
    mode,
    family,
    limits: limits.default([]),
    /** Imports this key instead of making one. It is sealed at once, and shown never again. */
    secret: z.string("expected a private key").max(200).optional(),
  })
  .openapi("CreateWalletRequest");

export const changeLimitsRequest = z.strictObject({ limits }).openapi("ChangeLimitsRequest");

export const walletRecord = z
  .object({
    id: z.string(),
    account: z.string(),
    mode,
    family,
    address: z.string(),
    name: z.string(),
    limits: z.array(
      z.object({
        network: z.string(),
        asset: z.string(),
        symbol: z.string(),
        perPayment: z.string(),
        perPaymentAtomic: z.string(),
        perDay: z.string(),
        perDayAtomic: z.string(),
      }),
    ),
    createdAt: instant,
    /** Where it was asked for; null = the chain did not answer. */
    balances: z
      .array(
        z.object({
          network: z.string(),
          asset: z.string(),
          symbol: z.string(),
          amount: z.string().nullable(),
          amountAtomic: z.string().nullable(),
        }),
      )
      .optional(),
  })
  .openapi("HostedWallet");
export type WalletRecord = z.infer<typeof walletRecord>;

export const challengeRequest = z.strictObject({ walletAddress }).openapi("WalletChallengeRequest");
export type ChallengeRequest = z.infer<typeof challengeRequest>;

export const challengeAnswer = z
  .object({
    success,
    walletAddress: z.string(),
    /** What the wallet signs, letter by letter. */
    message: z.string(),
    /** Good for one proof. */
    nonce: z.string(),
    expiresAt: instant,
  })
  .openapi("WalletChallengeAnswer");
export type ChallengeAnswer = z.infer<typeof challengeAnswer>;

export const proveRequest = z
  .strictObject({
    walletAddress,
    nonce: z.string("expected the nonce of the challenge").max(128),
    /** EVM: personal_sign (EIP-191), 0x and 65 bytes in hex. Solana: ed25519 over the message, base58. */
    signature: z.string("expected a signature").max(200),
  })
  .openapi("WalletProofRequest");
export type ProveRequest = z.infer<typeof proveRequest>;

export const proveAnswer = z
  .object({ success, walletAddress: z.string(), account: z.string() })
  .openapi("WalletProofAnswer");
export type ProveAnswer = z.infer<typeof proveAnswer>;
