// The whole world of a randomized run: a chain, a node and a facilitator that can be told to fail, a store behind a wire that can be
// cut, a gateway, and six processes of a seller: three settle by themselves, one by the facilitator, one by whichever of both can, and
// one by the gateway.
import { createSandbox } from "../../src/testing/index.js";
import { startPostgres } from "../support/postgres.js";
import { answer, startScriptedFacilitator } from "../support/scripted-facilitator.js";
import { startScriptedRpc } from "../support/scripted-rpc.js";
import { settleOnChain } from "../support/settle-on-chain.js";
import { startRigGateway } from "./gateway.js";
import type { Roll, Stage } from "./mishaps.js";
import { openShop, type Process, startDurableRedis } from "./shop.js";
import { openWire } from "./wire.js";

export interface OpenStage extends Stage {
  /** Of any process that is not dead. */
  anyUrl(roll: Roll): string;
  /** The URL of each process that there ever was, and how it was started. */
  kinds(): Readonly<Record<string, object>>;
  /** Everything works from now on. */
  heal(): void;
  close(): Promise<void>;
}

/** Seconds that a payment may live: longer than the clocks of the processes are off. */
export const LIFE_S = 1_800;
const CLOCK = ["--import", new URL("./clock.mjs", import.meta.url).href];

export async function openStage(kind: "redis" | "postgres"): Promise<OpenStage> {
  // Three blocks are taken back in a run: none of them may be final by then, for what is final nobody looks at again.
  const sandbox = await createSandbox({ blockTimeMs: 1_000, slotsInEpoch: 2 });
  const [rpc, facilitator, store] = await Promise.all([
    startScriptedRpc(sandbox.rpcUrl),
    startScriptedFacilitator({ settle: settleOnChain(sandbox) }),
    kind === "redis" ? startDurableRedis() : startPostgres(),
  ]);
  const [wire, gateway] = await Promise.all([openWire(store.url), startRigGateway(sandbox, rpc.url)]);
  const shop = await openShop(sandbox, wire, {
    RPC_URL: rpc.url,
    LEASE_MS: "1500",
    SETTLE_MS: "8000",
    HANDLER_TIMEOUT_MS: "3000",
    STORE_TIMEOUT_MS: "3000",
    MAX_TIMEOUT: String(2 * LIFE_S),
    UNCHARGED_RUNS: "100",
  });
  /** How each process was started, so that another one can take its place. */
  const kinds = new Map<Process, Record<string, string>>();
  const started: Record<string, object> = {};
  const busy = new Set<Process>();
  const servers = { store, gateway };
  const idle = new Set<unknown>(Object.values(servers));
  const start = async (env: Record<string, string>) => {
    const process = await shop.open(env, CLOCK);
    kinds.set(process, env);
    started[process.url] = env;
  };
  await start({ FRAMEWORK: "express" });
  await start({ FRAMEWORK: "hono" });
  await start({ FRAMEWORK: "express" });
  await start({ FRAMEWORK: "hono", FACILITATOR_URL: facilitator.url });
  await start({ FRAMEWORK: "express", SECOND_URL: facilitator.url });
  await start({ FRAMEWORK: "hono", ...gateway.env });
  const pick = <Item>(items: readonly Item[], roll: Roll): Item | undefined => items[roll(Math.max(1, items.length))];

  return {
    ...{ shop, rpc, facilitator, wire },
    anyUrl: (roll) => pick([...kinds.keys()], roll)?.url ?? "",
    kinds: () => started,
    borrow(roll) {
      const process = pick(
        [...kinds.keys()].filter((one) => !busy.has(one)),
        roll,
      );
      if (process) busy.add(process);
      return process;
    },
    giveBack: (process) => void busy.delete(process),
    borrowOne: (name) => (idle.delete(servers[name]) ? servers[name] : undefined),
    giveBackOne: (name) => void idle.add(servers[name]),
    async replace(process) {
      const env = kinds.get(process) ?? {};
      kinds.delete(process);
      await start({ ...env, WAITS_READY: "no" });
    },
    heal() {
      rpc.clear();
      wire.mend();
      for (const endpoint of ["verify", "settle"] as const) facilitator.always(endpoint, answer.honest());
    },
    async close() {
      await shop.close();
      await Promise.all([gateway.close(), wire.close(), rpc.close(), facilitator.close(), store.stop()]);
      await sandbox.close();
    },
  };
}
