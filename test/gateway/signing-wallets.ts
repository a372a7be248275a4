// Wallets of people, that sign texts with keys of this process.
import { generateKeyPairSync, sign } from "node:crypto";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { encodeBase58 } from "../../src/chains/solana/base58.js";

export interface Wallet {
  readonly address: string;
  sign(message: string): Promise<string>;
}

export function evmWallet(): Wallet {
  const account = privateKeyToAccount(generatePrivateKey());
  return { address: account.address, sign: (message) => account.signMessage({ message }) };
}

export function solanaWallet(): Wallet {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const address = encodeBase58(publicKey.export({ type: "spki", format: "der" }).subarray(-32));
  return { address, sign: async (message) => encodeBase58(sign(null, Buffer.from(message), privateKey)) };
}
