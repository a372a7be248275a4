// The contract of the gateway's database: everything that survives. SQLite or Postgres behind it; every method is one
// transaction, judged by the database's clock, and tried again where the database asks for that. Amounts are bigint.
import type { ApiKey, Scope } from "../caller.js";
import type { Mode, Payment, PaymentStatus, StatusChange } from "../payment.js";
import type { Browsing } from "./browsing.js";
import type { Sessions } from "./sessions.js";
import type { Signers } from "./signers.js";

export interface GatewayDatabase {
  readonly payments: Payments;
  readonly accounts: Accounts;
  readonly keys: Keys;
  readonly wallets: Wallets;
  readonly requests: Requests;
  readonly nonces: AccountNonces;
  readonly sponsored: Sponsored;
  readonly events: Events;
  readonly sessions: Sessions;
  readonly signers: Signers;
  readonly browsing: Browsing;
  /** Epoch milliseconds by the database's clock. */
  now(): Promise<number>;
  /** Rejects where it cannot be used. */
  ping(): Promise<void>;
  /** A copy of a consistent moment, while the service runs: SQLite only. */
  backup(file: string): Promise<void>;
  close(): Promise<void>;
}

/** What the caller of `insert` decides; the database adds id, times and version. */
export type NewPayment = Omit<
  Payment,
  "id" | "createdAt" | "updatedAt" | "version" | "late" | "error" | "blockHeight" | "confirmations"
>;

/** What is written together with a new payment, or not at all. */
export interface Together {
  /** Against the limits of the hosted wallet that pays: they count until the payment finally fails. */
  readonly spend?: {
    readonly wallet: string;
    readonly network: string;
    readonly asset: string;
    readonly amount: bigint;
    /** Of the native currency beside the amount: what the caller adds to the network's own fee. */
    readonly priorityFee?: bigint;
  };
  /** An account nonce of the sender, given to `complete`. */
  readonly nonce?: { readonly network: string; readonly address: string; readonly next: number };
  /** Makes what is pursued (signed bytes) of the nonce; runs inside the transaction and waits for nothing but signatures. */
  readonly complete?: (nonce: number | undefined) => Promise<Pick<NewPayment, "pursuit" | "signature" | "expiresAt">>;
}

export type Inserted =
  | { readonly outcome: "ok"; readonly payment: Payment }
  /** Another record holds the proof. */
  | { readonly outcome: "proof_taken"; readonly payment: Payment }
  /** This idempotent request has made its record already. */
  | { readonly outcome: "repeated"; readonly payment: Payment }
  | {
      readonly outcome: "over_limit";
      readonly limit: "per_payment" | "per_day";
      readonly allowed: bigint;
      /** It is the priority fee of a token payment that is over the limit of the native currency. */
      readonly priorityFee?: true;
    };

/** What a change may set; `dueAt: null` = never again. */
export type PaymentChange = Partial<
  Pick<
    Payment,
    | "signature"
    | "fee"
    | "blockHeight"
    | "confirmations"
    | "sender"
    | "amount"
    | "expiresAt"
    | "error"
    | "late"
    | "pursuit"
    | "sealed"
    | "dueAt"
    | "proofId"
  >
>;

export interface HistoryPage {
  readonly type: "sent" | "received" | "all";
  readonly limit: number;
  readonly offset: number;
  readonly before?: string;
}

export interface Payments {
  insert(payment: NewPayment, together?: Together): Promise<Inserted>;
  get(id: string): Promise<Payment | undefined>;
  byProof(proofId: string): Promise<Payment | undefined>;
  byIdempotency(id: string): Promise<Payment | undefined>;
  /** The records of an account that name this transaction: `sent` before `received`. */
  bySignature(account: string, signature: string): Promise<readonly Payment[]>;
  historyOf(id: string): Promise<readonly StatusChange[]>;
  /**
   * Compare-and-set on `payment.version`, with one history row and one event where the status changes; a final failure frees
   * what it had reserved and lets go of its proof, and a transaction that a settlement's pursuit newly names as reverted counts
   * in the day's budget. Undefined = somebody else was first: read again.
   */
  change(payment: Payment, status: PaymentStatus, change: PaymentChange): Promise<Payment | undefined>;
  page(
    account: string,
    mode: Mode,
    address: string,
    page: HistoryPage,
  ): Promise<{
    readonly payments: readonly (Payment & { readonly history: readonly StatusChange[] })[];
    readonly total: number;
    readonly before: string | undefined;
  }>;
  /** Takes what is due for `leaseMs`: another watcher sees it only after that. */
  takeDue(limit: number, leaseMs: number): Promise<readonly Payment[]>;
  /** Payments of `receive` and `settle` that a request may still be settling: not at an end, and at most 300 seconds old. */
  countRunning(account: string): Promise<number>;
}

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
}

