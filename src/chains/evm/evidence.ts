// The one rule of what counts as paid. By an authorization: a successful receipt in which the asset itself says
// AuthorizationUsed(from, nonce) and then, before it says so for any other authorization, the exact Transfer(from, payTo, value);
// each log counts once. By the buyer's own transaction: its signed members, a successful receipt, and the token's own Transfer.
import { NATIVE } from "../../requirement.js";
import type { Log, Receipt } from "./answers.js";
import { addressWord, type Hex, word } from "./hex.js";
import { type Movement, movementOf } from "./movement.js";
import type { SignedTransaction } from "./transaction.js";

export const AUTHORIZATION_USED: Hex = "0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5";
export const AUTHORIZATION_CANCELED: Hex = "0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81";
export const TRANSFER: Hex = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

/** The payment that is looked for, every text lower case. */
export interface Payment {
  readonly asset: string;
  readonly payer: string;
  readonly payTo: string;
  /** Atomic units. */
  readonly amount: bigint;
  readonly nonce: string;
}

/**
 * Whether this receipt proves this payment.
 *
 * Invariant: a Transfer belongs to the AuthorizationUsed before it. So two authorizations of one payer in one transaction
 * need two transfers, and an AuthorizationUsed that moved nothing (a token that does not revert on a used nonce) cannot
 * borrow the next one's. Fees, whether taken from the transfer or from the payee after it, leave less than the exact value.
 */
export function provesPayment(receipt: Receipt, payment: Payment): boolean {
  if (receipt.status !== "0x1") return false;
  const logs = receipt.logs
    .filter((log) => log.address === payment.asset && log.removed !== true)
    .sort((a, b) => Number(a.logIndex - b.logIndex));
  return logs.some((log, at) => {
    if (!isUseOf(log, payment)) return false;
    const end = logs.findIndex((other, i) => i > at && other.topics[0] === AUTHORIZATION_USED);
    return paysExactly(logs.slice(at + 1, end === -1 ? undefined : end).filter(isTransfer), payment);
  });
}

/** The first transfer from the payer to the payee has the exact value, and nothing is taken from the payee beside it. */
const paysExactly = (transfers: readonly Log[], payment: Payment): boolean =>
  ownTransfer(transfers, payment)?.data === `0x${word(payment.amount)}`;

/** The first transfer from the payer to the payee, where nothing is taken from the payee beside it. */
function ownTransfer(transfers: readonly Log[], { payer, payTo }: Pick<Payment, "payer" | "payTo">): Log | undefined {
  const payee = addressTopic(payTo);
  const own = transfers.find(({ topics }) => topics[1] === addressTopic(payer) && topics[2] === payee);
  return transfers.some((log) => log !== own && log.topics[1] === payee) ? undefined : own;
}

/** What a sale asks of a transaction. `asset` and `payTo` in any case. */
export interface Terms {
  readonly asset: string;
  readonly payTo: string;
  /** Atomic units. */
  readonly amount: bigint;
}

/**
 * The atomic units that came by this transaction, as its receipt shows; undefined = less than the terms ask, or no proof.
 *
 * Invariant: the signed members say what native currency moved, and status 1 that it did. A token's calldata is only a wish: what
 * came is what its own Transfer says, so a token that answers `false`, moves less or moves silently has not paid.
 */
export function amountPaid(transaction: SignedTransaction, receipt: Receipt, terms: Terms): bigint | undefined {
  if (receipt.transactionHash !== transaction.hash || receipt.status !== "0x1") return undefined;
  const movement = movementOf(transaction);
  if (!movement || !isFor(movement, terms)) return undefined;
  const came = movement.asset === NATIVE ? movement.amount : transferred(receipt, transaction, movement);
  return came !== undefined && came >= terms.amount ? came : undefined;
}

/** Whether it moves the asset of these terms to their payee. */
export const isFor = ({ asset, payTo }: Pick<Movement, "asset" | "payTo">, terms: Terms): boolean =>
  asset.toLowerCase() === terms.asset.toLowerCase() && payTo === terms.payTo.toLowerCase();

function transferred(receipt: Receipt, { sender, to }: SignedTransaction, { payTo }: Movement): bigint | undefined {
  const transfers = receipt.logs.filter((log) => log.address === to && log.removed !== true && isTransfer(log));
  const data = ownTransfer(transfers, { payer: sender, payTo })?.data;
  return data?.length === 66 ? BigInt(data) : undefined;
}

const isTransfer = (log: Log): boolean => log.topics[0] === TRANSFER && log.topics.length === 3;

const isUseOf = ({ topics }: Log, { payer, nonce }: Payment): boolean =>
  topics[0] === AUTHORIZATION_USED && topics[1] === addressTopic(payer) && topics[2] === nonce;

export const addressTopic = (address: string): Hex => `0x${addressWord(address)}`;
