// POST /payment/receive and POST /transaction/receive. Source: gateway-spec, design §7.
import {
  asset,
  decimal,
  instant,
  network,
  paymentStatus,
  priorityFee,
  resource,
  success,
  WORDS,
  walletAddress,
} from "./fields.js";
import { z } from "./zod.js";

const MAX_PROOF = 16 * 1024;

const common = {
  walletAddress: walletAddress.describe("The wallet that receives; its form decides the chain family"),
  paymentProof: z
    .string("expected the payment proof")
    .min(1)
    .max(MAX_PROOF)
    .describe("What the buyer sent in X-PAYMENT or PAYMENT-SIGNATURE, as it came"),
  expectedAmount: decimal.describe("The price, in whole units of the asset"),
  resource: resource.optional().describe("URL that was paid for; a proof that names another one is refused"),
  facilitatorUrl: z
    .string("expected a URL")
    .max(2048)
    .optional()
    .describe("Facilitator to ask, one that the operator permits; without it this gateway itself"),
  network: network.optional(),
  asset: asset.optional(),
};

export const receiveRequest = z
  .strictObject({
    ...common,
    timeout: z
      .number("expected seconds")
      .min(1, "expected at least 1")
      .max(300, "expected at most 300")
      .default(30)
      .describe("Seconds to wait for the verdict"),
    settle: z.boolean("expected true or false").default(true).describe("false verifies only, and grants nothing"),
  })
  .openapi("ReceiveRequest");
export type ReceiveRequest = z.infer<typeof receiveRequest>;

export const buildReceiveRequest = z
  .strictObject({ ...common, priorityFee: priorityFee.optional() })
  .openapi("BuildReceiveRequest");
export type BuildReceiveRequest = z.infer<typeof buildReceiveRequest>;

export const receiveAnswer = z
  .object({
    success,
    verified: z.boolean().describe("true; a proof that is not good is an error"),
    paymentId: z.string().nullable().describe("The record; null where nothing was settled"),
    status: paymentStatus
      .nullable()
      .describe("confirmed or finalized; submitted on a foreign word; null where nothing was settled"),
    payer: z.string().describe("Who paid"),
    recipient: z.string().describe("Who was paid"),
    amount: z.number().describe("What came, in whole units of the asset"),
    amountAtomic: z.string().describe(WORDS.amountAtomic),
    expectedAmount: z.number().describe("The price, as it was asked for"),
    asset: z.string().describe(WORDS.assetName),
    network: z.string().describe(WORDS.networkId),
    signature: z.string().nullable().describe(WORDS.transactionId),
    blockHeight: z.int().nullable().describe(WORDS.blockHeight),
    timestamp: instant.describe("When the record was last changed; when it was verified where there is none"),
    resource: z.string().nullable().describe("As it was sent"),
    facilitatorUrl: z.string().optional().describe("The facilitator whose word this is, until the chain has shown it"),
    balanceAtomic: z.string().optional().describe("With settle: false, what the payer holds, where it is known"),
    minedAt: instant
      .optional()
      .describe("With settle: false, when a transaction that is on the chain already was mined"),
  })
  .openapi("ReceiveAnswer");
export type ReceiveAnswer = z.infer<typeof receiveAnswer>;
