// Fields that several endpoints share. The OpenAPI document is made of these very schemas.
import { expandNumber, parseDecimal } from "../../money.js";
import { z } from "./zod.js";

const MAX_RESOURCE = 2048;
const MAX_METADATA_BYTES = 4096;
const MAX_METADATA_LEVELS = 8;
const MAX_DECIMAL = 80;

/** A number, or decimal text where a number would not be exact. `facts` stand in the OpenAPI document. */
const decimalOf = (facts: { readonly minimum?: number; readonly maximum?: number }) =>
  z.union(
    [
      z.number("expected a number").positive("expected more than 0").openapi(facts),
      z
        .string("expected a number or decimal text")
        .max(MAX_DECIMAL, `expected at most ${MAX_DECIMAL} characters`)
        .regex(/^(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/, { error: 'expected decimal text such as "0.01"', abort: true }),
    ],
    "expected a number or decimal text",
  );

export const decimal = decimalOf({});
export type Decimal = z.infer<typeof decimal>;

/** Exact, whatever the number of decimals: both are brought to atomic units of an asset with more of them than the text may have. */
function isWithin(value: Decimal, least: string, most: string): boolean {
  const exact = (text: string) => parseDecimal(text, MAX_DECIMAL);
  const [given, low, high] = [
    exact(typeof value === "number" ? expandNumber(value) : value),
    exact(least),
    exact(most),
  ];
  return given.ok && low.ok && high.ok && low.amount <= given.amount && given.amount <= high.amount;
}

/**
 * A decimal within bounds, compared as decimal text. `hint`: what else the refusal tells.
 *
 * @example decimalWithin("0.001", "100")
 */
export const decimalWithin = (least: string, most: string, hint = "") =>
  decimalOf({ minimum: Number(least), maximum: Number(most) }).refine(
    (value) => isWithin(value, least, most),
    `expected from ${least} to ${most}${hint}`,
  );

/** At most this on every endpoint, in native currency. */
export const MAX_PRIORITY_FEE = "0.01";

/** Of either chain family; which one it is of decides the default network. */
export const walletAddress = z
  .string("expected a wallet address")
  .regex(
    /^(?:0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/,
    "expected an EVM address (0x and 40 hex digits) or a Solana address (base58 of 32 bytes)",
  );

/** What every database gives back as it came. */
export const isWhole = (text: string): boolean => !/[\0\p{Cs}]/u.test(text);

export const resource = z
  .string("expected the URL of the resource")
  .min(1)
  .max(MAX_RESOURCE)
  .refine(isWhole, "expected whole characters and no NUL");

function levels(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(levels));
}

export const metadata = z
  .record(z.string(), z.unknown(), "expected an object")
  .refine((value) => levels(value) <= MAX_METADATA_LEVELS, `expected at most ${MAX_METADATA_LEVELS} levels`)
  .refine(
    (value) => new TextEncoder().encode(JSON.stringify(value)).length <= MAX_METADATA_BYTES,
    `expected at most ${MAX_METADATA_BYTES} bytes of JSON`,
  );

/** What a reader of the API is told of fields that stand in several requests. */
export const WORDS = {
  network: "CAIP-2 id or name; without it the default network of the address's chain family",
  asset: "Symbol or address; without it the chain's native currency",
  priorityFee: "Whole extra fee, in native currency; without it automatic",
  resource: "URL of the resource that is paid for; never fetched",
  metadata: "Any object of at most 4 KiB and 8 levels; kept with the record",
  status: "Where the payment is: see payment states",
  assetName: "Symbol of the chain's own currency, or the address of a token",
  networkId: "CAIP-2 id",
  amount: "Whole units of the asset, as a number",
  amountAtomic: "Atomic units, exact",
  transactionId: "Id of the transaction; null while there is none",
  blockHeight: "Block (EVM) or slot (Solana) it stands in",
  estimatedConfirmation: 'How long it usually takes, as text such as "2-5 seconds"',
} as const;

/** CAIP-2 or a name; absent = the default network of the address's chain family. */
export const network = z.string("expected a network").min(1).max(64).describe(WORDS.network);
/** A symbol or an address; absent = the chain's native currency. */
export const asset = z.string("expected a symbol or an address").min(1).max(64).describe(WORDS.asset);
/** The total extra fee in native currency. */
export const priorityFee = decimalWithin("0", MAX_PRIORITY_FEE).describe(WORDS.priorityFee);

export const paymentStatus = z.enum(["created", "submitted", "confirmed", "finalized", "failed", "expired"]);
/** Unix seconds. */
export const instant = z.int();
export const success = z.literal(true).describe("Always true; an error has false");
