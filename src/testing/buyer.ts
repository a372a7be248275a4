// A small buyer for tests: reads a 402, signs one offer, asks again once. It shares no code with the paywall's own wire
// layer, so that a mistake there cannot cancel itself out. It has no budget: it pays whatever is asked. Source: protocol §1, §2.
import type { Address, Hex } from "viem";
import * as z from "zod/mini";
import { type AuthorizationMessage, type Signer, signAuthorization, type TokenDomain } from "./authorization.js";

const address = z.custom<Address>((value) => typeof value === "string" && /^0x[0-9a-fA-F]{40}$/.test(value));
/** One entry of `accepts` in either version, or a requirement of the paywall itself. Unknown members are kept. */
const offerSchema = z.looseObject({
  scheme: z.string(),
  network: z.string(),
  amount: z.optional(z.union([z.string(), z.bigint()])),
  maxAmountRequired: z.optional(z.string()),
  asset: address,
  payTo: address,
  maxTimeoutSeconds: z.number(),
  extra: z.looseObject({ name: z.string(), version: z.string() }),
});
const challengeSchema = z.looseObject({
  x402Version: z.union([z.literal(1), z.literal(2)]),
  error: z.optional(z.string()),
  resource: z.optional(z.unknown()),
  accepts: z.array(offerSchema),
  extensions: z.optional(z.record(z.string(), z.looseObject({ info: z.optional(z.looseObject({})) }))),
});
const receiptSchema = z.looseObject({
  success: z.boolean(),
  transaction: z.string(),
  network: z.string(),
  payer: z.optional(z.string()),
  errorReason: z.optional(z.string()),
});

export type Offer = z.infer<typeof offerSchema>;
export type Challenge = z.infer<typeof challengeSchema>;
export type Receipt = z.infer<typeof receiptSchema>;

export interface SignPaymentOptions {
  readonly account: Signer;
  /** An offer of either version, or a requirement. */
  readonly offer: Offer;
  readonly version: 1 | 2;
  /** v2: what is echoed beside the offer. */
  readonly challenge?: Pick<Challenge, "resource" | "extensions">;
  /** 16 to 128 characters; makes a lost answer collectable. */
  readonly retryKey?: string;
  /** Members of the authorization signed in place of the right ones. */
  readonly overrides?: Partial<AuthorizationMessage>;
  /** Members of the token's domain signed in place of the right ones. */
  readonly domain?: Partial<TokenDomain>;
  /** Sent in place of the signature. */
  readonly signature?: Hex;
}

/** A signed payment, ready to send any number of times. */
export interface SignedPayment {
  readonly name: "X-PAYMENT" | "PAYMENT-SIGNATURE";
  readonly value: string;
  /** The payment header, and the retry key where it is a header. */
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: object;
  readonly message: AuthorizationMessage;
  readonly signature: Hex;
}

/** EIP-155 numbers of the v1 names a test may meet. */
const v1Chains: Readonly<Record<string, number>> = {
  base: 8453,
  "base-sepolia": 84532,
  polygon: 137,
  "polygon-amoy": 80002,
  avalanche: 43114,
  "avalanche-fuji": 43113,
};

/**
 * Signs one offer: validAfter 600 s ago, validBefore in `maxTimeoutSeconds`, a random nonce.
 * @example
 * const payment = await signPayment({ account, offer: challenge.accepts[0], version: 2, challenge });
 * await fetch(url, { headers: payment.headers });
 */
export async function signPayment(options: SignPaymentOptions): Promise<SignedPayment> {
  const { account, offer, version, challenge = {}, retryKey, overrides } = options;
  const chainId = chainIdOf(offer.network);
  const amount = `${offer.amount ?? offer.maxAmountRequired}`;
  const { name, version: tokenVersion } = offer.extra;
  const domain = { name, version: tokenVersion, chainId, verifyingContract: offer.asset, ...options.domain };
  const now = BigInt(Math.floor(Date.now() / 1000));
  const window = { validAfter: now - 600n, validBefore: now + BigInt(offer.maxTimeoutSeconds) };
  const parts = { to: offer.payTo, value: BigInt(amount), ...window, ...overrides };
  const { message, signature: signed } = await signAuthorization(account, domain, parts);
  const signature = options.signature ?? signed;

  const { from, to, nonce } = message;
  const [value, validAfter, validBefore] = [message.value, message.validAfter, message.validBefore].map(String);
  const exact = { signature, authorization: { from, to, value, validAfter, validBefore, nonce } };
  const payload =
    version === 1
      ? { x402Version: 1, scheme: offer.scheme, network: v1Name(offer.network), payload: exact }
      : {
          x402Version: 2,
          // An offer of a v2 challenge goes back unchanged, unknown members too.
          accepted: typeof offer.amount === "string" ? offer : toV2Offer(offer, chainId, amount),
          ...(challenge.resource !== undefined && { resource: challenge.resource }),
          ...echo(challenge.extensions, retryKey),
          payload: exact,
        };
  const header = version === 1 ? "X-PAYMENT" : "PAYMENT-SIGNATURE";
  const encoded = encode(payload);
  const key = version === 1 && retryKey !== undefined ? { "Idempotency-Key": retryKey } : undefined;
  return { name: header, value: encoded, headers: { [header]: encoded, ...key }, payload, message, signature };
}

