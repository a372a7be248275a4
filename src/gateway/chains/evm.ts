// Transfers of accounts on one EVM chain: built, signed by whoever holds the key, sent, and followed to their end.
import { readQuantity, readWord } from "../../chains/evm/answers.js";
import { balanceOf } from "../../chains/evm/calldata.js";
import { lower, systemNow } from "../../chains/evm/chain.js";
import { createRpc, type RpcAnswer, type RpcCall } from "../../chains/evm/rpc.js";
import { isNobody } from "../../chains/evm/transfer-market.js";
import { NATIVE } from "../../requirement.js";
import type { Asset, TransferChain } from "../chain.js";
import type { Outcome } from "../errors.js";
import type { GatewayLogger } from "../parts.js";
import type { NetworkSettings } from "../settings.js";
import { broadcastTransfer } from "./evm-broadcast.js";
import { buildTransfer, numberAnew, requireEvm, signTransfer } from "./evm-build.js";
import { createScans, type EvmTransferChain, unreachable } from "./evm-chain.js";
import { standingOfHash, standingOfPursuit } from "./evm-standing.js";
import { noToken } from "./evm-token.js";

export interface EvmTransferParts {
  readonly logger: Pick<GatewayLogger, "warn" | "error">;
  /** Epoch milliseconds; absent = this machine's clock. */
  readonly now?: () => number;
  /** Milliseconds for one call to a node, 3,000. */
  readonly timeoutMs?: number;
}

type TransferSettings = Pick<NetworkSettings, "network" | "options" | "confirmations" | "assets">;

/**
 * Opens the transfers of one EVM network. Asks the chain nothing.
 *
 * @example
 * const transfers = openEvmTransfers(settings.networks[0], { logger });
 * const built = await transfers.build({ from, to, asset, amount }, { signal });
 */
export function openEvmTransfers(one: TransferSettings, parts: EvmTransferParts): TransferChain {
  const chain = createChain(one, parts);
  return {
    rpc: chain.rpc,
    build: (transfer, options) => buildTransfer(chain, transfer, options),
    withNonce: numberAnew,
    sign: signTransfer,
    broadcast: (signed, signal) => broadcastTransfer(chain, requireEvm(signed), signal),
    standing: (pursuit, signal) => standingOfPursuit(chain, requireEvm(pursuit), { signal }),
    standingOf: (signature, signal) => standingOfHash(chain, signature, { signal }),
    async nextNonce(address, signal) {
      const call = { method: "eth_getTransactionCount", params: [address, "pending"] };
      const count = await ask(chain, call, "nonce", readQuantity, signal);
      return count.ok ? { ok: true, value: Number(count.value) } : count;
    },
    balance(address, asset, signal) {
      if (asset.address !== NATIVE) return tokenBalance(chain, address, asset, signal);
      return ask(chain, { method: "eth_getBalance", params: [address, "latest"] }, "balance", readQuantity, signal);
    },
    close: () => chain.rpc.close(),
  };
}

function createChain(
  { network, options, confirmations, assets }: TransferSettings,
  parts: EvmTransferParts,
): EvmTransferChain {
  const { logger, now = systemNow, timeoutMs } = parts;
  const chainId = Number(network.id.slice("eip155:".length));
  const urls = [options.rpcUrl].flat();
  const rpc = createRpc({ urls, chainId, ...(timeoutMs !== undefined && { timeoutMs }) });
  return {
    network,
    tokens: assets,
    chainId,
    blockMs: ("blockMs" in options ? options.blockMs : undefined) ?? network.blockMs,
    rpc,
    each: rpc.each,
    confirmations,
    maxFeePerGas: "maxFeePerGas" in options ? options.maxFeePerGas : undefined,
    finality: { hasTag: false },
    scans: createScans(),
    logger,
    now,
  };
}

async function tokenBalance(
  chain: EvmTransferChain,
  owner: string,
  asset: Asset,
  signal: AbortSignal,
): Promise<Outcome<bigint>> {
  const params = [{ to: lower(asset.address), data: balanceOf(owner) }, "latest"];
  const read = (answer: RpcAnswer | undefined) => (isNobody(answer) ? ("missing" as const) : readWord(answer));
  const held = await ask(chain, { method: "eth_call", params }, "balance", read, signal);
  if (!held.ok) return held;
  return held.value === "missing" ? noToken(chain, asset, { signal }) : { ok: true, value: held.value };
}

async function ask<Value>(
  chain: EvmTransferChain,
  call: RpcCall,
  what: string,
  read: (answer: RpcAnswer | undefined) => Value | undefined,
  signal: AbortSignal,
): Promise<Outcome<Value>> {
  const reply = await chain.rpc.batch([call], { signal });
  if (!reply.ok) return unreachable(chain, reply);
  const value = read(reply.answers[0]);
  if (value !== undefined) return { ok: true, value };
  return unreachable(chain, { code: "receiver_bad_response", message: `the chain gave no readable ${what}` });
}
