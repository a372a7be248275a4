// A payment as a row and back. Amounts are decimal text, the composed parts JSON.
import { checkKey } from "../../store/codec.js";
import type { Payment } from "../payment.js";
import type { PaymentChange } from "./database.js";
import type { PaymentRow } from "./tables.js";

/** The columns of what a change sets; nothing of what it leaves alone. */
export function toColumns(change: PaymentChange): Partial<PaymentRow> {
  const { signature, sender, sealed, confirmations } = change;
  return withoutUndefined({
    signature,
    sender,
    sealed,
    confirmations,
    fee: textOf(change.fee),
    amount: change.amount === undefined ? undefined : amountText(change.amount),
    block_height: change.blockHeight,
    expires_at: change.expiresAt,
    due_at: change.dueAt,
    proof_id: change.proofId,
    error: jsonOf(change.error),
    late: change.late === undefined ? undefined : Number(change.late),
    pursuit: change.pursuit && JSON.stringify(change.pursuit),
  });
}

/** All columns of a new payment. */
export function toRow(payment: Payment): PaymentRow {
  const { id, account, mode, type, flow, status, network, asset, sender, recipient, signature, resource } = payment;
  const { wallet, idempotency, sealed, version, confirmations } = payment;
  return {
    ...{ id, account, mode, type, flow, status, network, asset, sender, recipient, signature },
    ...{ wallet, idempotency, sealed, version, confirmations },
    resource: resource === null ? null : checkKey(resource),
    amount: amountText(payment.amount),
    fee: payment.fee === null ? null : amountText(payment.fee),
    block_height: payment.blockHeight,
    metadata: payment.metadata === null ? null : JSON.stringify(payment.metadata),
    created_at: payment.createdAt,
    updated_at: payment.updatedAt,
    expires_at: payment.expiresAt,
    error: payment.error === null ? null : JSON.stringify(payment.error),
    late: Number(payment.late),
    proof_id: payment.proofId,
    proof_held: payment.status === "failed" ? null : payment.proofId,
    idempotency_held: payment.idempotency,
    pursuit: JSON.stringify(payment.pursuit),
    due_at: payment.dueAt,
  };
}

/** Safe because every row was written by `toRow` and `toColumns`: what they hold is not judged again. */
export function fromRow(row: PaymentRow): Payment {
  const { id, account, mode, type, flow, status, network, asset, sender, recipient, signature, resource } = row;
  return {
    ...{ id, account, mode, type, flow, status, network, asset, sender, recipient, signature, resource },
    amount: BigInt(row.amount),
    fee: row.fee === null ? null : BigInt(row.fee),
    blockHeight: numberOf(row.block_height),
    confirmations: numberOf(row.confirmations),
    metadata: row.metadata === null ? null : (JSON.parse(row.metadata) as NonNullable<Payment["metadata"]>),
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    expiresAt: numberOf(row.expires_at),
    error: row.error === null ? null : (JSON.parse(row.error) as NonNullable<Payment["error"]>),
    late: Number(row.late) === 1,
    proofId: row.proof_id,
    wallet: row.wallet,
    idempotency: row.idempotency,
    sealed: row.sealed,
    pursuit: JSON.parse(row.pursuit) as Payment["pursuit"],
    version: Number(row.version),
    dueAt: numberOf(row.due_at),
  };
}

/** @throws RangeError below zero: no such money exists. */
export function amountText(amount: bigint): string {
  if (amount < 0n) throw new RangeError("an amount of the database is below zero");
  return amount.toString();
}

const textOf = (amount: bigint | null | undefined): string | null | undefined =>
  typeof amount === "bigint" ? amountText(amount) : amount;

const jsonOf = (value: object | null | undefined): string | null | undefined =>
  value === null || value === undefined ? value : JSON.stringify(value);

const numberOf = (whole: number | string | null): number | null => (whole === null ? null : Number(whole));

type Defined<Values> = { [Name in keyof Values]?: Exclude<Values[Name], undefined> };

const withoutUndefined = <Values extends object>(values: Values): Defined<Values> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<Values>;
