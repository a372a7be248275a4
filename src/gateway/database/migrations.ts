// The gateway's schema in numbered steps, written once for both kinds of database. A step that was released is never changed:
// what comes later is a step of its own.
import type { Owner } from "../../store/load-peer.js";
import type { KyselyModule, Migration } from "../../store/sql/dialect.js";
import type { Schema } from "../../store/sql/schema.js";

/** As errors name whose database it is. */
export const GATEWAY: Owner = { name: "gateway", path: "database", of: "gateway" };

/** How a kind of database spells what every table needs. */
interface Spelling {
  /** A whole number of 53 bits. */
  readonly whole: string;
  /** Text in the order of its bytes, whatever the language of the database. */
  readonly text: string;
  readonly end: string;
}
const SPELLINGS: Readonly<Record<"sqlite" | "postgres", Spelling>> = {
  sqlite: { whole: "integer", text: "text", end: " strict" },
  postgres: { whole: "bigint", text: 'text collate "C"', end: "" },
};

/** What `migrateSchema` brings a database to. */
export const gatewaySchema = (kind: "sqlite" | "postgres"): Schema => ({
  table: "gateway_migrations",
  migrations: STEPS.map(
    (step): Migration =>
      (sql) =>
        step(SPELLINGS[kind]).map((text) => raw(sql, text)),
  ),
  owner: GATEWAY,
});

/** Safe because every statement is a constant of this file. */
const raw = (sql: KyselyModule["sql"], text: string) => sql`${sql.raw(text)}`;

const STEPS: readonly ((spelling: Spelling) => readonly string[])[] = [
  ({ whole, text, end }) => [
    `create table gateway_accounts (
      id ${text} primary key, name ${text} not null, created_at ${whole} not null, cursor ${whole} not null
    )${end}`,
    `create table gateway_addresses (
      address ${text} primary key, account ${text} not null, proven_at ${whole} not null
    )${end}`,
    `create table gateway_signin_nonces (
      nonce ${text} not null, purpose ${text} not null, expires_at ${whole} not null, primary key (nonce, purpose)
    )${end}`,
    "create index gateway_signin_nonces_expiry on gateway_signin_nonces (expires_at)",
    `create table gateway_keys (
      id ${text} primary key, account ${text} not null, prefix ${text} not null unique, hash ${text} not null,
      name ${text} not null, mode ${text} not null, plan ${text} not null, rate_limit ${whole}, scopes ${text} not null,
      wallets ${text} not null, created_at ${whole} not null, last_used_at ${whole}, expires_at ${whole}, revoked_at ${whole}
    )${end}`,
    "create index gateway_keys_account on gateway_keys (account, created_at)",
    `create table gateway_vault (
      id ${whole} primary key check (id = 1), salt ${text} not null, word ${text} not null
    )${end}`,
    `create table gateway_wallets (
      id ${text} primary key, account ${text} not null, mode ${text} not null, family ${text} not null,
      address ${text} not null, name ${text} not null, sealed_key ${text}, limits ${text} not null,
      created_at ${whole} not null, removed_at ${whole}, check ((sealed_key is null) = (removed_at is not null))
    )${end}`,
    `create unique index gateway_wallets_address on gateway_wallets (account, mode, address) where removed_at is null`,
    `create table gateway_spending (
      payment ${text} primary key, wallet ${text} not null, network ${text} not null, asset ${text} not null,
      amount ${text} not null, at ${whole} not null, freed ${whole} not null
    )${end}`,
    "create index gateway_spending_recent on gateway_spending (wallet, network, asset, at)",
  ],
  ({ whole, text, end }) => [
    `create table gateway_payments (
      id ${text} primary key, account ${text} not null, mode ${text} not null, type ${text} not null, flow ${text} not null,
      status ${text} not null, network ${text} not null, asset ${text} not null, amount ${text} not null, sender ${text},
      recipient ${text} not null, signature ${text}, fee ${text}, block_height ${whole}, confirmations ${whole},
      resource ${text}, metadata ${text}, created_at ${whole} not null, updated_at ${whole} not null, expires_at ${whole},
      error ${text}, late ${whole} not null, proof_id ${text}, proof_held ${text} unique, wallet ${text},
      idempotency ${text}, idempotency_held ${text} unique, sealed ${text}, pursuit ${text} not null,
      version ${whole} not null, due_at ${whole}
    )${end}`,
    // All that a history is counted and chosen by: SQLite reads on the thread that answers everybody.
    `create index gateway_payments_sender on gateway_payments
      (account, mode, sender, created_at desc, id desc, type)`,
    `create index gateway_payments_recipient on gateway_payments
      (account, mode, recipient, created_at desc, id desc, sender, type)`,
    "create index gateway_payments_signature on gateway_payments (account, signature) where signature is not null",
    "create index gateway_payments_due on gateway_payments (due_at) where due_at is not null",
    `create index gateway_payments_running on gateway_payments (account, created_at)
      where type = 'received' and status in ('created', 'submitted')`,
    `create table gateway_history (
      payment ${text} not null, step ${whole} not null, status ${text} not null, at ${whole} not null,
      primary key (payment, step)
    )${end}`,
    `create table gateway_events (
      account ${text} not null, cursor ${whole} not null, id ${text} not null, at ${whole} not null, mode ${text} not null,
      kind ${text} not null, data ${text} not null, primary key (account, cursor)
    )${end}`,
    "create index gateway_events_age on gateway_events (at)",
  ],
  ({ whole, text, end }) => [
    `create table gateway_requests (
      id ${text} primary key, content_hash ${text} not null, begun_at ${whole} not null, lease_until ${whole} not null,
      status ${whole}, sealed ${text}, check ((status is null) = (sealed is null))
    )${end}`,
    "create index gateway_requests_age on gateway_requests (begun_at)",
    `create table gateway_senders (
      network ${text} not null, address ${text} not null, floor ${whole} not null, floor_at ${whole} not null,
      primary key (network, address)
    )${end}`,
    `create table gateway_nonces (
      network ${text} not null, address ${text} not null, nonce ${whole} not null, taken_at ${whole} not null,
      primary key (network, address, nonce)
    )${end}`,
    `create table gateway_sponsored (
      day ${whole} not null, kind ${text} not null, name ${text} not null, used ${whole} not null,
      primary key (day, kind, name)
    )${end}`,
  ],
  ({ whole, text, end }) => [
    `create table gateway_sessions (
      hash ${text} primary key, account ${text} not null, created_at ${whole} not null, used_at ${whole} not null,
      expires_at ${whole} not null
    )${end}`,
    "create index gateway_sessions_expiry on gateway_sessions (expires_at)",
    "create index gateway_sessions_account on gateway_sessions (account)",
    "create index gateway_payments_account on gateway_payments (account, created_at desc, id desc)",
  ],
  ({ whole }) => [
    `alter table gateway_addresses add column signs_in ${whole} not null default 0`,
    "create index gateway_addresses_account on gateway_addresses (account, proven_at)",
  ],
  ({ whole }) => [
    `alter table gateway_senders add column used ${whole} not null default 0`,
    `alter table gateway_senders add column block ${whole} not null default -1`,
    `alter table gateway_senders add column block_at ${whole} not null default 0`,
  ],
];
