// From an unsigned transfer to one that is on its way: signed by the wallet, checked before it counts, and handed to every
// node. What a node says of bytes that it was sent is never evidence of where they are.
import { decodeAddress, encodeBase58 } from "../../chains/solana/base58.js";
import { fromBase64, toBase64 } from "../../chains/solana/bytes.js";
import { verifySignature } from "../../chains/solana/ed25519.js";
import type { RpcReply } from "../../chains/solana/rpc.js";
import { decodeTransaction } from "../../chains/solana/transaction.js";
import { toWire } from "../../chains/solana/transfer-message.js";
import type { BuiltTransfer, SignedTransfer, TransferChain, TransferSigner } from "../chain.js";
import type { EvmPursuit, SolanaPursuit } from "../payment.js";
import type { SolanaTransferChain } from "./solana-chain.js";

/**
 * Signs a built transfer.
 *
 * @throws Error where the signer is not the sender or its signature is not true: nothing was sent then.
 */
export async function signOnSolana(built: BuiltTransfer, signer: TransferSigner): Promise<SignedTransfer> {
  const pursuit = requireSolana(built.pursuit);
  const decoded = decodeTransaction(toBase64(built.unsigned));
  const key = decodeAddress(pursuit.sender);
  if (!decoded.ok || !key) throw new TypeError("only a transfer that was built here is signed");
  const { message } = decoded.transaction;
  if (signer.address !== pursuit.sender) throw new Error(`expected a signature of ${pursuit.sender}`);
  const signature = await signer.sign(new Uint8Array(message));
  // Invariant: what is recorded as sent has the id under which the chain will know it.
  if (!(await verifySignature(key, message, signature)))
    throw new Error(`the signature is not one of ${signer.address}`);
  const bytes = toWire(message, [signature]);
  return { signature: encodeBase58(signature), bytes, pursuit: { ...pursuit, wire: toBase64(bytes) } };
}

/** The pursuit of this family; a TypeError for the other one, which is a mistake of the caller's. */
export function requireSolana(pursuit: EvmPursuit | SolanaPursuit): SolanaPursuit {
  if (pursuit.kind !== "solana") throw new TypeError("this transfer is not on Solana");
  return pursuit;
}

/**
 * Hands the signed bytes to every node, each of which simulates them first. Sending them again is safe: the same bytes are
 * the same transaction. Never rejects.
 */
export async function broadcastOnSolana(
  { rpc }: SolanaTransferChain,
  { wire }: SolanaPursuit,
  signal: AbortSignal,
): ReturnType<TransferChain["broadcast"]> {
  if (wire === null || !fromBase64(wire)) return { outcome: "refused", message: "there are no signed bytes to send" };
  const config = { encoding: "base64", skipPreflight: false, preflightCommitment: "confirmed" };
  const replies = await Promise.all(rpc.each.map((node) => node.call("sendTransaction", [wire, config], { signal })));
  if (replies.some(hasIt)) return { outcome: "sent", message: "a node has it" };
  const words = [...new Set(replies.flatMap((reply) => (reply.ok ? [] : [reply.message])))].join("; ");
  // A node that did not answer may have it all the same.
  const isLost = replies.some((reply) => !reply.ok && (reply.kind === "fault" || !REFUSALS.has(reply.error)));
  return { outcome: isLost ? "lost" : "refused", message: words };
}

/** The node's own judgement of the bytes: its simulation, the signatures, or the form. Anything else is no verdict. */
const REFUSALS: ReadonlySet<number> = new Set([-32002, -32003, -32602]);

/** A node that took it, or has run it before. */
const hasIt = (reply: RpcReply): boolean =>
  reply.ok || (reply.kind === "refusal" && /already (been )?processed/i.test(reply.message));
