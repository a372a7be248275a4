// How long a payment takes to be confirmed, in words.
import type { GatewayNetwork } from "../chain.js";

/**
 * From the chain's block time and the blocks that confirm: at best, and after a block that was just missed.
 *
 * @example estimatedConfirmation(baseSepolia) // "2-5 seconds"
 */
export function estimatedConfirmation({
  network,
  confirmations,
}: Pick<GatewayNetwork, "network" | "confirmations">): string {
  // On Solana the commitment `confirmed` decides, which takes a vote or two.
  const blocks = network.family === "evm" ? confirmations : 1;
  const least = Math.max(1, Math.ceil((network.blockMs * blocks) / 1000));
  const most = 2 * least + 1;
  if (most < 120) return `${least}-${most} seconds`;
  return `${Math.floor(least / 60)}-${Math.ceil(most / 60)} minutes`;
}
