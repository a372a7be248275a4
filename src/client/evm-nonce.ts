// The account nonce of the next payment. Sellers take the account's very next transaction only, with none before it that waits
// for its block; so this waits a little until the chain shows that.
import { readQuantity } from "../chains/evm/answers.js";
import { lower } from "../chains/evm/chain.js";
import type { Rpc } from "../chains/evm/rpc.js";
import { type Unsigned, unsigned } from "./unsigned.js";
import { wait } from "./wait.js";

/** A nonce that was signed before, and when its call ended. */
export interface LastNonce {
  readonly nonce: number;
  /** Epoch milliseconds. */
  readonly endedAt: number;
}

/** How long a node may be behind the one that a seller asks. A payment that nobody has sent costs the next one so much. */
const LAG_MS = 3_000;
/** Earlier transactions of the account may wait for their block so long. */
const PATIENCE_MS = 30_000;
const PAUSE_MS = 250;

export type NextNonce = { readonly ok: true; readonly nonce: number } | Unsigned;

/** Asks the node until the answer can be built upon. Rejects with the signal's reason only. */
export async function nextNonce(
  rpc: Rpc,
  address: string,
  last: LastNonce | undefined,
  { until, signal }: { readonly until: number; readonly signal: AbortSignal | undefined },
): Promise<NextNonce> {
  const giveUpAt = Math.min(until, Date.now() + PATIENCE_MS);
  const calls = ["latest", "pending"].map((tag) => ({
    method: "eth_getTransactionCount",
    params: [lower(address), tag],
  }));
  for (;;) {
    const reply = await rpc.batch(calls, { ...(signal && { signal }) });
    signal?.throwIfAborted();
    if (!reply.ok) return unsigned(reply.message);
    const [latest, pending] = reply.answers.map(readQuantity);
    if (latest === undefined || pending === undefined) return unsigned("the chain gave no readable account nonce");
    const waiting = pending - latest;
    // The node counts what was paid just now as if it had not been: either nobody has sent it, or the node is behind.
    const isBehind = last !== undefined && pending === BigInt(last.nonce) && Date.now() < last.endedAt + LAG_MS;
    if (waiting <= 0n && !isBehind) return { ok: true, nonce: Number(pending) };
    if (waiting > 0n && Date.now() >= giveUpAt) {
      const what = waiting === 1n ? "an earlier transaction waits" : `${waiting} earlier transactions wait`;
      return unsigned(`${what} for a block: speed it up or cancel it, sellers take the account's next one only`);
    }
    await wait(PAUSE_MS, signal);
  }
}
