// On networks without a key of the operator's own nothing is settled at the gateway's cost: there only proofs are taken that pay
// for themselves, the buyer's own complete transaction.
import { randomBytes } from "node:crypto";
import type { BoundProof } from "../../proof.js";
import type { Receiver } from "../../receive/receiver.js";

/**
 * A key that nobody has and that holds nothing, for a receiver that wants one: simulations have to come from somewhere. It is
 * forgotten with the process.
 */
export function createThrowAwayKey(family: "evm" | "solana"): `0x${string}` | string {
  const secret = randomBytes(32).toString("hex");
  return family === "evm" ? `0x${secret}` : secret;
}

/** The receiver, refusing whatever it would have to pay for on any other network than these (CAIP-2 ids). */
export function sponsoredOn(sponsoring: ReadonlySet<string>, receiver: Receiver): Receiver {
  const unpaid = ({ requirement: { method, network } }: BoundProof): string | undefined =>
    method === "transaction" || sponsoring.has(network)
      ? undefined
      : `this gateway has no key that pays for settlements on ${network}: pay with a transaction of your own`;
  return {
    ...receiver,
    // Invariant: the throw-away key stands in no offer: it could sign, and would pay for nothing.
    feePayer: (network) => (sponsoring.has(network) ? receiver.feePayer?.(network) : undefined),
    async verify(proof, context) {
      const message = unpaid(proof);
      if (message !== undefined) return { outcome: "unavailable", code: "misconfigured", message };
      return receiver.verify(proof, context);
    },
    async settle(proof, context) {
      const message = unpaid(proof);
      return message === undefined ? receiver.settle(proof, context) : { outcome: "unavailable", message };
    },
  };
}
