// A nonce that was given back while later ones of its wallet are under way blocks them all. If no payment takes it, an empty
// transfer of the wallet to itself fills it.
import type { GatewayNetwork } from "../chain.js";
import type { HostedWallet } from "../database/database.js";
import type { GatewayParts } from "../parts.js";
import type { Payment } from "../payment.js";
import { signFor } from "./sign.js";

type GapParts = Pick<GatewayParts, "database" | "custody" | "logger">;

const FILL_MS = 10_000;
/** More at once would be another fault. */
const MOST = 16;

/** Fills what is free and waited for before the wallet's later payments. Costs one read where nothing is. */
export async function fillGaps(
  parts: GapParts,
  network: GatewayNetwork,
  payment: Pick<Payment, "wallet" | "sender">,
): Promise<void> {
  const { database, custody, logger } = parts;
  if (network.network.family !== "evm" || payment.sender === null || payment.wallet === null || !custody) return;
  const { id } = network.network;
  const gaps = await database.nonces.gaps(id, payment.sender);
  if (gaps.length === 0) return;
  const wallet = await database.wallets.get(payment.wallet);
  if (!wallet) return;
  const signal = AbortSignal.timeout(FILL_MS);
  for (let tries = 0; tries < MOST; tries++) {
    const next = await network.transfers.nextNonce(wallet.address, signal);
    if (!next.ok) return;
    // Whoever takes it is the only one who has it: a payment that comes now gets another one.
    const nonce = await database.nonces.take(id, wallet.address, next.value);
    // One after all gaps: they have been filled meanwhile.
    if (nonce > Math.max(...gaps)) return database.nonces.giveBack(id, wallet.address, nonce);
    // Of a payment that lies still: taken again, so that nobody else gets it before that is sent.
    if (!gaps.includes(nonce)) continue;
    const filled = await fill(parts, network, wallet, nonce, signal);
    logger.info({ wallet: wallet.id, network: id, nonce, filled }, "an account nonce that nothing used was filled");
    if (!filled) return database.nonces.giveBack(id, wallet.address, nonce);
  }
}

/** True = a node has it, or may have it. */
async function fill(
  parts: GapParts,
  network: GatewayNetwork,
  wallet: HostedWallet,
  nonce: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { transfers, assets } = network;
  const nothing = { from: wallet.address, to: wallet.address, asset: assets[0], amount: 0n };
  const built = await transfers.build(nothing, { nonce, signal });
  if (!built.ok) {
    const facts = { wallet: wallet.id, nonce, problem: built.message };
    parts.logger.warn(facts, "an account nonce that later payments wait for stays free");
    return false;
  }
  const signed = await signFor(parts, network, wallet, built.value);
  if (!signed) return false;
  return (await transfers.broadcast(signed.pursuit, signal)).outcome !== "refused";
}
