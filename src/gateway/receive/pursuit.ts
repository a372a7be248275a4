// What a record keeps of a proof that is being settled, and the way back: the same bound proof, judged by the same terms,
// when a crash is repaired or an idempotent request is repeated.
import { z } from "@hono/zod-openapi";
import { traceOf } from "../../claims.js";
import type { BoundProof } from "../../proof.js";
import type { Requirement } from "../../requirement.js";
import type { ChainExpiry } from "../../store/record.js";
import type { GatewayNetwork } from "../chain.js";
import { fault, type Outcome } from "../errors.js";
import type { GatewayLogger } from "../parts.js";
import type { Payment, SettlementPursuit } from "../payment.js";
import { bindTo } from "./bind.js";
import { readPayload } from "./proof-value.js";

const common = {
  scheme: z.literal("exact"),
  network: z.string(),
  asset: z.string(),
  amount: z
    .string()
    .regex(/^[0-9]+$/)
    .transform(BigInt),
  payTo: z.string(),
  maxTimeoutSeconds: z.number(),
};

/** A requirement as JSON keeps it: its amount is text. */
const storedRequirement = z.discriminatedUnion("method", [
  z.object({ ...common, method: z.literal("eip3009"), extra: z.object({ name: z.string(), version: z.string() }) }),
  z.object({
    ...common,
    method: z.literal("spl"),
    extra: z.object({
      feePayer: z.string(),
      decimals: z.int(),
      tokenProgram: z.string().optional(),
      memo: z.string().optional(),
    }),
  }),
  z.object({
    ...common,
    method: z.literal("transaction"),
    extra: z.object({ assetTransferMethod: z.literal("transaction"), paymentFlow: z.literal("upfront") }),
    confirmations: z.int(),
  }),
]);

/** Before anything was sent. `settlementId` stays for the life of the settlement. */
export function createPursuit(proof: BoundProof, settlementId: string, facilitatorUrl?: string): SettlementPursuit {
  const { version, payload, requirement } = proof;
  return {
    kind: "settlement",
    version,
    payload,
    requirement: { ...requirement, amount: requirement.amount.toString() },
    settlementId,
    trace: traceOf(proof),
    ...(facilitatorUrl !== undefined && { facilitatorUrl }),
  };
}

/** With what became known of its transaction. */
export function withTransaction(
  pursuit: SettlementPursuit,
  transaction: string | null,
  more: { readonly expiry?: ChainExpiry | undefined; readonly received?: bigint | undefined } = {},
): SettlementPursuit {
  const { trace } = pursuit;
  const { expiry = trace.expiry, received } = more;
  return {
    ...pursuit,
    trace: { ...trace, transaction, expiry, received: received?.toString() ?? trace.received },
  };
}

/** With a transaction that was mined in vain; the very same pursuit where that is written down already. */
export const withReverted = (pursuit: SettlementPursuit, transaction: string): SettlementPursuit =>
  pursuit.reverted?.includes(transaction)
    ? pursuit
    : { ...pursuit, reverted: [...(pursuit.reverted ?? []), transaction] };

export const isSettlement = (payment: Payment): payment is Payment & { readonly pursuit: SettlementPursuit } =>
  payment.pursuit.kind === "settlement";

/** The proof of a record, bound again to the terms under which it was first bound. INTERNAL_ERROR where it cannot be read. */
export async function rebindProof(
  { payload, requirement }: Pick<SettlementPursuit, "payload" | "requirement">,
  { receiver }: Pick<GatewayNetwork, "receiver">,
  logger: GatewayLogger,
): Promise<Outcome<BoundProof>> {
  const parsed = storedRequirement.safeParse(requirement);
  const decoded = readPayload(payload);
  if (!parsed.success || !decoded.ok) return fault("INTERNAL_ERROR", "the record of this payment cannot be read");
  return bindTo(decoded.value, withoutAbsent(parsed.data), { receiver, logger });
}

/** An absent member and one that is `undefined` are two things to the type of a requirement. */
function withoutAbsent(stored: z.infer<typeof storedRequirement>): Requirement {
  if (stored.method !== "spl") return stored;
  const { feePayer, decimals, tokenProgram, memo } = stored.extra;
  return {
    ...stored,
    extra: {
      feePayer,
      decimals,
      ...(tokenProgram !== undefined && { tokenProgram }),
      ...(memo !== undefined && { memo }),
    },
  };
}
