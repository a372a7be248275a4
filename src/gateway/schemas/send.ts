// POST /payment/send and POST /transaction/send. Source: gateway-spec, design §7.
import {
  asset,
  decimal,
  decimalWithin,
  instant,
  MAX_PRIORITY_FEE,
  metadata,
  network,
  paymentStatus,
  priorityFee,
  resource,
  success,
  WORDS,
  walletAddress,
} from "./fields.js";
import { z } from "./zod.js";

/** One offer of a seller's 402, as it stands in `accepts`: v1 or v2. */
export const offer = z.looseObject({
  scheme: z.string().max(64).describe('"exact"'),
  network: z.string().max(64).describe("The network of the request"),
  asset: z.string().max(64).describe("Address of the asset, one that this gateway moves"),
  payTo: z.string().max(64).describe("The recipientAddress"),
  maxTimeoutSeconds: z.number().positive().max(86_400).describe("How long the proof is good; at most 600 s are signed"),
  amount: z.string().max(80).optional().describe("x402 v2: the amount in atomic units"),
  maxAmountRequired: z.string().max(80).optional().describe("x402 v1: the same"),
  extra: z.looseObject({}).nullish().describe("As the seller sent it"),
});

const common = {
  walletAddress: walletAddress.describe("The wallet that pays; its form decides the chain family"),
  recipientAddress: z
    .string("expected the recipient's wallet address")
    .min(1)
    .max(64)
    .describe("Who is paid, an address of the same family"),
  amount: decimal.describe("Whole units of the asset"),
  resource: resource.optional().describe(WORDS.resource),
  metadata: metadata.optional().describe(WORDS.metadata),
  priorityFee: priorityFee.optional(),
  network: network.optional(),
  asset: asset.optional(),
};

export const sendRequest = z
  .strictObject({
    ...common,
    // The specification's bounds, whatever the asset.
    amount: decimalWithin("0.001", "100", " (POST /transaction/send takes any amount)").describe(
      "Whole units of the asset",
    ),
    priorityFee: decimalWithin("0.00001", MAX_PRIORITY_FEE).optional().describe(WORDS.priorityFee),
    requirements: offer
      .optional()
      .describe("One offer of a seller's 402, as it stands in accepts: signs for exactly that; its asset counts"),
  })
  .openapi("SendRequest");
export type SendRequest = z.infer<typeof sendRequest>;

export const buildSendRequest = z.strictObject(common).openapi("BuildSendRequest");
export type BuildSendRequest = z.infer<typeof buildSendRequest>;

/** The record that an answer is of. */
const made = {
  success,
  paymentId: z.string().describe("The record"),
  status: paymentStatus.describe(WORDS.status),
};

/** What moves, where. */
const moved = {
  network: z.string().describe(WORDS.networkId),
  asset: z.string().describe(WORDS.assetName),
  amount: z.number().describe(WORDS.amount),
  amountAtomic: z.string().describe(WORDS.amountAtomic),
};

export const sendAnswer = z
  .object({
    ...made,
    signature: z.string().nullable().describe("Id of the transaction; null for a proof that the seller settles"),
    ...moved,
    sender: z.string().describe("Who pays"),
    recipient: z.string().describe("Who is paid"),
    fee: z.number().nullable().describe("What the chain took, in native currency, as far as it is known"),
    blockHeight: z.int().nullable().describe(WORDS.blockHeight),
    timestamp: instant.describe("When the record was made"),
    estimatedConfirmation: z.string().describe(WORDS.estimatedConfirmation),
    resource: z.string().nullable().describe("As it was sent"),
    metadata: z.record(z.string(), z.unknown()).nullable().describe("As it was sent"),
    paymentProof: z
      .string()
      .nullable()
      .describe(
        "The header value that opens the resource at the seller; in this answer and its idempotent repeat only",
      ),
  })
  .openapi("SendAnswer");
export type SendAnswer = z.infer<typeof sendAnswer>;

export const buildAnswer = z
  .object({
    ...made,
    transaction: z.string().nullable().describe("Base64, to be signed; null where the payment is on the chain already"),
    signatureRequired: z.boolean().describe("false: the bytes are complete and only have to be broadcast"),
    ...moved,
    sender: z.string().nullable().describe("Whose money moves"),
    recipient: z.string().describe("Who is paid"),
    lastValidBlockHeight: z.int().nullable().describe("Last block in which it can land; advisory on EVM"),
    expiresAt: instant.nullable().describe("Until when it should be broadcast, typically 60 s after it was built"),
    secret: z
      .string()
      .nullable()
      .describe(
        "32 bytes, 0x and hex: with the signed transaction it is a payment proof; in this answer and its idempotent repeat only",
      ),
    estimatedConfirmation: z.string().describe(WORDS.estimatedConfirmation),
  })
  .openapi("BuildAnswer");
export type BuildAnswer = z.infer<typeof buildAnswer>;
