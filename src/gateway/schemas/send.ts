// POST /payment/send and POST /transaction/send. Source: gateway-spec, design §7.
import { z } from "@hono/zod-openapi";
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
  walletAddress,
} from "./fields.js";

/** One offer of a seller's 402, as it stands in `accepts`: v1 or v2. */
export const offer = z.looseObject({
  scheme: z.string().max(64),
  network: z.string().max(64),
  asset: z.string().max(64),
  payTo: z.string().max(64),
  maxTimeoutSeconds: z.number().positive().max(86_400),
  /** v2 */
  amount: z.string().max(80).optional(),
  /** v1 */
  maxAmountRequired: z.string().max(80).optional(),
  extra: z.looseObject({}).nullish(),
});

const common = {
  walletAddress,
  recipientAddress: z.string("expected the recipient's wallet address").min(1).max(64),
  amount: decimal,
  resource: resource.optional(),
  metadata: metadata.optional(),
  priorityFee: priorityFee.optional(),
  network: network.optional(),
  asset: asset.optional(),
};

export const sendRequest = z
  .strictObject({
    ...common,
    // The specification's bounds, whatever the asset.
    amount: decimalWithin("0.001", "100"),
    priorityFee: decimalWithin("0.00001", MAX_PRIORITY_FEE).optional(),
    requirements: offer.optional(),
  })
  .openapi("SendRequest");
export type SendRequest = z.infer<typeof sendRequest>;

export const buildSendRequest = z.strictObject(common).openapi("BuildSendRequest");
export type BuildSendRequest = z.infer<typeof buildSendRequest>;

export const sendAnswer = z
  .object({
    success,
    paymentId: z.string(),
    status: paymentStatus,
    /** Transaction id; null for a proof that the seller settles. */
    signature: z.string().nullable(),
    network: z.string(),
    asset: z.string(),
    amount: z.number(),
    amountAtomic: z.string(),
    sender: z.string(),
    recipient: z.string(),
    /** Native currency. */
    fee: z.number().nullable(),
    blockHeight: z.int().nullable(),
    timestamp: instant,
    estimatedConfirmation: z.string(),
    resource: z.string().nullable(),
    metadata: z.record(z.string(), z.unknown()).nullable(),
    /** An X-PAYMENT value that opens the resource at the seller; in this answer only. */
    paymentProof: z.string().nullable(),
  })
  .openapi("SendAnswer");
export type SendAnswer = z.infer<typeof sendAnswer>;

export const buildAnswer = z
  .object({
    success,
    paymentId: z.string(),
    status: paymentStatus,
    /** Base64; null where the payment is on the chain already. */
    transaction: z.string().nullable(),
    /** False where the bytes are complete and only have to be broadcast. */
    signatureRequired: z.boolean(),
    network: z.string(),
    asset: z.string(),
    amount: z.number(),
    amountAtomic: z.string(),
    sender: z.string().nullable(),
    recipient: z.string(),
    lastValidBlockHeight: z.int().nullable(),
    expiresAt: instant.nullable(),
    /** 32 bytes, 0x and hex: shown with the transaction it makes a payment proof. In this answer only. */
    secret: z.string().nullable(),
    estimatedConfirmation: z.string(),
  })
  .openapi("BuildAnswer");
export type BuildAnswer = z.infer<typeof buildAnswer>;
