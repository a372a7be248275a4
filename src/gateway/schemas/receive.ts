// POST /payment/receive and POST /transaction/receive. Source: gateway-spec, design §7.
import { z } from "@hono/zod-openapi";
import {
  asset,
  decimal,
  instant,
  network,
  paymentStatus,
  priorityFee,
  resource,
  success,
  walletAddress,
} from "./fields.js";

const MAX_PROOF = 16 * 1024;

const common = {
  walletAddress,
  /** The value of X-PAYMENT or PAYMENT-SIGNATURE. */
  paymentProof: z.string("expected the payment proof").min(1).max(MAX_PROOF),
  expectedAmount: decimal,
  resource: resource.optional(),
  facilitatorUrl: z.string("expected a URL").max(2048).optional(),
  network: network.optional(),
  asset: asset.optional(),
};

export const receiveRequest = z
  .strictObject({
    ...common,
    /** Seconds. */
    timeout: z.number("expected seconds").min(1, "expected at least 1").max(300, "expected at most 300").default(30),
    /** False: verifies only, and grants nothing. */
    settle: z.boolean("expected true or false").default(true),
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
    verified: z.boolean(),
    /** Null where nothing was settled. */
    paymentId: z.string().nullable(),
    status: paymentStatus.nullable(),
    payer: z.string(),
    recipient: z.string(),
    /** What came. */
    amount: z.number(),
    amountAtomic: z.string(),
    expectedAmount: z.number(),
    asset: z.string(),
    network: z.string(),
    /** Transaction id. */
    signature: z.string().nullable(),
    blockHeight: z.int().nullable(),
    timestamp: instant,
    resource: z.string().nullable(),
    /** The foreign facilitator whose word this is, until the chain has shown it. */
    facilitatorUrl: z.string().optional(),
    /** Atomic units that the payer holds, where it is known: what `settle: false` found. */
    balanceAtomic: z.string().optional(),
    /** Unix seconds at which a transaction that is on the chain already was mined. */
    minedAt: instant.optional(),
  })
  .openapi("ReceiveAnswer");
export type ReceiveAnswer = z.infer<typeof receiveAnswer>;