export interface Accounts {
  create(name: string): Promise<Account>;
  /** Undefined where there is an account already. */
  createFirst(name: string): Promise<Account | undefined>;
  get(id: string): Promise<Account | undefined>;
  list(): Promise<readonly Account[]>;
  /** That this address is the account's, shown by a signature or by lodging its key. False = another account has shown it. */
  prove(account: string, address: string): Promise<boolean>;
  /** Who has shown that an address is theirs. */
  ownerOf(address: string): Promise<string | undefined>;
  /** Nonces of sign-in and proof messages: used once, before they expire. */
  rememberNonce(nonce: string, purpose: string, expiresAt: number): Promise<void>;
  useNonce(nonce: string, purpose: string): Promise<boolean>;
}

export interface NewKey {
  readonly account: string;
  readonly name: string;
  readonly mode: Mode;
  readonly plan: string;
  readonly scopes: readonly Scope[];
  readonly wallets?: readonly string[];
  readonly rateLimit?: number;
  readonly expiresAt?: number;
}

export interface Keys {
  /** The only moment at which the whole key exists outside the caller's hands. */
  create(key: NewKey): Promise<{ readonly key: ApiKey; readonly secret: string }>;
  /** By its public part, with the SHA-256 of the whole. */
  find(prefix: string): Promise<{ readonly key: ApiKey; readonly hash: string } | undefined>;
  list(account: string): Promise<readonly ApiKey[]>;
  get(id: string): Promise<ApiKey | undefined>;
  /** Those of these that are neither revoked nor over, by the database's clock, and whose account is there. */
  usable(ids: readonly string[]): Promise<readonly ApiKey[]>;
  revoke(account: string, id: string): Promise<boolean>;
  /** At most once a minute for a key. */
  used(id: string): Promise<void>;
}

export interface HostedWallet {
  readonly id: string;
  readonly account: string;
  readonly mode: Mode;
  readonly family: "evm" | "solana";
  /** Checksummed on EVM. */
  readonly address: string;
  readonly name: string;
  /** Encrypted, bound to account and wallet id: see wallets/vault.ts. */
  readonly sealedKey: string;
  readonly limits: readonly WalletLimit[];
  readonly createdAt: number;
}

/** Atomic units of an asset on a network; an asset without one is not sent. */
export interface WalletLimit {
  readonly network: string;
  readonly asset: string;
  readonly perPayment: bigint;
  readonly perDay: bigint;
}

export interface Wallets {
  /**
   * Undefined = this account has the address lodged already, or another one has shown that it is theirs. Never while `resealAll`
   * runs: whoever reads the vault afterwards knows whether its key was sealed under it.
   */
  create(wallet: Omit<HostedWallet, "createdAt">): Promise<HostedWallet | undefined>;
  /** Undefined once it was removed, as in all that follows. */
  get(id: string): Promise<HostedWallet | undefined>;
  byAddress(account: string, mode: Mode, address: string): Promise<HostedWallet | undefined>;
  list(account: string): Promise<readonly HostedWallet[]>;
  setLimits(account: string, id: string, limits: readonly WalletLimit[]): Promise<boolean>;
  /**
   * Puts this limit in the place of the one for the same asset and leaves the others. `mayRaise` false: `raises` and nothing done
   * where it would permit more than now.
   */
  setLimit(account: string, id: string, limit: WalletLimit, mayRaise: boolean): Promise<"set" | "missing" | "raises">;
  /** Keeps the record, forgets the key. */
  remove(account: string, id: string): Promise<boolean>;
  /** What counts against the limits per day now, of each asset that was sent within 24 hours. */
  spent(id: string): Promise<readonly Spent[]>;
  /**
   * Replaces every sealed key, and the vault with them, in one transaction: after a crash either all are old or all are new.
   * What `reseal` throws undoes all of it; removed wallets have no key and are left out.
   */
  resealAll(vault: Vault, reseal: (wallet: HostedWallet) => string): Promise<number>;
  readVault(): Promise<Vault | undefined>;
  /** The first of a database. False = another process was first: its vault stands. */
  createVault(vault: Vault): Promise<boolean>;
}

