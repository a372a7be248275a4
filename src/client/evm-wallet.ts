// `evmWallet()`: pays on EVM chains with one account. Tokens with EIP-3009 by a signature that needs no node and no gas; native
// currency and other tokens by the account's own transaction, which the seller sends. Nothing here sends anything.
import * as z from "zod/mini";
import { readQuantity, readWord } from "../chains/evm/answers.js";
import { balanceOf } from "../chains/evm/calldata.js";
import { lower } from "../chains/evm/chain.js";
import { createRpc, type Rpc } from "../chains/evm/rpc.js";
import { createProblems } from "../config-problems.js";
import { checksumAddress, type Network } from "../networks.js";
import { listOf, maxFeePerGas } from "../receive/local-schema.js";
import { NATIVE } from "../requirement.js";
import { type EvmAccount, type EvmWalletClient, readEvmAccount } from "./evm-account.js";
import { domainOf, signAuthorization } from "./evm-authorization.js";
import { feeBoundOf, readFeeBounds } from "./evm-fee.js";
import { createEvmTransfers, type EvmTransfers } from "./evm-transfer.js";
import type { Offer } from "./offer.js";
import { unsigned } from "./unsigned.js";
import type { Wallet } from "./wallet.js";
import {
  createWalletNodes,
  NODE_TIMEOUT_MS,
  type NodeOptions,
  nodeMembers,
  readWalletOptions,
} from "./wallet-nodes.js";

export interface EvmWalletOptions extends NodeOptions {
  /**
   * The most that the gas of one own transaction may cost, in the chain's own currency: `"0.0005 ETH"`, or a list of such.
   * A budget counts what sellers get, never the gas. By default 0.0005 ETH, 1 POL and 0.05 AVAX; on a chain with another
   * currency no own transaction is made before this names it (`native` is that of a chain beyond the table).
   */
  readonly maxFee?: string | string[] | undefined;
  /** Wei for one unit of gas, 1,000 gwei. */
  readonly maxFeePerGas?: bigint | undefined;
}

const schema = z.strictObject({
  ...nodeMembers,
  maxFee: z.optional(listOf(z.string('expected text such as "0.0005 ETH"'), "amount")),
  maxFeePerGas,
});

/** One chain as the account uses it. */
interface Opened {
  readonly rpc: Rpc;
  sign: EvmTransfers["sign"];
}

/**
 * A wallet of one EVM account: a viem account, a viem wallet client, or an object of either form.
 *
 * Own transactions (native currency, tokens without EIP-3009) need a node, take turns on each chain, and cost gas beside the
 * price. Such a transaction is good until another one of the account has used its nonce: no earlier end can be signed.
 *
 * @throws PaywallConfigError with every problem; no message holds a key.
 * @example
 * const wallet = evmWallet(privateKeyToAccount(key), { rpcUrls: { base: "https://…" }, maxFee: "0.0002 ETH" });
 */
export function evmWallet(account: EvmAccount | EvmWalletClient, options: EvmWalletOptions = {}): Wallet {
  const problems = createProblems("wallet");
  const signer = readEvmAccount(account, problems);
  const read = readWalletOptions("evmWallet", schema, options, problems);
  const bounds = readFeeBounds(read?.maxFee, problems);
  problems.throwIfAny();
  if (!signer || !read) throw new TypeError("what cannot be read is a problem");

  const nodes = createWalletNodes<Opened>("evmWallet", read, (network, urls, wrong) => {
    const chain = { ...network, chainId: chainIdOf(network) };
    const rpc = watched(createRpc({ urls, chainId: chain.chainId, timeoutMs: NODE_TIMEOUT_MS }), wrong);
    const cap = read.maxFeePerGas;
    const transfers = createEvmTransfers({ network: chain, node: urls[0] ?? "", rpc, signer, maxFeePerGas: cap });
    return { rpc, sign: transfers.sign };
  });

  /** Whether the account can make the transaction of this offer, or what is missing. */
  const takesTransaction = ({ network }: Offer): true | string => {
    if (!signer.signTransaction) {
      return "the account signs no transactions: give evmWallet() an account with signTransaction";
    }
    const bound = feeBoundOf(bounds, network);
    if (typeof bound === "string") return bound;
    const node = nodes.of(network);
    return typeof node === "string" ? node : true;
  };
  const takes = (offer: Offer): true | string => {
    const { network, method, asset } = offer;
    if (network.family !== "evm") return `an EVM account cannot pay on ${network.name}`;
    if (method === "eip3009") return domainOf(offer) ? true : `nobody names the EIP-712 domain of ${asset}`;
    return method === "transaction" ? takesTransaction(offer) : `an EVM account cannot pay by ${method}`;
  };

  return {
    address: checksumAddress(signer.address),
    takes,
    async balance({ network, asset }, signal) {
      const node = network.family === "evm" ? nodes.of(network) : "";
      if (typeof node === "string") return undefined;
      const holder = lower(signer.address);
      const call =
        asset === NATIVE
          ? { method: "eth_getBalance", params: [holder, "latest"] }
          : { method: "eth_call", params: [{ to: lower(asset), data: balanceOf(holder) }, "latest"] };
      const reply = await node.rpc.batch([call], { ...(signal && { signal }) });
      const answer = reply.ok ? reply.answers[0] : undefined;
      return asset === NATIVE ? readQuantity(answer) : readWord(answer);
    },
    async sign(offer, request) {
      request.signal?.throwIfAborted();
      const taken = takes(offer);
      if (taken !== true) return unsigned(taken);
      if (offer.method === "eip3009") return signAuthorization(signer, offer, request);
      const [node, maxFee] = [nodes.of(offer.network), feeBoundOf(bounds, offer.network)];
      if (typeof node === "string") return unsigned(node);
      return typeof maxFee === "string" ? unsigned(maxFee) : node.sign(offer, request, maxFee);
    },
  };
}

/** Every EVM network of the table has one, and every other one is known by it. */
function chainIdOf({ id, chainId }: Network): number {
  if (chainId === undefined) throw new TypeError(`${id} has no chain id`);
  return chainId;
}

/** The same node; tells when it is of another chain. */
function watched(rpc: Rpc, wrong: (message: string) => void): Rpc {
  return {
    ...rpc,
    async batch(calls, options) {
      const reply = await rpc.batch(calls, options);
      if (!reply.ok && reply.chainId) wrong(reply.message);
      return reply;
    },
  };
}
