// What a token that is in no table says of itself, by the caller's own node: its decimals, and on Solana its program.
import { readWord } from "../chains/evm/answers.js";
import { DECIMALS } from "../chains/evm/calldata.js";
import { lower } from "../chains/evm/chain.js";
import { LocalTransactionError } from "./local-error.js";
import type { EvmNode, SolanaNode } from "./local-node.js";
import type { ReadToken } from "./local-order.js";
import { mintOf } from "./solana-mint.js";

export const readTokenOf =
  (node: EvmNode | SolanaNode, signal: AbortSignal | undefined): ReadToken =>
  async (address) => {
    const options = signal ? { signal } : {};
    if (node.family === "solana") {
      const mint = await mintOf(node.rpc, { asset: address, token: undefined, network: node.network }, options);
      if (!mint.ok) {
        if ("code" in mint) throw new LocalTransactionError("node_failed", mint.message);
        throw new LocalTransactionError("order_invalid", `asset: ${mint.message}`);
      }
      return { decimals: mint.decimals, tokenProgram: mint.tokenProgram };
    }
    const call = { method: "eth_call", params: [{ to: lower(address), data: DECIMALS }, "latest"] };
    const reply = await node.rpc.batch([call], options);
    const decimals = reply.ok ? readWord(reply.answers[0]) : undefined;
    if (decimals !== undefined && decimals <= 77n) return { decimals: Number(decimals) };
    const detail = reply.ok
      ? `asset: ${address} tells no decimals: is it a token on ${node.network.name}?`
      : reply.message;
    throw new LocalTransactionError(reply.ok ? "order_invalid" : "node_failed", detail);
  };
