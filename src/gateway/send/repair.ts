// Brings a sent payment that no node knows back on its way. The same bytes are sent again, as often as it takes: a chain takes
// them once. Other bytes are signed only when the old ones can provably never land, and written before they leave.
import type { GatewayNetwork } from "../chain.js";
import type { GatewayErrorCode } from "../errors.js";
import type { Payment, SolanaPursuit } from "../payment.js";
import {
  broadcast,
  isSending,
  markSubmitted,
  readAgain,
  type Sending,
  type SendingParts,
  sendFirst,
} from "./broadcast.js";
import { fillGaps } from "./gaps.js";
import { TAKE_OVER_MS } from "./record.js";
import { signFor } from "./sign.js";

const STANDING_MS = 10_000;
/** What its caller has surely given up must not go out late: he may have paid in another way. */
const TOO_OLD_MS = 15 * 60_000;

/**
 * What is to be done for a payment from a hosted wallet that is `created` or `submitted`, by whoever finds it so: a watcher that
 * sees it nowhere, or the repeat of its request. Safe to call at any time, by any number of processes. Gives the record as it
 * then is.
 */
export async function repairSent(parts: SendingParts, payment: Payment): Promise<Payment> {
  if (!isSending(payment) || (payment.status !== "created" && payment.status !== "submitted")) return payment;
  const network = parts.networks.find(payment.network);
  if (!network) return payment;
  await fillGaps(parts, network, payment);
  const standing = await network.transfers.standing(payment.pursuit, AbortSignal.timeout(STANDING_MS));
  switch (standing.state) {
    case "unseen":
      return sendAgain(parts, network, payment);
    case "impossible":
      return payment.pursuit.kind === "solana"
        ? sendAnew(parts, network, payment, payment.pursuit)
        : giveUp(parts, payment, "UNAVAILABLE", `nothing was moved: ${standing.reason}`);
    // It is on its way, or nobody can tell: the watcher writes down what it sees.
    case "waiting":
    case "mined":
    case "unreadable":
      return payment;
  }
}

/** The same bytes. Invariant: a new version first, so that whoever sends them at the same time cannot call it failed. */
async function sendAgain(parts: SendingParts, network: GatewayNetwork, payment: Sending): Promise<Payment> {
  const { database, logger } = parts;
  const dueAt = (await database.now()) + TAKE_OVER_MS;
  const own = await database.payments.change(payment, payment.status, { dueAt });
  if (!own || !isSending(own)) return readAgain(database, payment);
  const { outcome, message } = await broadcast(parts, network, own);
  logger.info({ paymentId: own.id, outcome, said: message }, "a payment was sent again");
  // Invariant: a refusal proves nothing here, because an earlier broadcast may have reached a node that is silent now.
  return outcome === "refused" ? own : markSubmitted(parts, network, own);
}

/** The blockhash of the old bytes is finally over, and they are in no block. */
async function sendAnew(
  parts: SendingParts,
  network: GatewayNetwork,
  payment: Sending,
  old: SolanaPursuit,
): Promise<Payment> {
  const { database } = parts;
  const now = await database.now();
  if (now - payment.createdAt > TOO_OLD_MS) {
    return giveUp(parts, payment, "UNAVAILABLE", "nothing was moved: the chain did not take it for too long");
  }
  const wallet = payment.wallet === null ? undefined : await database.wallets.get(payment.wallet);
  if (!wallet) {
    return giveUp(parts, payment, "UNAVAILABLE", "nothing was moved: its wallet was removed before the chain took it");
  }
  const asset = network.assets.find(({ address }) => address === payment.asset);
  if (!asset) return payment;
  const { recipient: to, amount } = payment;
  const reference = old.reference === null ? {} : { reference: `0x${old.reference.replace(/^0x/, "")}` as const };
  const transfer = { from: wallet.address, to, asset, amount, ...reference };
  const built = await network.transfers.build(transfer, { signal: AbortSignal.timeout(STANDING_MS) });
  if (!built.ok) return built.code === "UNAVAILABLE" ? payment : giveUp(parts, payment, built.code, built.message);
  const signed = await signFor(parts, network, wallet, built.value);
  if (!signed) return payment;
  const earlier = [...(old.earlier ?? []), ...(payment.signature === null ? [] : [payment.signature])];
  // Invariant: the new bytes stand in the record before they leave, in place of the ones that cannot land any more.
  const own = await database.payments.change(payment, payment.status, {
    pursuit: { ...signed.pursuit, earlier },
    signature: signed.signature,
    dueAt: now + TAKE_OVER_MS,
  });
  return own && isSending(own) ? sendFirst(parts, network, own) : readAgain(database, payment);
}

/** It can never move anything, so what it had reserved is free again. */
async function giveUp(
  { database, logger }: SendingParts,
  payment: Sending,
  code: GatewayErrorCode,
  message: string,
): Promise<Payment> {
  const failed = await database.payments.change(payment, "failed", { error: { code, message }, dueAt: null });
  if (!failed) return readAgain(database, payment);
  logger.warn({ paymentId: payment.id, code }, "a payment can never land");
  const { pursuit } = payment;
  if (pursuit.kind === "evm") await database.nonces.done(payment.network, pursuit.sender, pursuit.nonce);
  return failed;
}
