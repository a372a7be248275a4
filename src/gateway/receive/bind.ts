// From a decoded proof and what is wanted to a proof that is bound to our own requirement. Whatever the proof names of the
// sale must agree with it; a mismatch names the field, what was expected and what came. Nothing is verified here.
import { systemClock } from "../../clock.js";
import { identifyProof, isAuthorization, isTransaction } from "../../identify.js";
import { networkFromWire } from "../../networks.js";
import { type BoundProof, bindAuthorization, type DecodedProof } from "../../proof.js";
import type { Receiver } from "../../receive/receiver.js";
import { type Requirement, wireAsset } from "../../requirement.js";
import type { PaymentPayload } from "../../wire/payload.js";
import type { Fault, Outcome } from "../errors.js";
import type { GatewayLogger } from "../parts.js";
import { badProof } from "./proof-value.js";
import { createRequirement, MAX_TIMEOUT_SECONDS, type Wanted } from "./requirement.js";
import { unverified } from "./verify.js";

export interface BindOptions {
  readonly logger: GatewayLogger;
  /** Who reads transactions, where it is not the network's own receiver: a foreign facilitator. */
  readonly receiver?: Pick<Receiver, "identify">;
  /** Who pays the network fee on Solana, where it is not this gateway. */
  readonly feePayer?: string;
  /** The offer's own; absent = what the proof says that it accepted. */
  readonly maxTimeoutSeconds?: number;
}

/** Binds a proof to what is wanted. Faults: INVALID_PAYMENT_PROOF; PAYMENT_VERIFICATION_FAILED where a node had to be asked. */
export async function bindProof(
  proof: DecodedProof,
  wanted: Wanted,
  options: BindOptions,
): Promise<Outcome<BoundProof>> {
  const seconds = options.maxTimeoutSeconds ?? timeoutOf(proof.payload);
  const made = createRequirement(wanted, proof.inner.kind, seconds, options.feePayer);
  if (!made.ok) return made;
  const requirement = made.value;
  const mismatch = findMismatch(proof, requirement);
  return mismatch ?? bindTo(proof, requirement, { ...options, receiver: options.receiver ?? wanted.network.receiver });
}

/** Binds a proof to a requirement that it has been compared with: at first, or when a record is taken up again. */
export async function bindTo(
  proof: DecodedProof,
  requirement: Requirement,
  { receiver, logger }: { readonly receiver: Pick<Receiver, "identify">; readonly logger: GatewayLogger },
): Promise<Outcome<BoundProof>> {
  if (isAuthorization(proof) && requirement.method === "eip3009") {
    return { ok: true, value: await bindAuthorization(proof, requirement) };
  }
  if (!isTransaction(proof)) return badProof("unsupported_scheme", { expected: "a transaction" });
  const warn = (message: string, facts: object = {}) => logger.warn(facts, message);
  const identified = await identifyProof({ receiver, clock: systemClock, logger: { warn } }, proof, [requirement]);
  if (identified.ok) return { ok: true, value: identified.proof };
  const { code, got } = identified;
  return unverified(code, got) ?? badProof(code, identified);
}

/** Compares all that a proof says of its sale with the requirement. Extra keys of a seller's offer are not ours to judge. */
function findMismatch({ payload, inner }: DecodedProof, requirement: Requirement): Fault | undefined {
  for (const [field, expected, got] of namedBy(payload, requirement)) {
    if (expected !== got) return differs(field, expected, got);
  }
  if (inner.kind === "authorization") {
    const { to, value } = inner.authorization;
    if (to !== requirement.payTo.toLowerCase())
      return badProof("recipient_mismatch", words("to", requirement.payTo, to));
    if (value !== requirement.amount) {
      return badProof("amount_mismatch", words("value", `${requirement.amount}`, `${value}`));
    }
  }
  return undefined;
}

type Compared = readonly [field: string, expected: string, got: string];

/** Version 1 names no more than scheme and network; version 2 repeats the offer. */
function namedBy(payload: PaymentPayload, requirement: Requirement): readonly Compared[] {
  const { scheme, network, payTo, amount } = requirement;
  if (payload.x402Version === 1) {
    const named = networkFromWire(1, payload.network)?.id ?? payload.network;
    return [
      ["scheme", scheme, payload.scheme],
      ["network", network, named],
    ];
  }
  const { accepted } = payload;
  const spell = network.startsWith("eip155:") ? (text: string) => text.toLowerCase() : (text: string) => text;
  return [
    ["scheme", scheme, accepted.scheme],
    ["network", network, accepted.network],
    ["asset", spell(wireAsset(requirement)), spell(accepted.asset)],
    ["payTo", spell(payTo), spell(accepted.payTo)],
    ["amount", `${amount}`, takenAmount(accepted.amount, requirement)],
  ];
}

/** A transaction may pay more than the price: what it really moves, its bytes say. */
function takenAmount(accepted: string, { method, amount }: Requirement): string {
  return method === "transaction" && BigInt(accepted) >= amount ? `${amount}` : accepted;
}

const words = (field: string, expected: string, got: string) => ({
  expected: `${field} ${expected}`,
  got: `${field} ${got}`.slice(0, 300),
});

const differs = (field: string, expected: string, got: string): Fault =>
  badProof("offer_mismatch", words(field, expected, got));

function timeoutOf(payload: PaymentPayload): number {
  if (payload.x402Version === 1) return MAX_TIMEOUT_SECONDS;
  return Math.min(Math.max(1, Math.ceil(payload.accepted.maxTimeoutSeconds)), MAX_TIMEOUT_SECONDS);
}

/** `resource`: where the request names one and the proof does too, they are one. */
export function compareResource({ payload }: DecodedProof, resource: string | undefined): Fault | undefined {
  const named = payload.x402Version === 2 ? payload.resource?.url : undefined;
  if (resource === undefined || named === undefined || named === resource) return undefined;
  return differs("resource", resource, named);
}
