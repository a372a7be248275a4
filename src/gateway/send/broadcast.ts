// The first broadcast of bytes that were written and have never left. Only here a refusal proves something: nobody else has had
// the bytes, so a payment that every node refused has moved nothing and gives back what it had reserved.
import type { GatewayNetwork } from "../chain.js";
import type { GatewayErrorCode } from "../errors.js";
import type { GatewayParts } from "../parts.js";
import type { EvmPursuit, Payment, SolanaPursuit } from "../payment.js";
import { reasonOf } from "../reason.js";
import { fillGaps } from "./gaps.js";

export type SendingParts = Pick<GatewayParts, "database" | "networks" | "custody" | "logger">;

/** A payment whose bytes are made here. */
export type Sending = Payment & { readonly pursuit: EvmPursuit | SolanaPursuit };

export const isSending = (payment: Payment): payment is Sending =>
  payment.flow === "send" && (payment.pursuit.kind === "evm" || payment.pursuit.kind === "solana");

/** Shorter than the time after which a watcher takes the payment over. */
const BROADCAST_MS = 10_000;

/** Sends what was just written, under this version of the record; gives the record as it then is. */
export async function sendFirst(parts: SendingParts, network: GatewayNetwork, payment: Sending): Promise<Payment> {
  const { outcome, message } = await broadcast(parts, network, payment);
  return outcome === "refused" ? whenRefused(parts, network, payment, message) : markSubmitted(parts, network, payment);
}

/** Never rejects: what threw may have sent. */
export async function broadcast({ logger }: SendingParts, { transfers }: GatewayNetwork, payment: Sending) {
  try {
    return await transfers.broadcast(payment.pursuit, AbortSignal.timeout(BROADCAST_MS));
  } catch (error) {
    logger.warn({ paymentId: payment.id, reason: reasonOf(error) }, "a broadcast failed half-way");
    return { outcome: "lost", message: "the broadcast failed half-way" } as const;
  }
}

/** The bytes have left, or may have. */
export async function markSubmitted(
  { database }: SendingParts,
  { network }: GatewayNetwork,
  payment: Payment,
): Promise<Payment> {
  const dueAt = (await database.now()) + Math.max(network.blockMs, 1_000);
  const changed = await database.payments.change(payment, "submitted", { dueAt });
  return changed ?? (await readAgain(database, payment));
}

/**
 * Every node refused the bytes. Invariant: it fails by compare-and-set on the version that this process wrote, and whoever else
 * is about to send the bytes writes a new version first. So a payment that failed here was sent by nobody.
 */
async function whenRefused(
  parts: SendingParts,
  network: GatewayNetwork,
  payment: Sending,
  message: string,
): Promise<Payment> {
  const { database, logger } = parts;
  const error = { code: codeOf(message), message: `no node of the chain took the transaction: ${message}` };
  const failed = await database.payments.change(payment, "failed", { error, dueAt: null });
  if (!failed) return readAgain(database, payment);
  logger.warn({ paymentId: payment.id, code: error.code }, "a payment was refused by every node");
  const { pursuit } = payment;
  if (pursuit.kind === "evm") {
    await database.nonces.giveBack(payment.network, pursuit.sender, pursuit.nonce);
    await fillGaps(parts, network, payment);
  }
  return failed;
}

/** In the words of the nodes: "insufficient funds for gas * price + value", "insufficient lamports". */
const codeOf = (message: string): GatewayErrorCode =>
  /insufficient (?:funds|lamports|balance)|InsufficientFunds/i.test(message) ? "INSUFFICIENT_BALANCE" : "UNAVAILABLE";

/** Somebody else has written the record meanwhile. */
export async function readAgain({ payments }: GatewayParts["database"], payment: Payment): Promise<Payment> {
  return (await payments.get(payment.id)) ?? payment;
}
