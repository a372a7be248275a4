// What the tests of `tollgate explain` share: values as buyers and sellers make them, and what the command says of them.
import { privateKeyToAccount } from "viem/accounts";
import type { Offer } from "../../src/testing/challenge.js";
import { type AuthorizationParts, eip3009Payer } from "../../src/testing/payers/eip3009.js";
import { encodeHeader } from "../../src/wire/header.js";
import { type Ran, run } from "./cli.js";

export const BUYER = privateKeyToAccount(`0x${"11".repeat(32)}`);
export const PAYEE = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
export const USDC = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";

export const OFFER = {
  scheme: "exact",
  network: "eip155:84532",
  amount: "10000",
  asset: USDC,
  payTo: PAYEE,
  maxTimeoutSeconds: 60,
  extra: { name: "USDC", version: "2" },
} as const satisfies Offer;

export const RESOURCE = { url: "https://api.example/report", description: "A report", mimeType: "application/json" };

export interface Payment {
  readonly payload: { readonly signature: string; readonly authorization: Record<string, unknown> };
  readonly [member: string]: unknown;
}

/** A payment of version 2 for the offer, decoded. */
export async function payment(parts: AuthorizationParts = {}, offer: Offer = OFFER): Promise<Payment> {
  const { payload } = await eip3009Payer(BUYER, parts).sign(offer, 2);
  return { x402Version: 2, accepted: offer, resource: RESOURCE, payload: payload as Payment["payload"] };
}

/** The same as version 1 puts it. */
export const asV1 = ({ payload }: Payment, network = "base-sepolia") => ({
  ...{ x402Version: 1, scheme: "exact", network },
  payload,
});

export const challenge = (offer: object = OFFER, more: object = {}) => ({
  ...{ x402Version: 2, error: "payment_required", resource: RESOURCE, accepts: [offer] },
  ...more,
});

export interface Told {
  readonly code: number;
  readonly found: readonly Found[];
  /** `place: expected …, got …` of all flaws, in order. */
  readonly flaws: readonly string[];
}

interface Found {
  readonly kind: string;
  readonly version: number | undefined;
  readonly says: string;
  readonly facts: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
  readonly flaws: readonly { readonly place: string; readonly expected: string; readonly got: string }[];
  readonly offers: readonly Found[];
}

/** Explains text from a pipe, as a program sees it. */
export async function explain(text: string): Promise<Told> {
  return told(await run(["explain"], { input: text }));
}

/** Explains a value in its header. */
export const explainHeader = (name: string, value: object) => explain(`${name}: ${encodeHeader(value)}`);

export function told({ code, stdout }: Ran): Told {
  const { ok, found } = JSON.parse(stdout) as { ok: boolean; found: Found[] };
  const all = (one: Found): Found[] => [one, ...one.offers.flatMap(all)];
  const flaws = found.flatMap(all).flatMap((one) => one.flaws);
  if (ok !== (flaws.length === 0)) throw new Error("ok does not fit the flaws");
  return { code, found, flaws: flaws.map(({ place, expected, got }) => `${place}: expected ${expected}, got ${got}`) };
}
