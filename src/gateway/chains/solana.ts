// Transfers of accounts on one Solana cluster, whoever signs them: built, signed, sent and followed over the operator's RPC.
import { createSolanaRpc } from "../../chains/solana/rpc.js";
import type { TransferChain } from "../chain.js";
import type { GatewayLogger } from "../parts.js";
import type { NetworkSettings } from "../settings.js";
import { balanceOnSolana } from "./solana-balance.js";
import { buildOnSolana } from "./solana-build.js";
import type { SolanaTransferChain } from "./solana-chain.js";
import { broadcastOnSolana, requireSolana, signOnSolana } from "./solana-signing.js";
import { standingOfId, standingOnSolana } from "./solana-standing.js";

export interface SolanaTransferOptions {
  readonly logger: Pick<GatewayLogger, "warn" | "error">;
  /** Epoch milliseconds. */
  readonly now?: () => number;
  /** For one call to a node, 3,000. */
  readonly timeoutMs?: number;
}

/**
 * Opens the transfers of a cluster. Asks nothing yet.
 *
 * @example
 * const transfers = openSolanaTransfers(settings.networks[1], { logger });
 * const built = await transfers.build({ from, to, asset, amount }, { signal });
 */
export function openSolanaTransfers(
  { network, options, assets }: Pick<NetworkSettings, "network" | "options" | "assets">,
  { logger, now = Date.now, timeoutMs }: SolanaTransferOptions,
): TransferChain {
  const urls = [options.rpcUrl].flat();
  const rpc = createSolanaRpc({ urls, network: network.id, ...(timeoutMs !== undefined && { timeoutMs }) });
  const allowed = (options.tokens ?? []).map(
    (token) => [token.address, "allow" in token ? (token.allow ?? []) : []] as const,
  );
  const chain: SolanaTransferChain = { network, tokens: assets, rpc, allowed: new Map(allowed), logger, now };
  return {
    rpc,
    build: (transfer, context) => buildOnSolana(chain, transfer, context),
    withNonce: (built) => built,
    sign: signOnSolana,
    broadcast: async (pursuit, signal) => broadcastOnSolana(chain, requireSolana(pursuit), signal),
    standing: async (pursuit, signal) => standingOnSolana(chain, requireSolana(pursuit), signal),
    standingOf: (signature, signal) => standingOfId(chain, signature, signal),
    nextNonce: async () => ({ ok: true, value: 0 }),
    balance: (address, asset, signal) => balanceOnSolana(chain, address, asset, signal),
    close: () => rpc.close(),
  };
}
