// Signs transfers with a key that exists for the length of one signature: it is opened, checked against the address that it is
// meant to have, used, and its bytes are zeroed. What JavaScript copies of it (viem takes hex text) is left to the collector.
import { createSigner } from "../../chains/solana/signing.js";
import type { TransferSigner } from "../chain.js";
import { loadAccounts } from "./load-accounts.js";
import { addressOf } from "./secrets.js";

/**
 * A signer for an address. `open` gives the 32 bytes of its key, or undefined where it cannot be opened: then, and where the
 * key belongs to another address, `sign` rejects with a KeyNotOpened. No message holds the key.
 */
export function createTransferSigner(
  family: "evm" | "solana",
  address: string,
  open: () => Uint8Array | undefined,
): TransferSigner {
  return {
    address,
    async sign(bytes) {
      const secret = open();
      if (!secret) throw new KeyNotOpened(address, "it was altered, or moved from another row, or sealed anew since");
      try {
        // Invariant: no signature of another key than the address says, whatever somebody wrote into the row.
        if ((await addressOf(family, secret)) !== address)
          throw new KeyNotOpened(address, "it is another wallet's key");
        return family === "evm" ? await signDigest(secret, bytes) : await createSigner(secret)(bytes);
      } finally {
        secret.fill(0);
      }
    },
  };
}

/** The key of a hosted wallet cannot be used: nothing was signed. */
export class KeyNotOpened extends Error {
  override readonly name = "KeyNotOpened";
  constructor(address: string, reason: string) {
    super(`The key of the hosted wallet ${address} cannot be opened: ${reason}`);
  }
}

/** r, s and yParity of a 32-byte digest: 65 bytes, low s, the same every time (RFC 6979). */
async function signDigest(secret: Uint8Array, digest: Uint8Array): Promise<Uint8Array> {
  if (digest.length !== 32) throw new RangeError(`Expected a digest of 32 bytes, got ${digest.length}`);
  const { sign } = await loadAccounts();
  const toHex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString("hex")}` as const;
  const { r, s, yParity } = await sign({ hash: toHex(digest), privateKey: toHex(secret), to: "object" });
  return Buffer.concat([Buffer.from(r.slice(2), "hex"), Buffer.from(s.slice(2), "hex"), Buffer.from([yParity ?? 0])]);
}
