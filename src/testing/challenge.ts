// What a buyer reads: the challenge of a 402 and the receipt of a paid answer, in both versions. It shares no code with the
// paywall's own wire layer, so that a mistake there cannot cancel itself out. Source: protocol §1, §2.
import * as z from "zod/mini";

/** One entry of `accepts` in either version, or a requirement of the paywall itself. Unknown members are kept. */
const offerSchema = z.looseObject({
  scheme: z.string(),
  network: z.string(),
  amount: z.optional(z.union([z.string(), z.bigint()])),
  maxAmountRequired: z.optional(z.string()),
  asset: z.string(),
  payTo: z.string(),
  maxTimeoutSeconds: z.number(),
  extra: z.optional(z.nullable(z.looseObject({}))),
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

/** Atomic units that the offer asks for. */
export function amountOf({ amount, maxAmountRequired }: Offer): bigint {
  const text = amount ?? maxAmountRequired;
  if (text === undefined) throw new Error("The offer names no amount");
  return BigInt(text);
}

/** A text in the offer's `extra`; undefined where there is none. */
export function extraText({ extra }: Offer, key: string): string | undefined {
  const value = extra?.[key];
  return typeof value === "string" ? value : undefined;
}

const decode = (text: string): unknown => JSON.parse(Buffer.from(text, "base64").toString("utf8"));
