// A token of this gateway's list that has no contract on the chain, as on a local one that was started bare. To ask again helps
// nobody, so the answer says what can be moved there instead.
import { readHex } from "../../chains/evm/answers.js";
import type { RpcOptions } from "../../chains/evm/rpc.js";
import type { Asset } from "../chain.js";
import type { Fault } from "../errors.js";
import type { EvmTransferChain } from "./evm-chain.js";
import { notOnChain } from "./words.js";

/** INVALID_REQUEST for `asset`, with the assets that are there. Never rejects. */
export async function noToken(chain: EvmTransferChain, missing: Asset, options: RpcOptions): Promise<Fault> {
  const others = chain.tokens.filter(({ address }) => address !== missing.address);
  const calls = others.map(({ address }) => ({ method: "eth_getCode", params: [address, "latest"] }));
  const reply = calls.length === 0 ? undefined : await chain.rpc.batch(calls, options);
  // Of one that cannot be asked for nothing is promised.
  const isThere = (_: unknown, at: number) => (readHex(reply?.ok ? reply.answers[at] : undefined) ?? "0x") !== "0x";
  return notOnChain(chain, missing, others.filter(isThere));
}
