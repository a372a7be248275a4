// What a buyer sends: the x402 PaymentPayload of both versions. Shapes only; whether it pays for anything is decided in
// proof.ts and by the receiver. Unknown members are kept, because a payload goes to facilitators as it came.
// Spec: protocol §2.2.
import * as z from "zod/mini";
import { optional, text, uint256 } from "./fields.js";
import { describeIssue } from "./issue.js";
import { isRecord } from "./json.js";
import { paymentRequirementsV2, resourceInfo } from "./v2.js";

const MAX_SIGNATURE_DIGITS = 8 * 1024;

const evmAddress = z.string().check(z.regex(/^0x[0-9a-fA-F]{40}$/, "expected 0x and 40 hex digits"));
const bytes32 = z.string().check(z.regex(/^0x[0-9a-fA-F]{64}$/, "expected 0x and 64 hex digits"));
const hexBytes = z
  .string()
  .check(
    z.maxLength(MAX_SIGNATURE_DIGITS + 2, `expected at most ${MAX_SIGNATURE_DIGITS} hex digits`),
    z.regex(/^0x(?:[0-9a-fA-F]{2})+$/, "expected 0x and an even number of hex digits"),
  );

/** `payload` of the scheme `exact` on EVM with an EIP-3009 authorization. */
export const exactEvmPayload = z.looseObject({
  signature: hexBytes,
  authorization: z.looseObject({
    from: evmAddress,
    to: evmAddress,
    value: uint256,
    validAfter: uint256,
    validBefore: uint256,
    nonce: bytes32,
  }),
});
export type ExactEvmPayload = z.infer<typeof exactEvmPayload>;

/** A signed Solana transaction has at most 1,232 bytes; an EVM transfer has less. */
const MAX_TRANSACTION_TEXT = 4096;

/**
 * `payload` of `exact` on Solana, and of a transaction proof on either family: the transaction in standard base64, or the id
 * of one that is on the chain already. `secret`: 32 bytes whose SHA-256 such a one carries. Source: protocol §4.1, design §6.
 */
export const transactionPayload = z.looseObject({
  transaction: z
    .string()
    .check(
      z.minLength(1, "expected a transaction"),
      z.maxLength(MAX_TRANSACTION_TEXT, `expected at most ${MAX_TRANSACTION_TEXT} characters`),
      z.regex(
        /^(?:0x[0-9a-fA-F]{64}|[A-Za-z0-9+/]+={0,2})$/,
        "expected standard base64, or the id of a transaction on the chain",
      ),
    ),
  secret: optional(bytes32),
});
export type TransactionPayload = z.infer<typeof transactionPayload>;

const v1 = <Payload extends z.ZodMiniType>(payload: Payload) =>
  z.looseObject({ x402Version: z.literal(1), scheme: text, network: text, payload });

const v2 = <Payload extends z.ZodMiniType>(payload: Payload) =>
  z.looseObject({
    x402Version: z.literal(2),
    accepted: paymentRequirementsV2,
    payload,
    resource: optional(resourceInfo),
    extensions: optional(z.record(z.string(), z.unknown())),
  });

// One schema for each kind, so that what is wrong is said of the kind that was meant.
const SCHEMAS = {
  authorization: { 1: v1(exactEvmPayload), 2: v2(exactEvmPayload) },
  transaction: { 1: v1(transactionPayload), 2: v2(transactionPayload) },
} as const;

const eitherPayload = z.union([exactEvmPayload, transactionPayload]);

export const paymentPayloadV1 = v1(eitherPayload);
export type PaymentPayloadV1 = z.infer<typeof paymentPayloadV1>;

export const paymentPayloadV2 = v2(eitherPayload);
export type PaymentPayloadV2 = z.infer<typeof paymentPayloadV2>;

export type PaymentPayload = PaymentPayloadV1 | PaymentPayloadV2;

export type ParsedPayload =
  | { readonly ok: true; readonly payload: PaymentPayload }
  | {
      readonly ok: false;
      readonly code: "payment_malformed" | "payment_version_invalid" | "unsupported_scheme";
      /** Names the place and what was expected there. */
      readonly problem: string;
    };

/**
 * Reads decoded header JSON as the payload of the version that its header implies: X-PAYMENT carries 1,
 * PAYMENT-SIGNATURE carries 2. A well-known payload of another kind (Permit2, a delegation, a scheme other than `exact`) is
 * `unsupported_scheme`, not malformed: the buyer can choose another way to pay.
 */
export function parsePaymentPayload(version: 1 | 2, value: unknown): ParsedPayload {
  if (!isRecord(value)) return { ok: false, code: "payment_malformed", problem: "the payment is not a JSON object" };
  if (value.x402Version !== version) {
    const came = typeof value.x402Version === "number" ? String(value.x402Version) : typeof value.x402Version;
    return { ok: false, code: "payment_version_invalid", problem: `x402Version: expected ${version}, got ${came}` };
  }
  const foreign = foreignKind(version, value);
  if (foreign) return { ok: false, code: "unsupported_scheme", problem: foreign };
  const parsed = SCHEMAS[kindOf(value)][version].safeParse(value);
  if (parsed.success) return { ok: true, payload: parsed.data };
  return { ok: false, code: "payment_malformed", problem: describeIssue(parsed.error) };
}

/** An authorization counts before a transaction: only one of the two is ever read. */
function kindOf({ payload }: Record<string, unknown>): keyof typeof SCHEMAS {
  if (!isRecord(payload) || payload.authorization !== undefined) return "authorization";
  return payload.transaction === undefined ? "authorization" : "transaction";
}

const FOREIGN_MEMBERS = ["permit2Authorization", "delegationManager"] as const;

function foreignKind(version: 1 | 2, value: Record<string, unknown>): string | undefined {
  const terms = version === 1 ? value : value.accepted;
  if (isRecord(terms) && typeof terms.scheme === "string" && terms.scheme !== "exact") {
    return `${version === 1 ? "scheme" : "accepted.scheme"}: expected exact, got ${terms.scheme.slice(0, 40)}`;
  }
  const { payload } = value;
  if (!isRecord(payload) || payload.authorization !== undefined) return undefined;
  const member = FOREIGN_MEMBERS.find((name) => payload[name] !== undefined);
  return member && `payload: expected an authorization or a transaction, got ${member}`;
}
