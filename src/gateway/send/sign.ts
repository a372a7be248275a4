// Signs for a hosted wallet outside of a request, where there is nobody to answer to.
import type { BuiltTransfer, GatewayNetwork, SignedTransfer } from "../chain.js";
import type { HostedWallet } from "../database/database.js";
import type { GatewayParts } from "../parts.js";
import { KeyNotOpened } from "../wallets/signers.js";

/** The signed transfer; undefined where the wallet's key cannot be opened here, which the operator reads of in the log. */
export async function signFor(
  { custody, logger }: Pick<GatewayParts, "custody" | "logger">,
  { transfers }: Pick<GatewayNetwork, "transfers">,
  wallet: HostedWallet,
  built: BuiltTransfer,
): Promise<SignedTransfer | undefined> {
  if (!custody) return undefined;
  try {
    return await transfers.sign(built, custody.signer(wallet));
  } catch (error) {
    if (!(error instanceof KeyNotOpened)) throw error;
    logger.error({ wallet: wallet.id, error: error.message }, "a hosted wallet cannot be opened");
    return undefined;
  }
}
