// Did a wallet sign a text? EVM: personal_sign (EIP-191) by the account's own key. Solana: ed25519 over the bytes of the text.
import { decodeAddress, decodeBase58 } from "../../chains/solana/base58.js";
import { verifySignature } from "../../chains/solana/ed25519.js";

const EVM_SIGNATURE = /^0x[0-9a-fA-F]{128}(?:00|01|1b|1c|1B|1C)$/;

/**
 * False for whatever is no signature. Contract wallets sign nothing here: only a key shows that an address is somebody's.
 *
 * @param address checksummed on EVM
 */
export async function isSignedBy(
  family: "evm" | "solana",
  address: string,
  text: string,
  signature: string,
): Promise<boolean> {
  return family === "evm" ? isPersonalSignature(address, text, signature) : isEd25519(address, text, signature);
}

async function isPersonalSignature(address: string, text: string, signature: string): Promise<boolean> {
  if (!isEvmSignature(signature)) return false;
  const { recoverMessageAddress } = await import("viem");
  try {
    return (await recoverMessageAddress({ message: text, signature })) === address;
  } catch {
    // Safe because nothing but the curve's arithmetic runs here: no key belongs to these numbers.
    return false;
  }
}

const isEvmSignature = (signature: string): signature is `0x${string}` => EVM_SIGNATURE.test(signature);

async function isEd25519(address: string, text: string, signature: string): Promise<boolean> {
  const [key, bytes] = [decodeAddress(address), decodeBase58(signature)];
  if (!key || bytes?.length !== 64) return false;
  return verifySignature(key, new TextEncoder().encode(text), bytes);
}
