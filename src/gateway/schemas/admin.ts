// The operator's API under /admin, and how an account shows that a wallet is its own. Source: design §7.
import { SCOPES } from "../caller.js";
import { asset, instant, network, success, WORDS, walletAddress } from "./fields.js";
import { z } from "./zod.js";

const MAX_NAME = 100;

/** As it stands in lists and logs. */
const name = z
  .string("expected a name")
  .trim()
  .min(1, "expected a name")
  .max(MAX_NAME, `expected at most ${MAX_NAME} characters`)
  .regex(/^[^\p{Cc}\p{Cf}\p{Co}\p{Cs}]+$/u, "expected printable text")
  .describe("How it is called in lists");

const mode = z
  .enum(["live", "test"], "expected live or test")
  .describe("live: main networks only; test: test networks");
const family = z.enum(["evm", "solana"], "expected evm or solana").describe("Of which chains it is");
const DECIMAL = /^(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/;
/** Whole units of the asset. */
const amount = z
  .string('expected decimal text such as "0.5"')
  .max(80)
  .regex(DECIMAL, 'expected decimal text such as "0.5"');

export const createAccountRequest = z.strictObject({ name }).openapi("CreateAccountRequest");

export const accountRecord = z
  .object({
    id: z.string().describe("acc_ and 22 characters of base58"),
    name: z.string().describe("How it is called in lists"),
    createdAt: instant.describe("When it was made"),
  })
  .openapi("Account");
export type AccountRecord = z.infer<typeof accountRecord>;

export const createKeyRequest = z
  .strictObject({
    name,
    mode,
    plan: z
      .string("expected the name of a plan")
      .max(32)
      .default("standard")
      .describe("standard, premium, enterprise, or one of the settings"),
    scopes: z
      .array(z.enum(SCOPES, `expected one of ${SCOPES.join(", ")}`), "expected a list of scopes")
      .min(1, "expected at least one scope")
      .transform((scopes) => [...new Set(scopes)])
      .describe("What it may do"),
    wallets: z
      .array(z.string().max(64), "expected a list of wallet ids")
      .max(100)
      .optional()
      .describe("Hosted wallets that it may send from, by id or address; only with the scope send"),
    rateLimit: z
      .int()
      .min(1)
      .max(10_000_000)
      .optional()
      .describe("Requests a minute, where the plan leaves that to the key"),
    expiresAt: instant.optional().describe("When it ends"),
  })
  .openapi("CreateKeyRequest");
export type CreateKeyRequest = z.infer<typeof createKeyRequest>;

export const keyRecord = z
  .object({
    id: z.string().describe("key_ and 22 characters of base58"),
    account: z.string().describe("Whose it is"),
    prefix: z.string().describe("The public part, by which it is named in logs"),
    name: z.string().describe("How it is called in lists"),
    mode,
    plan: z.string().describe("Its plan"),
    rateLimit: z.int().nullable().describe("Requests a minute, where the plan leaves that to the key"),
    scopes: z.array(z.enum(SCOPES)).describe("What it may do"),
    wallets: z.array(z.string()).describe("Ids of the hosted wallets that it may send from"),
    createdAt: instant.describe("When it was made"),
    lastUsedAt: instant.nullable().describe("When it was last used, to the minute"),
    expiresAt: instant.nullable().describe("When it ends"),
    revokedAt: instant.nullable().describe("When it was revoked"),
  })
  .openapi("ApiKey");
export type KeyRecord = z.infer<typeof keyRecord>;

/** What may be sent of one asset on one network; without a limit nothing is. */
export const walletLimit = z
  .strictObject({
    network: network.describe("CAIP-2 id or name"),
    asset: asset.optional(),
    perPayment: amount.describe("At most this much at once, in whole units"),
    perDay: amount.describe("At most this much within 24 hours, in whole units"),
  })
  .openapi("WalletLimit");
export type WalletLimitRequest = z.infer<typeof walletLimit>;

const limits = z
  .array(walletLimit, "expected a list of limits")
  .max(100)
  .describe("What it may send; an asset without a limit is not sent");

export const createWalletRequest = z
  .strictObject({
    name,
    mode,
    family,
    limits: limits.default([]),
    secret: z
      .string("expected a private key")
      .max(200)
      .optional()
      .describe("Imports this key instead of making one: sealed at once, and shown never again"),
  })
  .openapi("CreateWalletRequest");

export const changeLimitsRequest = z.strictObject({ limits }).openapi("ChangeLimitsRequest");

export const walletRecord = z
  .object({
    id: z.string().describe("wal_ and 22 characters of base58"),
    account: z.string().describe("Whose it is"),
    mode,
    family,
    address: z.string().describe("Where money is sent to fill it"),
    name: z.string().describe("How it is called in lists"),
    limits: z
      .array(
        z.object({
          network: z.string().describe(WORDS.networkId),
          asset: z.string().describe("Address, or native"),
          symbol: z.string().describe("Its symbol"),
          perPayment: z.string().describe("At most this much at once, in whole units"),
          perPaymentAtomic: z.string().describe("The same in atomic units"),
          perDay: z.string().describe("At most this much within 24 hours, in whole units"),
          perDayAtomic: z.string().describe("The same in atomic units"),
        }),
      )
      .describe("What it may send"),
    createdAt: instant.describe("When it was made"),
    balances: z
      .array(
        z.object({
          network: z.string().describe(WORDS.networkId),
          asset: z.string().describe("Address, or native"),
          symbol: z.string().describe("Its symbol"),
          amount: z.string().nullable().describe("Whole units; null where the chain did not answer"),
          amountAtomic: z.string().nullable().describe("The same in atomic units"),
        }),
      )
      .optional()
      .describe("What it holds, in lists of wallets"),
  })
  .openapi("HostedWallet");
export type WalletRecord = z.infer<typeof walletRecord>;

export const challengeRequest = z
  .strictObject({ walletAddress: walletAddress.describe("The wallet that is yours") })
  .openapi("WalletChallengeRequest");
export type ChallengeRequest = z.infer<typeof challengeRequest>;

export const challengeAnswer = z
  .object({
    success,
    walletAddress: z.string().describe("As it is written on its chain"),
    message: z.string().describe("What the wallet signs, letter by letter"),
    nonce: z.string().describe("Good for one proof"),
    expiresAt: instant.describe("Until when it is good: ten minutes"),
  })
  .openapi("WalletChallengeAnswer");
export type ChallengeAnswer = z.infer<typeof challengeAnswer>;

export const proveRequest = z
  .strictObject({
    walletAddress: walletAddress.describe("The wallet that is yours"),
    nonce: z.string("expected the nonce of the challenge").max(128).describe("That of the challenge"),
    signature: z
      .string("expected a signature")
      .max(200)
      .describe("EVM: personal_sign (EIP-191), 0x and hex. Solana: ed25519 over the message, base58"),
  })
  .openapi("WalletProofRequest");
export type ProveRequest = z.infer<typeof proveRequest>;

export const proveAnswer = z
  .object({
    success,
    walletAddress: z.string().describe("As it is written on its chain"),
    account: z.string().describe("Whose it is from now on"),
  })
  .openapi("WalletProofAnswer");
export type ProveAnswer = z.infer<typeof proveAnswer>;
