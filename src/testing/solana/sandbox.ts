// A payment world on Solana: a node that answers as devnet, USDC at its real address, a seller with a token account, a fee
// payer with SOL and buyers with both. Node only. Not exported from `tollgate/testing` yet: no receiver settles on it, and
// its packages (@solana/web3.js, litesvm, ws) are installed for development alone.
import { createHash } from "node:crypto";
import { type Commitment, Connection, Keypair } from "@solana/web3.js";
import { type NodeOptions, type SolanaNode, startSolanaNode } from "./node.js";
import { DEVNET_GENESIS_HASH } from "./read-methods.js";

/** Circle's mint on devnet. */
export const DEVNET_USDC = "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU";

export interface SolanaSandboxOptions extends NodeOptions {
  /** Lamports that each wallet starts with, 10^10 (10 SOL). */
  readonly lamports?: bigint;
  /** Atomic units of USDC that each buyer starts with, 1,000,000,000 (1,000 USDC). */
  readonly balance?: bigint;
}

export interface SolanaSandbox {
  readonly rpcUrl: string;
  /** For clients that open their WebSocket on the port given; web3.js takes the next port by itself. */
  readonly wsUrl: string;
  /** `solana:` and the first 32 characters of the genesis hash. */
  readonly network: `solana:${string}`;
  /** The node with its knobs. */
  readonly chain: SolanaNode;
  /** Mint with 6 decimals. */
  readonly usdc: string;
  /** Has a token account for USDC and no token. */
  readonly seller: string;
  /** Holds SOL and no token account. */
  readonly feePayer: Keypair;
  /** Three buyers with the same keys in every run. */
  readonly wallets: readonly Keypair[];
  /** A buyer nobody else has, funded. */
  newBuyer(funds?: Pick<SolanaSandboxOptions, "lamports" | "balance">): Promise<Keypair>;
  /** What an address holds in the open slot. */
  balances(address: string): Promise<{ readonly lamports: bigint; readonly usdc: bigint }>;
  /** A fresh connection of web3.js, at `confirmed` where nothing is named. */
  connection(commitment?: Commitment): Connection;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const WALLETS = 3;
/** Known keys: the same label is the same account in every run. */
const keyOf = (label: string): Keypair =>
  Keypair.fromSeed(createHash("sha256").update(`tollgate solana sandbox ${label}`).digest());

/**
 * Starts the chain and fills it. About a third of a second.
 * @example
 * const sandbox = await createSolanaSandbox();
 * const buyer = await sandbox.newBuyer();
 * // … pay, then:
 * await sandbox.balances(sandbox.seller); // { lamports: 0n, usdc: 10000n }
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

  const fund = (wallet: Keypair, { lamports = startLamports, balance = startBalance } = {}): Keypair => {
    const address = wallet.publicKey.toBase58();
    chain.airdrop(address, lamports);
    chain.mintTo(usdc, address, balance);
    return wallet;
  };
  const wallets = Array.from({ length: WALLETS }, (_, index) => fund(keyOf(`wallet ${index}`)));
  let fresh = 0;

  return {
    rpcUrl: chain.rpcUrl,
    wsUrl: chain.wsUrl,
    network: `solana:${DEVNET_GENESIS_HASH.slice(0, 32)}`,
    chain,
    usdc,
    seller,
    feePayer,
    wallets,
    newBuyer: async (funds) => fund(keyOf(`fresh buyer ${fresh++}`), funds),
    balances: async (address) => ({ lamports: chain.lamports(address), usdc: chain.tokens(usdc, address) }),
    connection: (commitment = "confirmed") => new Connection(chain.rpcUrl, commitment),
    close: () => chain.close(),
    [Symbol.asyncDispose]: () => chain.close(),
  };
}
