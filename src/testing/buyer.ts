// A small buyer for tests: reads a 402, signs one offer, asks again once. It has no budget: it pays whatever is asked. What
// it pays with is a payer (payers/); here is the envelope of both protocol versions. Source: protocol §1, §2.
import type { Signer } from "./authorization.js";
import { caip2Of, v1NameOf, wireAssetOf } from "./chain-names.js";
import { amountOf, type Challenge, type Offer, readChallenge } from "./challenge.js";
import { type AuthorizationParts, eip3009Payer, type SignedAuthorization } from "./payers/eip3009.js";
import type { Payer } from "./payers/payer.js";

interface Envelope {
  /** An offer of either version, or a requirement. */
  readonly offer: Offer;
  readonly version: 1 | 2;
  /** v2: what is echoed beside the offer. */
  readonly challenge?: Pick<Challenge, "resource" | "extensions">;
  /** 16 to 128 characters; makes a lost answer collectable. */
  readonly retryKey?: string;
}

/** Pays by an EIP-3009 authorization of the account. */
export interface SignPaymentOptions extends Envelope, AuthorizationParts {
  readonly account: Signer;
}

/** Pays with whatever the payer pays with. */
export interface PayerPaymentOptions<Signed extends object> extends Envelope {
  readonly payer: Payer<Signed>;
}

/** A payment, ready to send any number of times. */
export interface PaymentHeader {
  readonly name: "X-PAYMENT" | "PAYMENT-SIGNATURE";
  readonly value: string;
  /** The payment header, and the retry key where it is a header. */
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: object;
}

/** With what was signed; an authorization unless said otherwise. */
export type SignedPayment<Signed extends object = SignedAuthorization> = PaymentHeader & Signed;

type AnyOptions = SignPaymentOptions | PayerPaymentOptions<object>;

/**
 * Signs one offer. `account` is short for the payer of EIP-3009 authorizations.
 * @example
 * const payment = await signPayment({ account, offer: challenge.accepts[0], version: 2, challenge });
 * await fetch(url, { headers: payment.headers });
 */
export function signPayment(options: SignPaymentOptions): Promise<SignedPayment>;
export function signPayment<Signed extends object>(
  options: PayerPaymentOptions<Signed>,
): Promise<SignedPayment<Signed>>;
export async function signPayment(options: AnyOptions): Promise<SignedPayment<object>> {
  const { offer, version, challenge = {}, retryKey } = options;
  const { payload: exact, signed } = await payerOf(options).sign(offer, version);
  const payload =
    version === 1
      ? { x402Version: 1, scheme: offer.scheme, network: v1NameOf(offer.network), payload: exact }
      : {
          x402Version: 2,
          // An offer of a v2 challenge goes back unchanged, unknown members too.
          accepted: typeof offer.amount === "string" ? offer : toV2Offer(offer),
          ...(challenge.resource !== undefined && { resource: challenge.resource }),
          ...echo(challenge.extensions, retryKey),
          payload: exact,
        };
  const name = version === 1 ? "X-PAYMENT" : "PAYMENT-SIGNATURE";
  const value = encode(payload);
  const key = version === 1 && retryKey !== undefined ? { "Idempotency-Key": retryKey } : undefined;
  return { name, value, headers: { [name]: value, ...key }, payload, ...signed };
}

const payerOf = (options: AnyOptions): Payer =>
  "payer" in options ? options.payer : eip3009Payer(options.account, options);

interface Shopping {
  /** Which offer to sign; the first that can be paid where it is absent. */
  readonly choose?: (offers: readonly Offer[]) => Offer | undefined;
  readonly fetch?: typeof globalThis.fetch;
}

export type PayOptions = Omit<SignPaymentOptions, "offer" | "challenge"> & Shopping;
export type PayWithOptions<Signed extends object> = Omit<PayerPaymentOptions<Signed>, "offer" | "challenge"> & Shopping;

/** `challenge` and `payment` are absent when the first answer was no 402. */
export interface Paid<Signed extends object = SignedAuthorization> {
  readonly response: Response;
  readonly challenge?: Challenge;
  readonly payment?: SignedPayment<Signed>;
  /** Name and value of the payment header that was sent. */
  readonly header?: Readonly<Record<string, string>>;
}

/**
 * Asks, reads the 402, signs, asks again once. `init.body` must be sendable twice.
 * @example
 * const { response } = await pay(url, {}, { account: await sandbox.newBuyer(), version: 2 });
 */
export function pay(url: string | URL, init: RequestInit, options: PayOptions): Promise<Paid>;
export function pay<Signed extends object>(
  url: string | URL,
  init: RequestInit,
  options: PayWithOptions<Signed>,
): Promise<Paid<Signed>>;
export async function pay(
  url: string | URL,
  init: RequestInit,
  options: PayOptions | PayWithOptions<object>,
): Promise<Paid<object>> {
  const { choose, fetch = globalThis.fetch, version } = options;
  const unpaid = await fetch(url, init);
  if (unpaid.status !== 402) return { response: unpaid };
  const challenge = await readChallenge(unpaid, version);
  // An unread body would hold the connection.
  if (!unpaid.bodyUsed) await unpaid.arrayBuffer();
  const payer = "payer" in options ? options.payer : eip3009Payer(options.account, options);
  const offer = choose ? choose(challenge.accepts) : challenge.accepts.find((one) => payer.takes(one));
  if (offer === undefined) throw new Error(nothingToSign(`${url}`, challenge));
  const { retryKey } = options;
  const payment = await signPayment({ payer, offer, version, challenge, ...(retryKey !== undefined && { retryKey }) });
  const headers = new Headers(init.headers);
  for (const [name, value] of Object.entries(payment.headers)) headers.set(name, value);
  const response = await fetch(url, { ...init, headers });
  return { response, challenge, payment, header: { [payment.name]: payment.value } };
}

/** What was there instead, because the payer was made for something else. */
function nothingToSign(url: string, { x402Version, accepts }: Challenge): string {
  const offers = accepts.map(({ network, asset, extra }) => {
    const own = extra?.assetTransferMethod === "transaction" ? " by a transaction of the buyer's own" : "";
    return `${asset} on ${network}${own}`;
  });
  const found = offers.length > 0 ? offers.join("; ") : "none";
  const hint =
    x402Version === 1
      ? ". Beside other offers, those in the chain's own currency stand in the challenge of version 2 only: pay with version: 2"
      : "";
  return `The 402 of ${url} holds no offer that this buyer signs. Its offers: ${found}${hint}`;
}

/** Every advertised extension goes back; the retry key is the id of `payment-identifier` (protocol §8). */
function echo(offered: Challenge["extensions"], retryKey: string | undefined): { extensions?: object } {
  if (retryKey === undefined) return offered === undefined ? {} : { extensions: offered };
  const identifier = offered?.["payment-identifier"];
  const info = { ...identifier?.info, id: retryKey };
  return { extensions: { ...offered, "payment-identifier": { ...identifier, info } } };
}

function toV2Offer(offer: Offer): object {
  const { scheme, network, payTo, maxTimeoutSeconds, extra } = offer;
  const money = { amount: `${amountOf(offer)}`, asset: wireAssetOf(offer) };
  return { scheme, network: caip2Of(network), ...money, payTo, maxTimeoutSeconds, extra };
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value), "utf8").toString("base64");
