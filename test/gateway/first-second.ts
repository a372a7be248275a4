// The memory of a new account begins with it, and what was mined before counts as perhaps used. Blocks carry whole seconds, and on
// Solana the age of one is judged with two seconds to spare: so a new account's first moments buy nothing by a public transaction.
import { vi } from "vitest";
import type { SolanaSandbox } from "../../src/testing/index.js";

/** What a receiver on Solana adds to the age of a block, and the seconds' rounding. */
const COARSE_MS = 3_000;

/** Resolves when whatever is mined from now on is younger than all that was made so far, as receivers judge it. */
export async function outliveFirstSecond(solana?: Pick<SolanaSandbox, "connection">): Promise<void> {
  const made = Date.now();
  await vi.waitUntil(() => Date.now() - made > 1_000, { timeout: 5_000 });
  if (!solana) return;
  const connection = solana.connection();
  const secondsOf = async () => (await connection.getBlockTime(await connection.getSlot("confirmed"))) ?? 0;
  const isYounger = async () => (await secondsOf()) * 1_000 > made + COARSE_MS;
  await vi.waitUntil(isYounger, { timeout: 20_000, interval: 200 });
}
