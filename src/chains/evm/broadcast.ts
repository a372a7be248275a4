// Signs a transaction and hands its bytes to the chain, and says what a node's answer to them means.
import { keccak256 } from "../../keccak.js";
import { fromBytes, type Hex, isHex, toBytes } from "./hex.js";
import { printable } from "./printable.js";
import type { Rpc, RpcAnswer } from "./rpc.js";
import type { GasTransaction, Settler } from "./settlers.js";

export interface Signed {
  readonly ok: true;
  readonly raw: Hex;
  readonly hash: Hex;
}

export type Broadcast =
  /** The node has it. `wasKnown`: and had it before, though nothing of ours had reached any node. */
  | { readonly outcome: "accepted"; readonly wasKnown: boolean }
  /** The node did not take it. `nonce`: another transaction has used it on the chain, or waits with it in the pool. */
  | { readonly outcome: "refused"; readonly nonce: "used" | "waiting" | "ours"; readonly message: string }
  /** No answer: it may be on its way. */
  | { readonly outcome: "lost"; readonly message: string };

const KNOWN = /already known|already imported|known transaction|already exists|already in (?:the )?(?:mempool|pool)/i;
const NONCE_USED = /nonce(?: is)? too low|nonce has already been used|old nonce|nonce too small/i;
const NONCE_WAITING = /replacement (?:transaction|fee)/i;

export const broadcast = { sign, send };

/** Signs; a signer that throws or answers with anything but bytes is a value, and its message, which may hold secrets, is dropped. */
async function sign(settler: Settler, transaction: GasTransaction): Promise<Signed | { readonly ok: false }> {
  const raw = await settler.sign(transaction).then(
    (bytes): unknown => bytes,
    () => undefined,
  );
  if (!isHex(raw) || raw.length < 4) return { ok: false };
  return { ok: true, raw, hash: fromBytes(keccak256(toBytes(raw))) };
}

/** Sends. Lost or unreadable answers go to the next URL with the same bytes, which is harmless. */
async function send(rpc: Rpc, { raw, hash }: Signed, deadlineAt: number): Promise<Broadcast> {
  const call = { method: "eth_sendRawTransaction", params: [raw] };
  const reply = await rpc.batch([call], { checkChain: false, deadlineAt });
  if (!reply.ok) return { outcome: "lost", message: `the answer to the transaction was lost: ${reply.message}` };
  const answer = readBroadcast(reply.answers[0], hash);
  if (!reply.afterFault) return answer;
  // One node's refusal says nothing about another one that took the bytes and lost its answer; nor does its knowing them.
  if (answer.outcome === "refused") return { outcome: "lost", message: answer.message };
  return answer.outcome === "accepted" ? { ...answer, wasKnown: false } : answer;
}

function readBroadcast(answer: RpcAnswer | undefined, hash: Hex): Broadcast {
  if (answer?.ok) {
    const same = isHex(answer.result, 32) && answer.result.toLowerCase() === hash;
    return same
      ? { outcome: "accepted", wasKnown: false }
      : { outcome: "lost", message: "the node named another transaction" };
  }
  const message = printable(answer?.message ?? "no answer");
  if (KNOWN.test(message)) return { outcome: "accepted", wasKnown: true };
  const nonce = NONCE_USED.test(message) ? "used" : NONCE_WAITING.test(message) ? "waiting" : "ours";
  return { outcome: "refused", nonce, message };
}
