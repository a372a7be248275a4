// The gateway of the rig: a process of its own that can be killed, behind a door that loses calls and answers.
import { join } from "node:path";
import type { Sandbox } from "../../src/testing/index.js";
import { type Door, openDoor } from "../gateway/door.js";
import { createGatewayWorld } from "../gateway/world.js";
import { startNode } from "../support/process.js";
import { root } from "../support/sources.js";

export interface RigGateway {
  /** What a process of a seller needs to sell through it. */
  readonly env: Readonly<Record<"GATEWAY_URL" | "GATEWAY_KEY", string>>;
  readonly door: Door;
  /** Kills it, and starts it again on the same database. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** @param rpcUrl by which it sees the chain of the sandbox */
export async function startRigGateway({ settlerKey }: Sandbox, rpcUrl: string): Promise<RigGateway> {
  const networks = { "base-sepolia": { rpcUrl, settler: settlerKey, settleMs: 8_000 } };
  // Makes the key; the process serves.
  const world = await createGatewayWorld({ watch: false, options: { networks } });
  const GATEWAY_KEY = await world.newKey({ scopes: ["receive"] });
  const start = () =>
    startNode([join(root, "test/gateway/dying-gateway.mjs")], { GATEWAY_OPTIONS: JSON.stringify(world.options) });
  let running = await start();
  const door = await openDoor(running.firstLine);
  return {
    env: { GATEWAY_URL: door.url, GATEWAY_KEY },
    door,
    async restart() {
      await running.kill();
      running = await start();
      door.target = running.firstLine;
    },
    async close() {
      await door.shut();
      await running.kill();
      await world.close();
    },
  };
}
