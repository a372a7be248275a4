// GET /payment/status and GET /payment/history. Source: gateway-spec, design §7.
import { instant, network, paymentStatus, success, WORDS } from "./fields.js";
import { z } from "./zod.js";

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
    type: z
      .enum(["sent", "received", "all"], "expected sent, received or all")
      .default("all")
      .describe("Which payments of the wallet"),
    limit: whole(`expected a whole number from 1 to ${MAX_LIMIT}`)
      .pipe(z.int().min(1, "expected at least 1").max(MAX_LIMIT, `expected at most ${MAX_LIMIT}`))
      .default(DEFAULT_LIMIT)
      // A query parameter is text; what stands in the text is a number.
      .openapi({
        type: "integer",
        minimum: 1,
        maximum: MAX_LIMIT,
        default: DEFAULT_LIMIT,
        description: "How many at most",
      }),
    offset: whole("expected a whole number from 0")
      .pipe(z.int().max(MAX_OFFSET, `expected at most ${MAX_OFFSET}`))
      .default(0)
      .openapi({ type: "integer", minimum: 0, maximum: MAX_OFFSET, default: 0, description: "How many to leave out" }),
    before: z
      .string()
      .regex(/^[0-9A-Za-z_-]{1,64}$/, "expected a cursor from pagination.before")
      .optional()
      .describe("pagination.before of the page before: pages stably while payments are added"),
  })
  .openapi("HistoryQuery");
export type HistoryQuery = z.infer<typeof historyQuery>;

export const statusChange = z.object({
  status: paymentStatus.describe(WORDS.status),
  at: instant.describe("Since when"),
});

export const paymentRecord = z
  .object({
    paymentId: z.string().describe("pay_ and 22 characters of base58"),
    type: z.enum(["sent", "received"]).describe("As this account sees it"),
    status: paymentStatus.describe(WORDS.status),
    network: z.string().describe(WORDS.networkId),
    asset: z.string().describe(WORDS.assetName),
    amount: z.number().nullable().describe("Whole units; null where this gateway does not know the asset any more"),
    amountAtomic: z.string().describe(WORDS.amountAtomic),
    sender: z.string().nullable().describe("Who pays; null until it is known"),
    recipient: z.string().describe("Who is paid"),
    signature: z.string().nullable().describe(WORDS.transactionId),
    fee: z.number().nullable().describe("What the chain took, in native currency, as far as it is known"),
    blockHeight: z.int().nullable().describe(WORDS.blockHeight),
    confirmations: z.int().nullable().describe("Blocks that stand on it, its own included"),
    resource: z.string().nullable().describe("As it was sent"),
    metadata: z.record(z.string(), z.unknown()).nullable().describe("As it was sent"),
    createdAt: instant.describe("When it was made"),
    updatedAt: instant.describe("When it was last written, also where its state stayed: history tells of states"),
    expiresAt: instant.optional().describe("Until when it can be expected"),
    late: z.boolean().optional().describe("It arrived after it had been given up"),
    error: z
      .object({ code: z.string().describe("A code of this API"), message: z.string().describe("In words") })
      .optional()
      .describe("Why it failed"),
    history: z.array(statusChange).describe("Every state it was in, the oldest first"),
  })
  .openapi("PaymentRecord");
export type PaymentRecord = z.infer<typeof paymentRecord>;

export const statusAnswer = paymentRecord.extend({ success }).openapi("StatusAnswer");

export const historyAnswer = z
  .object({
    success,
    walletAddress: z.string().describe("As it was asked for"),
    payments: z.array(paymentRecord).describe("Records as of GET /payment/status, the newest first"),
    pagination: z
      .object({
        type: z.enum(["sent", "received", "all"]).describe("As it was asked for"),
        limit: z.int().describe("As it was asked for"),
        offset: z.int().describe("As it was asked for"),
        total: z.int().describe("Payments of this type in all"),
        hasMore: z.boolean().describe("Is there another page?"),
        before: z.string().optional().describe("Cursor of the next page, where there is one"),
      })
      .describe("Which part of them this is"),
  })
  .openapi("HistoryAnswer");
export type HistoryAnswer = z.infer<typeof historyAnswer>;

/** An EVM transaction's hash, or the first signature of a Solana one. */
export const transactionId = z.string().regex(/^(?:0x[0-9a-fA-F]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$/);
export const transactionQuery = z
  .strictObject({ network: network.describe("CAIP-2 id or name") })
  .openapi("TransactionQuery");
export type TransactionRequest = z.infer<typeof transactionQuery> & { readonly transactionId: string };

export const transactionAnswer = z
  .object({
    success,
    network: z.string().describe(WORDS.networkId),
    transaction: z.string().describe("The signed bytes, base64"),
  })
  .openapi("TransactionAnswer");
export type TransactionAnswer = z.infer<typeof transactionAnswer>;
