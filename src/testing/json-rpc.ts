// One call to a node of either chain, as a wallet makes it, and the waiting for what a node will know soon.
import * as z from "zod/mini";

const answerSchema = z.object({
  result: z.optional(z.unknown()),
  error: z.optional(z.object({ code: z.number(), message: z.string() })),
});

/** The result as it came. Rejects with the node's own words when the node refuses the call. */
export async function callNode(rpcUrl: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const response = await fetch(rpcUrl, { method: "POST", headers, body });
  const { result, error } = answerSchema.parse(await response.json());
  if (error) throw new Error(`${method}: ${error.message} (${error.code})`);
  return result;
}

const GIVE_UP_MS = 10_000;

/** Asks until there is an answer. Rejects with what was waited for when none comes in ten seconds. */
export async function until<Value>(what: string, ask: () => Promise<Value | undefined>): Promise<Value> {
  const giveUpAt = Date.now() + GIVE_UP_MS;
  for (;;) {
    const value = await ask();
    if (value !== undefined) return value;
    if (Date.now() > giveUpAt) throw new Error(`${what} did not come within ${GIVE_UP_MS} ms`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
