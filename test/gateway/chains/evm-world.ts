// A real chain with the transfers of a gateway on it, and wallets that sign what is built.
import { toHex } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { expect } from "vitest";
import * as z from "zod/mini";
import { toBytes } from "../../../src/chains/evm/hex.js";
import type {
  Asset,
  BuiltTransfer,
  ChainStanding,
  SignedTransfer,
  Transfer,
  TransferChain,
  TransferSigner,
} from "../../../src/gateway/chain.js";
import { openEvmTransfers } from "../../../src/gateway/chains/evm.js";
import type { Pursuit } from "../../../src/gateway/payment.js";
import { findNetwork } from "../../../src/networks.js";
import { createTransfers, TOKEN, type Transfers } from "../../chains/evm/transfers.js";

export interface EvmWorld {
  /** The chain, its faults and a token of the oldest kind. */
  readonly base: Transfers;
  readonly transfers: TransferChain;
  readonly logged: readonly { readonly facts: object; readonly message: string }[];
  readonly native: Asset;
  /** USDC as it is, and a token without EIP-3009 whose knob makes it misbehave. */
  readonly usdc: Asset;
  readonly plain: Asset;
  /** Another gateway on the same chain, over these nodes. */
  open(urls?: readonly string[], confirmations?: number): TransferChain;
  /** An account with an ether, a million units of the plain token and a thousand USDC. */
  wallet(): Promise<Wallet>;
  build(wallet: Wallet, parts?: Partial<Transfer>, nonce?: number): Promise<BuiltTransfer>;
  /** Builds and signs. */
  make(wallet: Wallet, parts?: Partial<Transfer>, nonce?: number): Promise<SignedTransfer>;
  send(signed: SignedTransfer, transfers?: TransferChain): ReturnType<TransferChain["broadcast"]>;
  standing(signed: { readonly pursuit: SignedTransfer["pursuit"] }, transfers?: TransferChain): Promise<ChainStanding>;
  /** Sends, as the wallet's owner would with a wallet program, and waits for nothing. */
  submit(wallet: Wallet, transaction: Parameters<PrivateKeyAccount["signTransaction"]>[0]): Promise<string>;
  /** Resolves when a block holds the transaction: the node answers before it mines. */
  inBlock(hash: string): Promise<void>;
  rpc(method: string, ...params: readonly unknown[]): Promise<unknown>;
  close(): Promise<void>;
}

export interface Wallet extends TransferSigner {
  readonly account: PrivateKeyAccount;
}

export const within = (ms = 20_000): AbortSignal => AbortSignal.timeout(ms);

export const toWallet = (account: PrivateKeyAccount): Wallet => ({
  account,
  address: account.address,
  sign: async (bytes) => toBytes(await account.sign({ hash: toHex(bytes) })),
});

export async function createEvmWorld(): Promise<EvmWorld> {
  const base = await createTransfers();
  const { sandbox } = base;
  const network = findNetwork("base-sepolia");
  if (!network) throw new Error("the network of the sandbox is unknown");
  const logged: { facts: object; message: string }[] = [];
  const keep = (facts: object, message: string) => void logged.push({ facts, message });
  const usdc: Asset = { address: sandbox.token.address, symbol: "USDC", decimals: 6, minimum: 1_000n };
  const plain: Asset = { address: TOKEN, symbol: "PLAIN", decimals: 6, minimum: 1_000n };
  const opened: TransferChain[] = [];
  const open: EvmWorld["open"] = (urls = [base.rpc.url], confirmations = 3) => {
    const one = { network, options: { rpcUrl: [...urls] }, confirmations, assets: [usdc, plain] };
    const transfers = openEvmTransfers(one, { logger: { warn: keep, error: keep }, timeoutMs: 10_000 });
    opened.push(transfers);
    return transfers;
  };
  const transfers = open();
  const native: Asset = { address: "native", symbol: "ETH", decimals: 18, minimum: 0n };
  const build: EvmWorld["build"] = async (wallet, parts = {}, nonce) => {
    const transfer = { from: wallet.address, to: sandbox.seller, asset: native, amount: 10n ** 15n, ...parts };
    const built = await transfers.build(transfer, { signal: within(), ...(nonce !== undefined && { nonce }) });
    if (!built.ok) throw new Error(`${built.code}: ${built.message}`);
    return built.value;
  };
  return {
    base,
    transfers,
    logged,
    native,
    usdc,
    plain,
    open,
    async wallet() {
      const account = privateKeyToAccount(generatePrivateKey());
      await sandbox.native.setBalances([account.address], 10n ** 18n);
      await sandbox.token.setBalances([account.address], 1_000_000_000n);
      await base.setTokenBalance(account.address, 1_000_000n);
      return toWallet(account);
    },
    build,
    make: async (wallet, parts, nonce) => transfers.sign(await build(wallet, parts, nonce), wallet),
    send: ({ pursuit }, own = transfers) => own.broadcast(requireTransfer(pursuit), within()),
    standing: ({ pursuit }, own = transfers) => own.standing(requireTransfer(pursuit), within()),
    async submit({ account }, transaction) {
      return z
        .string()
        .parse(await sandbox.chain.rpc("eth_sendRawTransaction", [await account.signTransaction(transaction)]));
    },
    inBlock: (hash) => expect.poll(() => sandbox.chain.rpc("eth_getTransactionReceipt", [hash])).not.toBeNull(),
    rpc: (method, ...params) => sandbox.chain.rpc(method, params),
    async close() {
      for (const one of opened) one.close();
      await base.close();
    },
  };
}

function requireTransfer(pursuit: Pursuit): SignedTransfer["pursuit"] {
  if (pursuit.kind !== "evm") throw new TypeError("expected a transfer on EVM");
  return pursuit;
}
