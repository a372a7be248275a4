// The `local` receiver: proofs are judged in this process and over the seller's own RPC, and settled with the seller's own
// key. Nobody else stands between buyer and seller, unless a gateway is named to build what the seller signs.
import { harmless } from "../logger.js";
import { localOverGateway } from "./local-gateway.js";
import { isOverGateway, type LocalGatewayOptions } from "./local-gateway-options.js";
import { type LocalOptions, readLocalOptions } from "./local-options.js";
import { createLocalReceiver, type LocalParts } from "./local-receiver.js";
import type { Receiver } from "./receiver.js";

export type { LocalGatewayOptions } from "./local-gateway-options.js";
export type { LocalNetworkOptions, LocalOptions, LocalSolanaOptions } from "./local-options.js";
export type { LocalParts } from "./local-receiver.js";

/** One of the two forms, never a mixture. */
export type LocalForm =
  | (LocalOptions & { readonly [Name in "gateway" | "wallet" | "rpcUrl"]?: never })
  | (LocalGatewayOptions & { readonly networks?: never });

/**
 * Verifies and settles with your own RPC and your own key. With `networks` a settler pays the network's fees and never holds
 * the money: it goes from the buyer to `payTo` directly. With `gateway` a tollgate gateway verifies too and builds each
 * transaction, and your wallet, which is `payTo`, signs it here: no key leaves.
 *
 * @throws PaywallConfigError with every problem of the options.
 * @example
 * createPaywall({ payTo, network: "base-sepolia", receive: local({ networks: { "base-sepolia": { rpcUrl, settler } } }) });
 * createPaywall({ payTo, network: "base", receive: local({ gateway: { baseUrl, apiKey }, wallet, rpcUrl }) });
 */
export function local(input: LocalForm): Receiver {
  return isOverGateway(input) ? localOverGateway(input) : localWith(input);
}

/** `local()` with networks, for a service of several processes. Throws as it does. */
export function localWith(input: LocalOptions, parts: LocalParts = {}): Receiver {
  const { options, networks } = readLocalOptions(input);
  const { timeoutMs, logger } = options;
  const entries = new Map(networks.map((one) => [one.network.id, one]));
  return createLocalReceiver(
    {
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(logger && { logger: harmless(logger) }),
      networks: [...entries.keys()],
      find: (network) => entries.get(network),
      missing: (network) => `local() has no network ${network}: add it to its networks with rpcUrl and settler`,
    },
    parts,
  );
}
