// Asks the gateway for what collects a proof, in the form in which a receiver asks whoever builds for it. Decides nothing: what comes
// is compared before it is signed.
import * as z from "zod/mini";
import type { Builder, Built } from "../chains/builder.js";
import { fromBase64 } from "../chains/solana/bytes.js";
import { inTime } from "./deadline.js";
import type { GatewayClient } from "./gateway-client.js";
import { ENDPOINTS, nameOf } from "./gateway-client-endpoints.js";
import { GatewayError, notBuilt } from "./gateway-client-error.js";
import type { BuildReceiveRequest } from "./gateway-client-shapes.js";
import { LocalTransactionError } from "./local-error.js";

const builtSchema = z.object({
  paymentId: z.string().check(z.regex(/^[\w-]{1,100}$/)),
  transaction: z.nullable(z.string()),
  network: z.string(),
});

export interface Asker {
  readonly builder: Builder;
  /** The gateway's record, once it has told of one. */
  readonly paymentId: () => string | undefined;
  /** Why there was nothing that could be signed, where it is the gateway's doing. */
  readonly failure: () => unknown;
}

interface Asking {
  /** Epoch milliseconds. */
  readonly deadlineAt: number;
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export function createBuildAsker(
  client: Pick<GatewayClient, "buildReceive">,
  request: BuildReceiveRequest,
  { idempotencyKey = crypto.randomUUID(), deadlineAt, signal }: Asking,
): Asker {
  const ask = (signal: AbortSignal) => client.buildReceive(request, { idempotencyKey, signal });
  const overdue = () => notBuilt(nameOf(ENDPOINTS.buildReceive), idempotencyKey);
  let paymentId: string | undefined;
  let failure: unknown;
  const fail = (error: unknown, message: string): Built => {
    failure = error;
    return { outcome: "unavailable", message };
  };
  return {
    paymentId: () => paymentId,
    failure: () => failure,
    builder: {
      async build() {
        try {
          const answer: unknown = await inTime(ask, { deadlineAt, signal, overdue });
          const parsed = builtSchema.safeParse(answer);
          const bytes = parsed.data?.transaction ? fromBase64(parsed.data.transaction) : undefined;
          if (!parsed.success || (parsed.data.transaction !== null && !bytes)) {
            throw new LocalTransactionError("built_wrong", "its answer holds no readable transaction");
          }
          paymentId = parsed.data.paymentId;
          if (parsed.data.network !== request.network) {
            throw new LocalTransactionError("built_wrong", "expected the chain of your own node, got another one");
          }
          // That it has come is a mere word: our own chain decides.
          return bytes ? { outcome: "transaction", bytes } : { outcome: "used" };
        } catch (error) {
          if (isUsed(error)) paymentId = error.paymentId;
          return isUsed(error) ? { outcome: "used" } : fail(error, "the gateway builds nothing");
        }
      },
      distrust(_, message) {
        failure = new LocalTransactionError("built_wrong", message, { paymentId });
      },
    },
  };
}

/** Somebody has it, perhaps we ourselves, before an answer was lost. */
const isUsed = (error: unknown): error is GatewayError =>
  error instanceof GatewayError &&
  error.code === "INVALID_PAYMENT_PROOF" &&
  error.details.some(({ path }) => path === "already_used");
