// Can this instance serve? The database must answer; Redis and the networks' nodes may be missing for a while.
import type { Redis } from "ioredis";
import type { GatewayNetwork } from "../chain.js";
import type { GatewayParts } from "../parts.js";
import { reasonOf } from "../reason.js";

const CACHE_MS = 5_000;
const TIMEOUT_MS = 3_000;

export interface Check {
  readonly name: string;
  readonly ok: boolean;
}

export interface Readiness {
  /** Each part by name, as it was within the last five seconds. Why one fails stands in the log. */
  check(): Promise<readonly Check[]>;
}

export interface ReadinessParts extends Pick<GatewayParts, "database" | "networks" | "logger" | "now"> {
  readonly redis: Redis | undefined;
}

export function createReadiness({ database, networks, redis, logger, now }: ReadinessParts): Readiness {
  let last: { readonly at: number; readonly checks: Promise<readonly Check[]> } | undefined;
  const probes: readonly (readonly [name: string, probe: () => Promise<unknown>])[] = [
    ["database", () => database.ping()],
    ...(redis ? [["redis", () => redis.ping()] as const] : []),
    ...networks.all.map((network) => [network.network.name, () => askNode(network)] as const),
  ];
  const ask = async (name: string, probe: () => Promise<unknown>): Promise<Check> => {
    try {
      await withinTime(probe());
      return { name, ok: true };
    } catch (error) {
      logger.warn({ part: name, reason: reasonOf(error) }, "a part does not answer");
      return { name, ok: false };
    }
  };
  return {
    check() {
      if (last && now() - last.at < CACHE_MS) return last.checks;
      last = { at: now(), checks: Promise.all(probes.map(([name, probe]) => ask(name, probe))) };
      return last.checks;
    },
  };
}

async function askNode({ transfers: { rpc } }: GatewayNetwork): Promise<void> {
  const deadlineAt = Date.now() + TIMEOUT_MS;
  // The chain id is asked for along with every batch.
  const reply =
    "batch" in rpc
      ? await rpc.batch([{ method: "eth_blockNumber", params: [] }], { deadlineAt })
      : await rpc.call("getSlot", [], { deadlineAt });
  if (!reply.ok) throw new Error(reply.message);
}

function withinTime<Value>(task: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no answer within ${TIMEOUT_MS} ms`)), TIMEOUT_MS);
    task.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
