// Which receiver serves a paywall whose options name none: the one of the environment, or the public test facilitator
// where only test networks are used. On a main network nothing is chosen silently.
import type { Problems } from "./config-problems.js";
import {
  type Environment,
  KEY_NAMES,
  RPC_PREFIX,
  receiveWayOf,
  rpcUrlsOf,
  type SettlerKeys,
  WAYS,
} from "./environment.js";
import { PaywallConfigError } from "./errors.js";
import { environmentName, findNetwork, type Network } from "./networks.js";
import { DEFAULT_TEST_FACILITATOR, facilitator } from "./receive/facilitator.js";
import { hosted } from "./receive/hosted.js";
import { local } from "./receive/local.js";
import type { Receiver } from "./receive/receiver.js";
import type { Logger } from "./settings.js";

export interface ChosenReceiver {
  readonly receiver: Receiver;
  /** Said once at start. */
  readonly notice?: string;
  /** The public test facilitator: no main network may be added later. */
  readonly testNetworksOnly?: true;
}

/** Chooses for all networks that the routes ask for; undefined where a problem was added. */
export function chooseReceiver(
  env: Environment,
  networks: readonly Network[],
  logger: Logger,
  problems: Problems,
): ChosenReceiver | undefined {
  const way = receiveWayOf(env, problems);
  const before = problems.count;
  const urls = rpcUrlsOf(env, problems);
  if (way === "problem" || problems.count > before) return undefined;
  if (way === undefined) return chooseTestFacilitator(networks, logger, problems);
  if (way.way === "gateway") {
    const { baseUrl, apiKey } = way;
    return create("TOLLGATE_GATEWAY_URL", problems, () => hosted({ baseUrl, apiKey, logger }));
  }
  if (way.way === "facilitator") {
    // With a node of the seller's own, a settlement whose answer was lost can be looked up.
    const rpcUrl = Object.fromEntries([...urls].map(([id, { url }]) => [id, url]));
    const options = urls.size > 0 ? { url: way.url, rpcUrl, logger } : { url: way.url, logger };
    return create("TOLLGATE_FACILITATOR_URL", problems, () => facilitator(options));
  }
  return chooseLocal(way.settlers, urls, networks, logger, problems);
}

type RpcUrls = ReturnType<typeof rpcUrlsOf>;

/** Every network that the routes ask for needs its RPC URL and the key of its family. */
function chooseLocal(
  settlers: SettlerKeys,
  urls: RpcUrls,
  networks: readonly Network[],
  logger: Logger,
  problems: Problems,
): ChosenReceiver | undefined {
  const before = problems.count;
  const named = [...urls].flatMap(([id, { name }]) => ({ network: findNetwork(id), id, name }));
  const missing = networks.filter(({ id }) => !urls.has(id)).map((network) => RPC_PREFIX + environmentName(network)[0]);
  const idle = named.filter(({ id }) => !networks.some((network) => network.id === id)).map(({ name }) => name);
  const unused = missing.length > 0 && idle.length > 0 ? ` (${idle.join(", ")} is set, but no route asks for it)` : "";
  for (const name of missing)
    problems.add(name, "required", `a settler key receives over your own node: set ${name} to its URL${unused}`);
  // Where the routes could not be read, the URLs say what is wanted.
  const asked = networks.length > 0 ? networks : named.flatMap(({ network }) => network ?? []);
  for (const family of ["evm", "solana"] as const) {
    const own = asked.filter((network) => network.family === family).map(({ name }) => name);
    if (own.length === 0 || settlers[family] !== undefined) continue;
    problems.add(
      KEY_NAMES[family],
      "required",
      `there is no key to settle with on ${own.join(", ")}: set it to ${FORMS[family]}`,
    );
  }
  const [first] = named;
  if (problems.count > before || !first) return undefined;
  const entries = named.flatMap(({ network, id }) => {
    const settler = network && settlers[network.family];
    const rpcUrl = urls.get(id)?.url;
    // A URL of the other family may stand there for something else.
    return settler === undefined || rpcUrl === undefined ? [] : [[id, { rpcUrl, settler }] as const];
  });
  return create(first.name, problems, () => local({ networks: Object.fromEntries(entries), logger }));
}

const FORMS = {
  evm: "0x and 64 hex digits",
  solana: "a secret key in base58, or a 32-byte seed as 64 hex digits",
} as const;

/** Words for main networks without a receiver. */
export const nothingReceivesOn = (networks: readonly string[]): string =>
  `nothing receives on ${networks.join(", ")}, and main networks have no default: ${WAYS}`;

function chooseTestFacilitator(
  networks: readonly Network[],
  logger: Logger,
  problems: Problems,
): ChosenReceiver | undefined {
  const main = networks.filter(({ testnet }) => !testnet).map(({ name }) => name);
  if (main.length > 0) {
    problems.add("receive", "required", nothingReceivesOn(main));
    return undefined;
  }
  const names = networks.map(({ name }) => name).join(", ");
  const notice = `no receiver is configured: payments on ${names || "test networks"} go through the public test facilitator ${DEFAULT_TEST_FACILITATOR}`;
  const receiver = facilitator({ url: DEFAULT_TEST_FACILITATOR, logger });
  return { receiver, notice, testNetworksOnly: true };
}

/** A receiver made of environment values: what it refuses is reported under the name of the value. */
function create(name: string, problems: Problems, make: () => Receiver): ChosenReceiver | undefined {
  try {
    return { receiver: make() };
  } catch (error) {
    if (!(error instanceof PaywallConfigError)) throw error;
    problems.adopt(name, error);
    return undefined;
  }
}