/** Atomic units of an asset on a network. */
export interface Spent {
  readonly network: string;
  readonly asset: string;
  readonly amount: bigint;
}

/** A sealed word by which a wrong passphrase is told at start, and the salt of its key derivation. */
export interface Vault {
  readonly salt: string;
  readonly check: string;
}

export type Begun =
  | { readonly outcome: "new" }
  /** Its answer, sealed. */
  | { readonly outcome: "done"; readonly status: number; readonly sealed: string }
  | { readonly outcome: "running" }
  | { readonly outcome: "other_content" };

/** Idempotent requests: kept for 24 hours. */
export interface Requests {
  /** `new` also where an earlier run has died (its lease is over) or gave nothing final. */
  begin(id: string, contentHash: string, leaseMs: number): Promise<Begun>;
  renew(id: string, leaseMs: number): Promise<void>;
  finish(id: string, answer: { readonly status: number; readonly sealed: string }): Promise<void>;
  /** Nothing final came of it: the next one evaluates anew. */
  release(id: string): Promise<void>;
}

/** Account nonces of keys that several processes and endpoints send with: hosted wallets and settlers. */
export interface AccountNonces {
  /**
   * Nobody else gets it: the lowest that was given back and is not below `next`, or the one after all. `block`: the latest one of
   * the node that counts `next`.
   */
  take(network: string, address: string, next: number, block?: bigint): Promise<number>;
  /** Provably not sent. */
  giveBack(network: string, address: string, nonce: number): Promise<void>;
  /** Used on the chain, in this block where it is known. */
  done(network: string, address: string, nonce: number, block?: bigint): Promise<void>;
  /** Given back, and a later one is under way and waits for it. */
  gaps(network: string, address: string): Promise<readonly number[]>;
}

/** Settlements that the gateway pays for, counted per day; one that reverted counts three times, by `payments.change`. */
export interface Sponsored {
  reserve(
    account: string,
    payer: string,
    budget: { readonly perAccount: number; readonly perPayer: number },
  ): Promise<
    { readonly ok: true } | { readonly ok: false; readonly over: "account" | "payer"; readonly resetAt: number }
  >;
  /** Nothing was sent after all. */
  giveBack(account: string, payer: string): Promise<void>;
}

/** Which changes a subscriber asks for. Payments that are sent are `payment`; of received ones the first is `verification`. */
export type EventKind = "payment" | "verification" | "settlement";

/** A record as it was when the event was written, without what is nobody's but the gateway's. */
export type EventPayment = Omit<
  Payment,
  "pursuit" | "sealed" | "idempotency" | "proofId" | "wallet" | "version" | "dueAt"
> & { readonly history: readonly StatusChange[] };

export interface GatewayEvent {
  /** `evt_` and 22 characters of base58. */
  readonly id: string;
  /** Counts the events of an account in the order of their commits, from 1 and without a gap. */
  readonly cursor: number;
  /** Epoch milliseconds, by the database's clock. */
  readonly at: number;
  readonly kind: EventKind;
  readonly payment: EventPayment;
}

/** What `payments` has written: one event for every new record and every change of a status, kept for 7 days. */
export interface Events {
  /**
   * What came after `cursor` in one mode, oldest first. `next` continues: it is the account's last cursor where nothing is left.
   * `expired` = something after the cursor was pruned, or the cursor was never given out.
   */
  since(
    account: string,
    mode: Mode,
    cursor: number,
    limit: number,
  ): Promise<
    | { readonly outcome: "ok"; readonly events: readonly GatewayEvent[]; readonly next: number }
    | { readonly outcome: "expired" }
  >;
  /** The last cursor of an account; 0 where nothing has happened yet. */
  latest(account: string): Promise<number>;
  /** The same of many accounts; one that is not there is left out. */
  latestOf(accounts: readonly string[]): Promise<ReadonlyMap<string, number>>;
}
