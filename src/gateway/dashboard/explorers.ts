// Where a transaction can be looked at: the explorer of each public network, none for a chain of one's own.
import type { Network } from "../../networks.js";

const EXPLORERS: Readonly<Record<string, string>> = {
  "eip155:1": "https://etherscan.io/tx/",
  "eip155:11155111": "https://sepolia.etherscan.io/tx/",
  "eip155:10": "https://optimistic.etherscan.io/tx/",
  "eip155:56": "https://bscscan.com/tx/",
  "eip155:137": "https://polygonscan.com/tx/",
  "eip155:80002": "https://amoy.polygonscan.com/tx/",
  "eip155:8453": "https://basescan.org/tx/",
  "eip155:84532": "https://sepolia.basescan.org/tx/",
  "eip155:42161": "https://arbiscan.io/tx/",
  "eip155:43114": "https://snowtrace.io/tx/",
  "eip155:43113": "https://testnet.snowtrace.io/tx/",
};
const SOLANA: Readonly<Record<string, string>> = {
  solana: "",
  "solana-devnet": "?cluster=devnet",
  "solana-testnet": "?cluster=testnet",
};

/** @example explorerUrl(base, "0x…") // "https://basescan.org/tx/0x…" */
export function explorerUrl({ id, family, name, v1Name }: Network, transaction: string): string | undefined {
  // What stands in an address is what a transaction can be called, and nothing else.
  if (!/^[0-9A-Za-z]{32,100}$/.test(transaction)) return undefined;
  if (family === "evm") return EXPLORERS[id] && EXPLORERS[id] + transaction;
  const cluster = SOLANA[v1Name ?? name];
  return cluster === undefined ? undefined : `https://explorer.solana.com/tx/${transaction}${cluster}`;
}
