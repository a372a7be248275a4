// What a transaction is known by, read from its bytes alone: for receivers that have no node of their own. The chain code is
// loaded on first use only.
import { findNetwork } from "../networks.js";
import { loadOnce } from "./load-once.js";
import type { Identified } from "./receiver.js";

const loadEvm = loadOnce(() => import("../chains/evm/identity.js"));
const loadSolana = loadOnce(() => import("../chains/solana/identity.js"));

/** A signature in base58 has at most 88 characters, and the smallest transaction has more. */
const LONGEST_ID = 90;

/** Is it the id of a transaction, and not its bytes? */
export const isTransactionId = (text: string): boolean => text.startsWith("0x") || text.length <= LONGEST_ID;

/**
 * Identifies the bytes of a transaction, base64. `id`: what they were asked for by, where somebody else has given them.
 * Rejects only where no implementation of secp256k1 is installed.
 */
export async function identifyBytes(network: string, bytes: string, id?: string): Promise<Identified> {
  const family = findNetwork(network)?.family;
  const identity =
    family === "solana"
      ? await (await loadSolana()).identifyTransaction({ transaction: bytes })
      : await (await loadEvm()).identifyBase64(bytes);
  if (!identity.ok || id === undefined) return identity;
  // Invariant: the bytes are of the transaction that was asked for, whoever gave them.
  const named = family === "solana" ? await (await loadSolana()).idOf(bytes) : identity.canonical;
  const spelled = family === "solana" ? id : id.toLowerCase();
  return named === spelled ? identity : { ok: false, code: "receiver_bad_response" };
}
