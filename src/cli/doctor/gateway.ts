// A gateway's doctor: its settings against its database, its nodes, its tokens on each chain, the settlers' gas and its Redis.
import type { Environment } from "../../environment.js";
import { assetsOf, toLocal } from "../../gateway/networks.js";
import { gatewayWarnings } from "../../gateway/options.js";
import type { GatewaySettings, NetworkSettings } from "../../gateway/settings.js";
import { silentLogger } from "../../logger.js";
import { localWith } from "../../receive/local.js";
import type { Receiver } from "../../receive/receiver.js";
import { NATIVE, type Requirement } from "../../requirement.js";
import { checkDatabase } from "./gateway-database.js";
import { checkNodes } from "./nodes.js";
import { checkReceiver } from "./receiver-checks.js";
import { type Row, withoutTwins } from "./rows.js";
import { checkPublicUrl, checkRedis } from "./surroundings.js";

/** @throws PaywallConfigError where a package is missing. */
export async function checkGateway(settings: GatewaySettings, env: Environment): Promise<Row[]> {
  const { networks, redisUrl, publicUrl } = settings;
  const [database, chains, redis] = await Promise.all([
    checkDatabase(settings),
    Promise.all(networks.map(checkNetwork)),
    redisUrl === undefined ? undefined : checkRedis(redisUrl, "Redis", false),
  ]);
  const warnings = gatewayWarnings(settings, env).filter((sentence) => !/over http:/.test(sentence));
  return withoutTwins([
    ...database,
    ...chains.flat(),
    ...(redis ? [redis] : []),
    checkPublicUrl(publicUrl, "TOLLGATE_PUBLIC_URL", "right where callers reach it on this machine only"),
    ...warnings.map((found): Row => ({ part: "settings", check: "worth knowing", state: "note", found })),
  ]);
}

async function checkNetwork(one: NetworkSettings): Promise<Row[]> {
  const { network, options, settler } = one;
  const nodes = await checkNodes(network, [options.rpcUrl].flat());
  // Another chain has other tokens, and nobody has told what a node that does not answer knows.
  if (!nodes.some(({ state, check }) => check.startsWith("node ") && state === "ok")) return nodes;
  const receiver = localWith({ networks: { [network.id]: toLocal(one) }, logger: silentLogger });
  try {
    const rows = (await Promise.all(requirementsOf(one, receiver).map((each) => checkReceiver(receiver, each)))).flat();
    const own = rows.filter(
      ({ check, state }) =>
        !isAboutPayee(check) &&
        !(isAboutSettler(check) && settler === undefined) &&
        !(check === "chain id" && state === "ok"),
    );
    return settler === undefined ? [...nodes, ...own, noSettler(one)] : [...nodes, ...own];
  } finally {
    await receiver.close();
  }
}

/** Whom callers let be paid is theirs to say; the checks want an address all the same. */
const isAboutPayee = (check: string): boolean => /payTo|^price$/.test(check);
const isAboutSettler = (check: string): boolean => /of the settler$|^fee payer$/.test(check);

const noSettler = ({ network }: NetworkSettings): Row => ({
  ...{ part: network.name, check: "settler", state: "note" },
  found: "none: only payments that buyers send to the chain themselves are taken",
  remedy: `Set TOLLGATE_SETTLER_KEY_${network.family.toUpperCase()} to a key that pays for settlements.`,
});

/** One for each token that the gateway may move, as a seller would ask for it. */
function requirementsOf(one: NetworkSettings, receiver: Receiver): Requirement[] {
  const { network } = one;
  const common = { scheme: "exact", network: network.id, amount: 1n, maxTimeoutSeconds: 60 } as const;
  const feePayer = receiver.feePayer?.(network.id) ?? "";
  return assetsOf(one).flatMap(({ address, decimals, domain, tokenProgram }): Requirement[] => {
    if (address === NATIVE) return [];
    if (network.family === "solana") {
      const extra = { feePayer, decimals, ...(tokenProgram !== undefined && { tokenProgram }) };
      return [{ ...common, method: "spl", asset: address, payTo: feePayer, extra }];
    }
    const own = { ...common, asset: address, payTo: `0x${"1".repeat(40)}` };
    if (domain) return [{ ...own, method: "eip3009", extra: domain }];
    const extra = { assetTransferMethod: "transaction", paymentFlow: "upfront" } as const;
    return [{ ...own, method: "transaction", extra, confirmations: 1 }];
  });
}
