// A payment world on Solana: a node that answers as devnet, USDC at its real address, a seller with a token account, a fee
// payer with SOL and buyers with both. Node only. Needs @solana/web3.js, litesvm and ws.
import { createHash } from "node:crypto";
import { type Commitment, Connection, Keypair } from "@solana/web3.js";
import { local } from "../../receive/local.js";
import type { LocalSolanaOptions } from "../../receive/local-options.js";
import type { Receiver } from "../../receive/receiver.js";
import { toBase58 } from "./encoding.js";
import { type NodeOptions, type SolanaNode, startSolanaNode } from "./node.js";
import { DEVNET_GENESIS_HASH } from "./read-methods.js";
import { SOL, type SolanaTransfer, type TransferFilter } from "./transfers.js";

/** Circle's mint on devnet. */
export const DEVNET_USDC = "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU";

/** What a wallet starts with. */
export interface Funds {
  /** 10^10 (10 SOL). */
  readonly lamports?: bigint;
  /** Atomic units of USDC, 1,000,000,000 (1,000 USDC). */
  readonly balance?: bigint;
}

export interface SolanaSandboxOptions extends NodeOptions, Funds {}

/** An asset of the sandbox: what it is called, who holds it, what has moved. */
export interface SolanaAsset {
  /** The mint; `native` for SOL. */
  readonly address: string;
  readonly decimals: number;
  /** What the owner holds in the open slot. */
  balanceOf(owner: string): Promise<bigint>;
  /** Oldest first; their number is the number of debits. */
  transfers(filter: TransferFilter): Promise<SolanaTransfer[]>;
  /** Makes money out of nothing, with a token account where there is none. */
  mint(to: string, value: bigint): Promise<void>;
}

export interface SolanaSandbox {
  readonly rpcUrl: string;
  /** For clients that open their WebSocket on the port given; web3.js takes the next port by itself. */
  readonly wsUrl: string;
  readonly network: "solana-devnet";
  /** The same network as v2 writes it: `solana:` and the first 32 characters of the genesis hash. */
  readonly caip2: `solana:${string}`;
  /** The node with its knobs. */
  readonly chain: SolanaNode;
  /** USDC. */
  readonly token: SolanaAsset;
  /** SOL. */
  readonly native: SolanaAsset;
  /** The mint of `token`. */
  readonly usdc: string;
  /** Has a token account for USDC and no token, and no SOL. */
  readonly seller: string;
  /** The seller under the name that a paywall's options give it. */
  readonly payTo: string;
  /** Holds SOL and no token account. */
  readonly feePayer: Keypair;
  /** The fee payer's 64 bytes, base58. */
  readonly settlerKey: string;
  /** A receiver that settles on this chain; options of its network in place of the sandbox's, such as a proxy's `rpcUrl`. */
  receive(options?: Partial<LocalSolanaOptions>): Receiver;
  /** The n-th buyer of a fixed row, funded at its first use. */
  buyer(n?: number): Promise<Keypair>;
  /** A buyer nobody else has, funded. */
  newBuyer(funds?: Funds): Promise<Keypair>;
  newBuyers(count: number, funds?: Funds): Promise<Keypair[]>;
  /** What an address holds in the open slot. */
  balances(address: string): Promise<{ readonly lamports: bigint; readonly usdc: bigint }>;
  /** A fresh connection of web3.js, at `confirmed` where nothing is named. */
  connection(commitment?: Commitment): Connection;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Known keys: the same label is the same account in every run. */
const keyOf = (label: string): Keypair =>
  Keypair.fromSeed(createHash("sha256").update(`tollgate solana sandbox ${label}`).digest());

/**
 * Starts the chain and fills it. About a third of a second.
 * @example
 * const sandbox = await createSolanaSandbox();
 * const { network, payTo } = sandbox;
 * app.get("/report", paywall("$0.01", { network, payTo, receive: sandbox.receive() }), report);
 * await pay(url, {}, { payer: splPayer(await sandbox.newBuyer(), { rpcUrl: sandbox.rpcUrl }), version: 2 });
 * await sandbox.token.balanceOf(payTo); // 10000n
 * await sandbox.close();
 */
export async function createSolanaSandbox(options: SolanaSandboxOptions = {}): Promise<SolanaSandbox> {
  const { lamports: startLamports = 10n ** 10n, balance: startBalance = 1_000_000_000n, ...nodeOptions } = options;
  const chain = await startSolanaNode(nodeOptions);
  const usdc = chain.createMint({ address: DEVNET_USDC, decimals: 6 });

  const seller = keyOf("seller").publicKey.toBase58();
  chain.mintTo(usdc, seller, 0n);
  const feePayer = keyOf("fee payer");
  chain.airdrop(feePayer.publicKey.toBase58(), startLamports);

  const fund = (wallet: Keypair, { lamports = startLamports, balance = startBalance }: Funds = {}): Keypair => {
    const address = wallet.publicKey.toBase58();
    chain.airdrop(address, lamports);
    chain.mintTo(usdc, address, balance);
    return wallet;
  };
  const row = new Map<number, Keypair>();
  let fresh = 0;
  const newBuyer: SolanaSandbox["newBuyer"] = async (funds) => fund(keyOf(`fresh buyer ${fresh++}`), funds);
  const settlerKey = toBase58(feePayer.secretKey);

  return {
    rpcUrl: chain.rpcUrl,
    wsUrl: chain.wsUrl,
    network: "solana-devnet",
    caip2: `solana:${DEVNET_GENESIS_HASH.slice(0, 32)}`,
    chain,
    token: {
      address: usdc,
      decimals: 6,
      balanceOf: async (owner) => chain.tokens(usdc, owner),
      transfers: async (filter) => chain.transfers(usdc, filter),
      mint: async (to, value) => void chain.mintTo(usdc, to, value),
    },
    native: {
      address: SOL,
      decimals: 9,
      balanceOf: async (owner) => chain.lamports(owner),
      transfers: async (filter) => chain.transfers(SOL, filter),
      mint: async (to, value) => chain.airdrop(to, value),
    },
    usdc,
    seller,
    payTo: seller,
    feePayer,
    settlerKey,
    receive: (own) => local({ networks: { "solana-devnet": { rpcUrl: chain.rpcUrl, settler: settlerKey, ...own } } }),
    async buyer(n = 0) {
      const wallet = row.get(n) ?? fund(keyOf(`wallet ${n}`));
      row.set(n, wallet);
      return wallet;
    },
    newBuyer,
    newBuyers: (count, funds) => Promise.all(Array.from({ length: count }, () => newBuyer(funds))),
    balances: async (address) => ({ lamports: chain.lamports(address), usdc: chain.tokens(usdc, address) }),
    connection: (commitment = "confirmed") => new Connection(chain.rpcUrl, commitment),
    close: () => chain.close(),
    [Symbol.asyncDispose]: () => chain.close(),
  };
}
