// Opens every network that a gateway serves: one receiver for all of them, and the transfers of each. What may be moved is what
// the settings list, and nothing else.
import { findNetwork, type Network, tokenByAddress } from "../networks.js";
import { localWith } from "../receive/local.js";
import type { LocalOptions } from "../receive/local-schema.js";
import { NATIVE } from "../requirement.js";
import type { Logger } from "../settings.js";
import type { Asset, GatewayNetwork, TransferChain } from "./chain.js";
import { openEvmTransfers } from "./chains/evm.js";
import { openSolanaTransfers } from "./chains/solana.js";
import { createThrowAwayKey, sponsoredOn } from "./chains/sponsor.js";
import type { GatewayDatabase } from "./database/database.js";
import type { GatewayLogger, GatewayNetworks } from "./parts.js";
import type { GatewaySettings, NetworkSettings } from "./settings.js";

export interface NetworkParts {
  /** Hands out the settlers' account nonces, so that every process of this gateway may settle with the same keys. */
  readonly database: Pick<GatewayDatabase, "nonces">;
  readonly logger: GatewayLogger;
  /** Milliseconds that a node has for an answer; absent = that of the chains. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Opens the networks of the settings. Asks no chain anything. Rejects with a PaywallConfigError where the settings of a network
 * are none that `local()` takes.
 */
export async function openNetworks(
  { networks }: Pick<GatewaySettings, "networks">,
  { database, logger, timeoutMs }: NetworkParts,
): Promise<GatewayNetworks> {
  const within = timeoutMs === undefined ? {} : { timeoutMs };
  const options: LocalOptions = {
    networks: Object.fromEntries(networks.map((one) => [one.network.id, toLocal(one)])),
    logger: toLogger(logger),
    ...within,
  };
  const sponsoring = new Set(networks.filter(({ settler }) => hasSettler(settler)).map(({ network }) => network.id));
  const receiver = sponsoredOn(sponsoring, localWith(options, { nonces: database.nonces }));
  const all = networks.map(
    (one): GatewayNetwork => ({
      network: one.network,
      confirmations: one.confirmations,
      sponsors: sponsoring.has(one.network.id),
      assets: assetsOf(one),
      receiver,
      transfers: openTransfers(one, { logger, ...within }),
    }),
  );
  const byId = new Map(all.map((one) => [one.network.id, one]));
  const isDefault = new Set(networks.filter((one) => one.isDefault).map(({ network }) => network.id));
  return {
    all,
    find: (name) => byId.get(findNetwork(name)?.id ?? name),
    defaultFor: (family, mode) =>
      all.find(
        ({ network }) =>
          network.family === family && network.testnet === (mode === "test") && isDefault.has(network.id),
      ),
    async close() {
      for (const { transfers } of all) transfers.close();
      await receiver.close();
    },
  };
}

function openTransfers(one: NetworkSettings, parts: { logger: GatewayLogger; timeoutMs?: number }): TransferChain {
  return one.network.family === "evm" ? openEvmTransfers(one, parts) : openSolanaTransfers(one, parts);
}

const hasSettler = (settler: NetworkSettings["settler"]): boolean =>
  settler !== undefined && (!Array.isArray(settler) || settler.length > 0);

/** The entry of `local()`, which wants a settler even where nothing is settled at our cost. */
export function toLocal({ network, options, settler, assets }: NetworkSettings): LocalOptions["networks"][string] {
  const key = hasSettler(settler) ? settler : createThrowAwayKey(network.family);
  const entry = { ...options, settler: key } as LocalOptions["networks"][string];
  if (network.family !== "evm") return entry;
  const known = "tokens" in options ? (options.tokens ?? []) : [];
  // For the start-up check of their decimals.
  const listed = assets.map(({ address, decimals }) => ({ address, decimals }));
  return { ...entry, tokens: [...known, ...listed] } as LocalOptions["networks"][string];
}

/** The native currency, which is nobody's to sponsor, and then what the settings list. */
export const assetsOf = ({ network, assets }: NetworkSettings): readonly [Asset, ...Asset[]] => [
  { address: NATIVE, symbol: network.native.symbol, decimals: network.native.decimals, minimum: 0n },
  ...assets.map((asset) => toAsset(network, asset)),
];

/** What the built-in table knows of a token fills in what its entry leaves out. */
function toAsset(network: Network, { domain, tokenProgram, ...asset }: Asset): Asset {
  const token = tokenByAddress(network, asset.address);
  const signed = domain ?? (token?.transferMethod === "eip3009" ? token.domain : undefined);
  const program = tokenProgram ?? token?.tokenProgram;
  return {
    ...asset,
    ...(signed && { domain: signed }),
    ...(program !== undefined && { tokenProgram: program }),
  };
}

/** The receiver's logger says first what has happened, a gateway's first the facts. */
const toLogger = (logger: GatewayLogger): Logger => ({
  debug: (message, facts = {}) => logger.debug(facts, message),
  info: (message, facts = {}) => logger.info(facts, message),
  warn: (message, facts = {}) => logger.warn(facts, message),
  error: (message, facts = {}) => logger.error(facts, message),
});
