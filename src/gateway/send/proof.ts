// The payment proof as the caller presents it to a seller: the value of X-PAYMENT (v1), or of PAYMENT-SIGNATURE (v2) where a v2
// offer is paid. What makes it (a secret, a signature) is kept under the caller's Idempotency-Key alone, so that the repeat of
// his request can show it again and nobody else can.
import { createHash, randomBytes } from "node:crypto";
import { toBytes } from "../../chains/evm/hex.js";
import { fromBase64, toBase64 } from "../../chains/solana/bytes.js";
import { PAYMENT_IDENTIFIER } from "../../proof.js";
import { NATIVE } from "../../requirement.js";
import { encodeHeader } from "../../wire/header.js";
import type { PaymentPayload } from "../../wire/payload.js";
import type { GatewayNetwork } from "../chain.js";
import type { Payment } from "../payment.js";
import type { ReadOffer } from "./offer.js";

/** 32 random bytes, and the SHA-256 of them that stands in the transaction. Both `0x` and hex. */
export interface Secret {
  readonly secret: `0x${string}`;
  readonly reference: `0x${string}`;
}

export function newSecret(): Secret {
  const secret = randomBytes(32);
  const reference = createHash("sha256").update(secret).digest("hex");
  return { secret: `0x${secret.toString("hex")}`, reference: `0x${reference}` };
}

/** What only the creating answer and its idempotent repeat may show. */
export type Shown =
  /** The secret of a transaction whose bytes stand in the record. `retryKey`: the id of a v2 payment. */
  | { readonly kind: "secret"; readonly secret: string; readonly retryKey: string }
  /** A proof that was signed for an offer, complete. */
  | { readonly kind: "proof"; readonly header: string };

/** As it is sealed. */
export const formatShown = (shown: Shown): string =>
  shown.kind === "proof" ? `proof ${shown.header}` : `secret ${shown.secret} ${shown.retryKey}`;

/** Undefined for anything that `formatShown` does not write. */
export function parseShown(text: string): Shown | undefined {
  const [kind, first, second] = text.split(" ");
  if (kind === "proof" && first) return { kind, header: first };
  return kind === "secret" && first && second ? { kind, secret: first, retryKey: second } : undefined;
}

/** By this a seller knows the request again whose answer was lost (protocol §8). */
export const newRetryKey = (): string => randomBytes(16).toString("hex");

/** Around what is paid with: the offer it is for, where there is one. */
export interface Envelope {
  readonly network: GatewayNetwork["network"];
  readonly offer: ReadOffer | undefined;
  readonly resource: string | null;
  readonly retryKey: string;
}

/** A payload in the envelope of its version, as a header carries it. Source: protocol §2.2. */
export function toPaymentProof(envelope: Envelope, payload: PaymentPayload["payload"]): string {
  const { network, offer, resource, retryKey } = envelope;
  if (offer?.version !== 2) {
    // A seller's offer of v1 goes back under the seller's own name of the network.
    const name = offer?.given.network ?? network.v1Name ?? network.id;
    return encodeHeader({ x402Version: 1, scheme: "exact", network: name, payload });
  }
  const identifier = { info: { required: false, id: retryKey } };
  return encodeHeader({
    x402Version: 2,
    // As it came, members that we do not know included: sellers compare it with their own.
    accepted: offer.given,
    ...(resource !== null && { resource: { url: resource } }),
    extensions: { [PAYMENT_IDENTIFIER]: identifier },
    payload,
  });
}

/**
 * The proof of a payment, from its record and what its creator may see; null where nothing can be shown for it. A token that
 * was sent on Solana is no proof: sellers take tokens there through their own fee payer alone (design §6).
 */
export function proofOf(
  { asset, pursuit, resource }: Pick<Payment, "asset" | "pursuit" | "resource">,
  { network }: Pick<GatewayNetwork, "network">,
  offer: ReadOffer | undefined,
  shown: Shown | undefined,
): string | null {
  if (shown?.kind === "proof") return shown.header;
  if (!shown || (network.family === "solana" && asset !== NATIVE)) return null;
  const transaction = bytesOf(pursuit);
  if (transaction === undefined) return null;
  const { secret, retryKey } = shown;
  return toPaymentProof({ network, offer, resource, retryKey }, { transaction, secret });
}

/** The signed bytes in base64: a seller's node may not have seen them yet, and then only the bytes can be judged. */
function bytesOf(pursuit: Payment["pursuit"]): string | undefined {
  if (pursuit.kind === "evm" && pursuit.raw !== null) return toBase64(toBytes(pursuit.raw));
  if (pursuit.kind !== "solana" || pursuit.wire === null) return undefined;
  return fromBase64(pursuit.wire) ? pursuit.wire : undefined;
}
