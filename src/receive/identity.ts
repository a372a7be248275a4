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
 * such ones is known by its name alone. Invariant: in any other list they count too, with the networks that they were set up
 * for: a settlement may have been theirs, and where none of them is asked, the others' word that they have none says nothing.
 */
export function identityOfAll(name: string, receivers: readonly Receiver[]): string {
  if (receivers.every(({ evidence }) => evidence === "chain")) return name;
  const all = receivers.map(({ name, identity = name, networks = [] }) =>
    [identity, ...[...networks].sort()].join(","),
  );
  return identityOf(name, all.sort().join(" "));
}