export interface PayOptions extends Omit<SignPaymentOptions, "offer" | "challenge"> {
  /** Which offer to sign; the first where it is absent. */
  readonly choose?: (offers: readonly Offer[]) => Offer | undefined;
  readonly fetch?: typeof globalThis.fetch;
}

/** `challenge` and `payment` are absent when the first answer was no 402. */
export interface Paid {
  readonly response: Response;
  readonly challenge?: Challenge;
  readonly payment?: SignedPayment;
  /** Name and value of the payment header that was sent. */
  readonly header?: Readonly<Record<string, string>>;
}

/**
 * Asks, reads the 402, signs, asks again once. `init.body` must be sendable twice.
 * @example
 * const { response } = await pay(url, {}, { account: await sandbox.newBuyer(), version: 2 });
 */
export async function pay(url: string | URL, init: RequestInit, options: PayOptions): Promise<Paid> {
  const { choose = (offers) => offers[0], fetch = globalThis.fetch, ...signing } = options;
  const unpaid = await fetch(url, init);
  if (unpaid.status !== 402) return { response: unpaid };
  const challenge = await readChallenge(unpaid, options.version);
  // An unread body would hold the connection.
  if (!unpaid.bodyUsed) await unpaid.arrayBuffer();
  const offer = choose(challenge.accepts);
  if (offer === undefined) throw new Error(`The 402 of ${url} holds no offer to sign`);
  const payment = await signPayment({ ...signing, offer, challenge });
  const headers = new Headers(init.headers);
  for (const [name, value] of Object.entries(payment.headers)) headers.set(name, value);
  const response = await fetch(url, { ...init, headers });
  return { response, challenge, payment, header: { [payment.name]: payment.value } };
}

/** The challenge of a 402: the v2 header or the v1 body. Throws when it is not there or not of that version. */
export async function readChallenge(response: Response, version: 1 | 2): Promise<Challenge> {
  const header = response.headers.get("PAYMENT-REQUIRED");
  if (version === 2 && header === null) throw new Error("The 402 has no PAYMENT-REQUIRED header");
  const challenge = challengeSchema.parse(version === 2 ? decode(header ?? "") : await response.json());
  if (challenge.x402Version !== version) throw new Error(`The challenge is of version ${challenge.x402Version}`);
  return challenge;
}

/** The settlement result of a paid answer, in whichever header it stands; undefined without one. */
export function readReceipt(response: Response): Receipt | undefined {
  const header = response.headers.get("PAYMENT-RESPONSE") ?? response.headers.get("X-PAYMENT-RESPONSE");
  return header === null ? undefined : receiptSchema.parse(decode(header));
}

/** Every advertised extension goes back; the retry key is the id of `payment-identifier` (protocol §8). */
function echo(offered: Challenge["extensions"], retryKey: string | undefined): { extensions?: object } {
  if (retryKey === undefined) return offered === undefined ? {} : { extensions: offered };
  const identifier = offered?.["payment-identifier"];
  const info = { ...identifier?.info, id: retryKey };
  return { extensions: { ...offered, "payment-identifier": { ...identifier, info } } };
}

function toV2Offer(offer: Offer, chainId: number, amount: string): object {
  const { scheme, asset, payTo, maxTimeoutSeconds, extra } = offer;
  return { scheme, network: `eip155:${chainId}`, amount, asset, payTo, maxTimeoutSeconds, extra };
}

function chainIdOf(network: string): number {
  const chainId = network.startsWith("eip155:") ? Number(network.slice(7)) : v1Chains[network];
  if (chainId === undefined) throw new Error(`The test buyer does not know the network ${network}`);
  return chainId;
}

function v1Name(network: string): string {
  const name = Object.keys(v1Chains).find((key) => v1Chains[key] === chainIdOf(network));
  if (name === undefined) throw new Error(`The test buyer knows no v1 name of ${network}`);
  return name;
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value), "utf8").toString("base64");
const decode = (text: string): unknown => JSON.parse(Buffer.from(text, "base64").toString("utf8"));
