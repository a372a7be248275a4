// 402s as sellers write them, for the tests of who reads them. Each part can be replaced, which is what a dishonest seller does.

import { type ReadChallenge, readChallenge } from "../../src/client/challenge.js";
import type { Challenge, Offer } from "../../src/client/offer.js";
import { encodeHeader } from "../../src/wire/header.js";

export type Json = Readonly<Record<string, unknown>>;

export const PAYEE = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
export const USDC = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
export const ZERO = `0x${"0".repeat(40)}`;
/** A token that no table knows. */
export const FOREIGN = "0x5FbDB2315678afecb367f032d93F642f64180aa3";
export const MINT = "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU";
export const SOLANA_PAYEE = "GyGKxMyg1p9SsHfm15MkNUu1u9TN2JtTspcdmrtGUdse";
export const FEE_PAYER = "9hSR6S7WPtxmTojgo6GG3k4yDPecgJY292j7xrsUGWBu";
export const SYSTEM = "1".repeat(32);

/** USDC on Base Sepolia. */
export const evm = (parts: Json = {}): Json => ({
  scheme: "exact",
  network: "eip155:84532",
  amount: "10000",
  asset: USDC,
  payTo: PAYEE,
  maxTimeoutSeconds: 300,
  extra: { name: "USDC", version: "2" },
  ...parts,
});

/** USDC on Solana's devnet. */
export const spl = (parts: Json = {}): Json => ({
  scheme: "exact",
  network: "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
  amount: "10000",
  asset: MINT,
  payTo: SOLANA_PAYEE,
  maxTimeoutSeconds: 60,
  extra: { feePayer: FEE_PAYER },
  ...parts,
});

const BY_TRANSACTION = { assetTransferMethod: "transaction", paymentFlow: "upfront" };
export const ether = (parts: Json = {}): Json => evm({ asset: ZERO, extra: BY_TRANSACTION, ...parts });
export const sol = (parts: Json = {}): Json => spl({ asset: SYSTEM, extra: BY_TRANSACTION, ...parts });
/** A token without authorizations. */
export const plain = (parts: Json = {}): Json => evm({ asset: FOREIGN, extra: BY_TRANSACTION, ...parts });

const NAMES: Readonly<Record<string, string>> = {
  "eip155:84532": "base-sepolia",
  "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1": "solana-devnet",
};

/** The same offer as version 1 writes it. */
export function inV1({ amount, network, ...offer }: Json, parts: Json = {}): Json {
  const resource = { resource: "https://shop.example/report", description: "One report", mimeType: "text/plain" };
  return { ...offer, network: NAMES[String(network)] ?? network, maxAmountRequired: amount, ...resource, ...parts };
}

export const challengeV2 = (accepts: readonly unknown[], parts: Json = {}): Json => ({
  x402Version: 2,
  error: "Payment required",
  resource: { url: "https://shop.example/report", description: "One report", mimeType: "text/plain" },
  accepts,
  ...parts,
});

export const challengeV1 = (accepts: readonly unknown[], parts: Json = {}): Json => ({
  x402Version: 1,
  error: "X-PAYMENT header is required",
  accepts,
  ...parts,
});

export interface Answer {
  /** Encoded for `PAYMENT-REQUIRED`; text goes as it is. */
  readonly header?: unknown;
  /** JSON unless it can be a body by itself. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export function answer402({ header, body, headers = {} }: Answer): Response {
  const required = typeof header === "string" || header === undefined ? header : encodeHeader(header);
  const raw = typeof body === "string" || body instanceof ReadableStream || body === undefined;
  return new Response(raw ? (body as string | ReadableStream<Uint8Array> | undefined) : JSON.stringify(body), {
    status: 402,
    headers: { ...headers, ...(required !== undefined && { "PAYMENT-REQUIRED": required }) },
  });
}

export const read = (answer: Answer): Promise<ReadChallenge> => readChallenge(answer402(answer));

/** The challenge of these offers, in the header of version 2. */
export async function challengeOf(...accepts: readonly Json[]): Promise<Challenge> {
  const made = await read({ header: challengeV2(accepts) });
  if (!made.ok) throw new Error(made.reason);
  return made.challenge;
}

/** One offer that can be paid. */
export async function offerOf(given: Json): Promise<Offer> {
  const { offers, unpayable } = await challengeOf(given);
  const [offer] = offers;
  if (!offer) throw new Error(unpayable[0]?.reason);
  return offer;
}
