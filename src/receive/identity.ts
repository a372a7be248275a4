// Who a receiver is, beyond its name: kept with each settlement, so that the word of another one of the same name ends nothing
// that it has never had. Short, the same in every process, and with no address in it.
import { keccak256 } from "../keccak.js";
import type { Receiver } from "./receiver.js";

const DIGEST_BYTES = 8;
const encoder = new TextEncoder();

/** A name with a digest of what tells its bearers apart. */
export function identityOf(name: string, what: string): string {
  const digest = keccak256(encoder.encode(what)).subarray(0, DIGEST_BYTES);
  return `${name}:${Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/**
 * Who several are together, in whatever order. Those that ask the chain find what any of them has sent, so a list of nothing but
 * such ones is known by its name alone.
 */
export function identityOfAll(name: string, receivers: readonly Receiver[]): string {
  const senders = receivers.filter(({ evidence }) => evidence !== "chain").map(({ name, identity = name }) => identity);
  return senders.length === 0 ? name : identityOf(name, senders.sort().join(" "));
}
