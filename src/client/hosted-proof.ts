// The gateway's answer to a send, as a wallet's answer: the payload out of its header value, and how long it is good. Whether it is
// what the offer asks for is looked at by whoever sends it on.
import { MAX_TRANSACTION_AGE_MS } from "../proof.js";
import { decodeHeader } from "../wire/header.js";
import { type ExactEvmPayload, type PaymentPayload, parsePaymentPayload } from "../wire/payload.js";
import type { SendAnswer } from "./gateway-client-shapes.js";
import type { Offer } from "./offer.js";
import { unsigned } from "./unsigned.js";
import type { Signed } from "./wallet.js";

/** A blockhash is good for 150 blocks, 60 to 90 s: after this it is surely over. */
const BLOCKHASH_LIFE_MS = 150_000;

/** Reads it. What is said of a transfer here is said of one that may be on its way. */
export async function readProof(answer: SendAnswer, offer: Offer, own: string): Promise<Signed> {
  const { sender, paymentProof, timestamp } = answer;
  if (!isSame(offer, String(sender), own)) return unsigned(`the gateway paid from another wallet than ${own}`);
  if (typeof paymentProof !== "string") return unsigned("the gateway shows no proof of this payment");
  const payload = decode(paymentProof);
  if (!payload) return unsigned("the gateway's proof cannot be read");
  const expiresAt = endOf(payload, timestamp * 1000);
  if (Number.isSafeInteger(expiresAt) && expiresAt > Date.now()) return { ok: true, payload, payer: own, expiresAt };
  const over = "the gateway has answered this retry key before, with a proof that is over: use another Idempotency-Key";
  return { ...unsigned(over), sent: false };
}

const isSame = ({ network }: Offer, a: string, b: string): boolean =>
  network.family === "evm" ? a.toLowerCase() === b.toLowerCase() : a === b;

type Payload = PaymentPayload["payload"];
const isAuthorization = (payload: Payload): payload is ExactEvmPayload => "authorization" in payload;

function decode(text: string): Payload | undefined {
  const decoded = decodeHeader(text);
  if (!decoded.ok) return undefined;
  const version = Reflect.get(Object(decoded.value), "x402Version") === 2 ? 2 : 1;
  const parsed = parsePaymentPayload(version, decoded.value);
  return parsed.ok ? parsed.payload.payload : undefined;
}

/** @param madeAt epoch milliseconds */
function endOf(payload: Payload, madeAt: number): number {
  if (isAuthorization(payload)) return Number(payload.authorization.validBefore) * 1000;
  // With its secret it is a transfer that is public; sellers take one of the last quarter of an hour.
  return madeAt + (payload.secret ? MAX_TRANSACTION_AGE_MS : BLOCKHASH_LIFE_MS);
}
