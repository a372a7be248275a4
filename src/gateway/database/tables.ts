// The tables of the gateway as Kysely sees them. Amounts and everything composed are text; yes and no are 1 and 0, because libsql
// cannot bind a boolean. Whole numbers come back as text (pg) or as numbers (libsql): read them with Number().
import type { Generated, Kysely, Transaction } from "kysely";
import type { Whole } from "../../store/sql/dialect.js";
import type { Flow, Mode, PaymentStatus } from "../payment.js";
import type { EventKind } from "./database.js";

export interface GatewayTables {
  /** `cursor`: the last event of the account. */
  gateway_accounts: { id: string; name: string; created_at: Whole; cursor: Whole };
  /** Addresses whose owner has shown himself; EVM in lower case, so that a spelling is no second address. */
  gateway_addresses: { address: string; account: string; proven_at: Whole; signs_in: Generated<Whole> };
  gateway_signin_nonces: { nonce: string; purpose: string; expires_at: Whole };
  gateway_keys: KeyRow;
  gateway_wallets: WalletRow;
  gateway_vault: { id: number; salt: string; word: string };
  gateway_payments: PaymentRow;
  gateway_history: { payment: string; step: Whole; status: PaymentStatus; at: Whole };
  gateway_events: {
    account: string;
    cursor: Whole;
    id: string;
    at: Whole;
    mode: Mode;
    kind: EventKind;
    data: string;
  };
  gateway_requests: RequestRow;
  gateway_senders: SenderRow;
  /** One row per nonce that is taken and not known to the chain yet. */
  gateway_nonces: { network: string; address: string; nonce: Whole; taken_at: Whole };
  gateway_spending: SpendingRow;
  /** Of the dashboard: `hash` is the SHA-256 of what the browser holds. */
  gateway_sessions: { hash: string; account: string; created_at: Whole; used_at: Whole; expires_at: Whole };
  gateway_sponsored: { day: Whole; kind: "account" | "payer"; name: string; used: Whole };
}
/**
 * Who sends with account nonces: below `floor` the chain has seen them all, as somebody was told at `floor_at`; below `used` they
 * were used in blocks up to `block`, as was heard at `block_at`.
 */
interface SenderRow {
  network: string;
  address: string;
  floor: Whole;
  floor_at: Whole;
  used: Generated<Whole>;
  block: Generated<Whole>;
  block_at: Generated<Whole>;
}

export type GatewayDb = Kysely<GatewayTables>;
export type GatewayWork = Transaction<GatewayTables>;

export interface KeyRow {
  id: string;
  account: string;
  prefix: string;
  hash: string;
  name: string;
  mode: Mode;
  plan: string;
  rate_limit: Whole | null;
  scopes: string;
  wallets: string;
  created_at: Whole;
  last_used_at: Whole | null;
  expires_at: Whole | null;
  revoked_at: Whole | null;
}

export interface WalletRow {
  id: string;
  account: string;
  mode: Mode;
  family: "evm" | "solana";
  address: string;
  name: string;
  /** Null once it was removed. */
  sealed_key: string | null;
  limits: string;
  created_at: Whole;
  removed_at: Whole | null;
}

export interface PaymentRow {
  id: string;
  account: string;
  mode: Mode;
  type: "sent" | "received";
  flow: Flow;
  status: PaymentStatus;
  network: string;
  asset: string;
  amount: string;
  sender: string | null;
  recipient: string;
  signature: string | null;
  fee: string | null;
  block_height: Whole | null;
  confirmations: Whole | null;
  resource: string | null;
  metadata: string | null;
  created_at: Whole;
  updated_at: Whole;
  expires_at: Whole | null;
  error: string | null;
  late: number;
  proof_id: string | null;
  /** The proof while this record holds it: unique. */
  proof_held: string | null;
  wallet: string | null;
  idempotency: string | null;
  /** The idempotent request while it is remembered: unique. */
  idempotency_held: string | null;
  sealed: string | null;
  pursuit: string;
  version: Whole;
  due_at: Whole | null;
}

export interface RequestRow {
  id: string;
  content_hash: string;
  begun_at: Whole;
  lease_until: Whole;
  /** Both null until it is done. */
  status: Whole | null;
  sealed: string | null;
}

export interface SpendingRow {
  payment: string;
  wallet: string;
  network: string;
  asset: string;
  amount: string;
  at: Whole;
  /** 1 = it failed, and counts no longer. */
  freed: number;
}
