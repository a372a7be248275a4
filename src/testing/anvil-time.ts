// Anvil's clock against this machine's. Anvil counts from a whole second that it reads before it is ready, and from the time of an
// old block once it has gone back to it: its blocks are then late for good, by seconds that no real chain loses.
import * as z from "zod/mini";
import type { Anvil } from "./anvil.js";

type Calls = Pick<Anvil, "rpc">;

const timeSchema = z.object({ timestamp: z.string() });

/** Seconds by which a block that is mined now is ahead of this machine's clock; below 0 where it is behind. */
export async function aheadBy({ rpc }: Calls): Promise<number> {
  for (;;) {
    const second = secondsNow();
    const { timestamp } = timeSchema.parse(await rpc("eth_getBlockByNumber", ["pending", false]));
    // Otherwise the answer may be of either second.
    if (secondsNow() === second) return Number(timestamp) - second;
  }
}

/** Moves the node's clock on until it is ahead by so much. One that is ahead by more stays as it is: blocks never go back. */
export async function catchUp(node: Calls, seconds: number): Promise<void> {
  const missing = seconds - (await aheadBy(node));
  if (missing > 0) await node.rpc("evm_increaseTime", [missing]);
}

const secondsNow = (): number => Math.floor(Date.now() / 1000);
