// The one rule of what counts as paid: a successful receipt in which the asset itself says AuthorizationUsed(from, nonce)
// and then, before it says so for any other authorization, the exact Transfer(from, payTo, value). Each log counts once.
import type { Log, Receipt } from "./answers.js";
import { addressWord, type Hex, word } from "./hex.js";

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

/** The first transfer from the payer to the payee has the exact value, and nothing is taken from the payee after it. */
function paysExactly(transfers: readonly Log[], payment: Payment): boolean {
  const payer = addressTopic(payment.payer);
  const payee = addressTopic(payment.payTo);
  const own = transfers.find(({ topics }) => topics[1] === payer && topics[2] === payee);
  const taken = transfers.some((log) => log !== own && log.topics[1] === payee);
  return own?.data === `0x${word(payment.amount)}` && !taken;
}

const isTransfer = (log: Log): boolean => log.topics[0] === TRANSFER && log.topics.length === 3;

const isUseOf = ({ topics }: Log, { payer, nonce }: Payment): boolean =>
  topics[0] === AUTHORIZATION_USED && topics[1] === addressTopic(payer) && topics[2] === nonce;

export const addressTopic = (address: string): Hex => `0x${addressWord(address)}`;
