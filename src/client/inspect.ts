// Holds what a wallet signed against the offer, before a byte of it leaves. A wallet may be another program, a device or a
// service: whatever it says, what counts is what was signed. Spec: design §8 ("checks the cap on the very object it signs").
import { isRecord } from "../wire/json.js";
import type { PaymentPayload } from "../wire/payload.js";
import { findAuthorizationMismatch } from "./inspect-authorization.js";
import { findNativeMismatch, findSplMismatch } from "./inspect-solana.js";
import { findTransactionMismatch } from "./inspect-transaction.js";
import type { Offer } from "./offer.js";

/** What is known of the signing. */
export interface SignedFacts {
  /** Who pays, as the wallet says. */
  readonly payer: string;
  /** Epoch milliseconds after which it can no longer be settled, as the wallet says. */
  readonly expiresAt: number;
  /** Epoch milliseconds: what was asked of the wallet. */
  readonly validUntil: number;
  /** Epoch milliseconds. */
  readonly now?: number;
}

type Inspect = (offer: Offer, payload: object, signed: Required<SignedFacts>) => Promise<string | undefined>;

/**
 * What was signed that is not the offer, in words; undefined where it is exactly the offer. Anything that cannot be read is a
 * mismatch. Never rejects.
 */
export async function findMismatch(
  offer: Offer,
  payload: PaymentPayload["payload"],
  signed: SignedFacts,
): Promise<string | undefined> {
  if (!isRecord(payload)) return "the wallet gave no payload";
  const { inspect, members } = inspectorOf(offer);
  // Invariant: all that leaves was looked at. A second signed thing beside the first could be spent as well.
  const more = Object.keys(payload).find((name) => !members.includes(name));
  if (more !== undefined) return `the payload has a member ${more.slice(0, 40)} that the offer does not ask for`;
  try {
    return await inspect(offer, payload, { now: Date.now(), ...signed });
  } catch (error) {
    return `what was signed cannot be read: ${String(error)}`;
  }
}

function inspectorOf({ method, network }: Offer): { readonly inspect: Inspect; readonly members: readonly string[] } {
  if (method === "eip3009") return { inspect: findAuthorizationMismatch, members: ["signature", "authorization"] };
  if (method === "spl") return { inspect: findSplMismatch, members: ["transaction"] };
  const inspect = network.family === "evm" ? findTransactionMismatch : findNativeMismatch;
  // The secret belongs to a transaction that its wallet has sent already.
  return { inspect, members: ["transaction", "secret"] };
}
