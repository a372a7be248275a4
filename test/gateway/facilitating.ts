// Sellers of other makes: what their servers send to `/verify` and `/settle` for a buyer's payment.
import type { Answer, CallOptions } from "./call.js";
import { decode, type Kind, type Offer, sign, toWire } from "./receiving.js";
import type { GatewayWorld } from "./world.js";

export interface FacilitatorBody {
  readonly x402Version: 1 | 2;
  readonly paymentPayload: Record<string, unknown>;
  readonly paymentRequirements: Record<string, unknown>;
}

const V1_NAMES: Readonly<Record<string, string>> = { "eip155:84532": "base-sepolia" };
const RESOURCE = "https://shop.example/report";

/** The seller's own copy of an offer, in the shape of its version. */
export function requirementsOf(version: 1 | 2, given: Offer): Record<string, unknown> {
  const { amount, network, ...offer } = toWire(given);
  if (version === 2) return { ...offer, network, amount };
  const name = V1_NAMES[network] ?? "solana-devnet";
  const about = { resource: RESOURCE, description: "", mimeType: "application/json" };
  return { ...offer, network: name, maxAmountRequired: amount, ...about };
}

/** A payment for the offer, as its seller shows it. */
export async function bodyOf(
  kind: Kind,
  payTo: string,
  options: Parameters<typeof sign>[2] & { readonly required?: Record<string, unknown> } = {},
): Promise<FacilitatorBody> {
  const offer = options.offer ?? kind.offer(payTo);
  const paymentPayload = decode(await sign(kind, payTo, { resource: RESOURCE, ...options }));
  const paymentRequirements = { ...requirementsOf(kind.version, offer), ...options.required };
  return { x402Version: kind.version, paymentPayload, paymentRequirements };
}

type Caller = Pick<GatewayWorld, "call">;

export const verify = (world: Caller, body: object, options?: CallOptions): Promise<Answer> =>
  world.call("POST", "/verify", body, options);

export const settle = (world: Caller, body: object, options?: CallOptions): Promise<Answer> =>
  world.call("POST", "/settle", body, options);

/** `valid`, `settled`, the protocol's reason, or status and code of what is no verdict. */
export function wordOf({ status, body }: Answer): string {
  if (status !== 200) return `${status} ${String(body.error?.code)}`;
  if (body.isValid !== undefined) return String(body.isValid ? "valid" : body.invalidReason);
  return String(body.success ? "settled" : body.errorReason);
}
