// GET /payment/status and GET /payment/history. Source: gateway-spec, design §7.
import { z } from "@hono/zod-openapi";
import { instant, network, paymentStatus, success } from "./fields.js";

export const DEFAULT_LIMIT = 50;
export const MAX_LIMIT = 500;
const MAX_OFFSET = 1_000_000;

const whole = (what: string) =>
  z
    .string()
    .regex(/^(?:0|[1-9][0-9]{0,15})$/, what)
    .transform(Number);

export const historyQuery = z
  .strictObject({
    type: z.enum(["sent", "received", "all"], "expected sent, received or all").default("all"),
    limit: whole(`expected a whole number from 1 to ${MAX_LIMIT}`)
      .pipe(z.int().min(1, "expected at least 1").max(MAX_LIMIT, `expected at most ${MAX_LIMIT}`))
      .default(DEFAULT_LIMIT)
      // A query parameter is text; what stands in the text is a number.
      .openapi({ type: "integer", minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT }),
    offset: whole("expected a whole number from 0")
      .pipe(z.int().max(MAX_OFFSET, `expected at most ${MAX_OFFSET}`))
      .default(0)
      .openapi({ type: "integer", minimum: 0, maximum: MAX_OFFSET, default: 0 }),
    /** Pages stably while payments are added: `pagination.before` of the page before. */
    before: z
      .string()
      .regex(/^[0-9A-Za-z_-]{1,64}$/, "expected a cursor from pagination.before")
      .optional(),
  })
  .openapi("HistoryQuery");
export type HistoryQuery = z.infer<typeof historyQuery>;

export const statusChange = z.object({ status: paymentStatus, at: instant });

export const paymentRecord = z
  .object({
    paymentId: z.string(),
    type: z.enum(["sent", "received"]),
    status: paymentStatus,
    network: z.string(),
    asset: z.string(),
    /** Null where this gateway does not know the asset (any more). */
    amount: z.number().nullable(),
    amountAtomic: z.string(),
    sender: z.string().nullable(),
    recipient: z.string(),
    signature: z.string().nullable(),
    fee: z.number().nullable(),
    blockHeight: z.int().nullable(),
    confirmations: z.int().nullable(),
    resource: z.string().nullable(),
    metadata: z.record(z.string(), z.unknown()).nullable(),
    createdAt: instant,
    updatedAt: instant,
    expiresAt: instant.optional(),
    /** It arrived after it had been given up. */
    late: z.boolean().optional(),
    error: z.object({ code: z.string(), message: z.string() }).optional(),
    history: z.array(statusChange),
  })
  .openapi("PaymentRecord");
export type PaymentRecord = z.infer<typeof paymentRecord>;

export const statusAnswer = paymentRecord.extend({ success }).openapi("StatusAnswer");

export const historyAnswer = z
  .object({
    success,
    walletAddress: z.string(),
    payments: z.array(paymentRecord),
    pagination: z.object({
      type: z.enum(["sent", "received", "all"]),
      limit: z.int(),
      offset: z.int(),
      total: z.int(),
      hasMore: z.boolean(),
      before: z.string().optional(),
    }),
  })
  .openapi("HistoryAnswer");
export type HistoryAnswer = z.infer<typeof historyAnswer>;

/** An EVM transaction's hash, or the first signature of a Solana one. */
export const transactionId = z.string().regex(/^(?:0x[0-9a-fA-F]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$/);
export const transactionQuery = z.strictObject({ network }).openapi("TransactionQuery");
export type TransactionRequest = z.infer<typeof transactionQuery> & { readonly transactionId: string };

export const transactionAnswer = z
  .object({
    success,
    network: z.string(),
    /** The signed bytes, base64. */
    transaction: z.string(),
  })
  .openapi("TransactionAnswer");
export type TransactionAnswer = z.infer<typeof transactionAnswer>;
