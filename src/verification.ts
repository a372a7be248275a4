// Verifies bound proofs: the time window here, the rest by the receiver. Keeps what passed (lru-cache): the validity of a
// signature for as long as it has room, the state of the chain for a block at most. Failures are never kept.
import { LRUCache } from "lru-cache";
import { verifyBy } from "./answered.js";
import type { Clock } from "./clock.js";
import type { ErrorCode, ErrorFacts } from "./errors.js";
import type { BoundProof } from "./proof.js";
import type { Receiver, Verification } from "./receive/receiver.js";
import type { Requirement, Resource } from "./requirement.js";
import { createSingleFlight } from "./single-flight.js";
import { createTimeLimit, VERIFY_MS } from "./time-limit.js";

/** Good for one block of the network, so that a block's worth of repeats costs one chain call. */
interface Passed {
  readonly valid: Extract<Verification, { outcome: "valid" }>;
  readonly freshUntil: number;
}

export interface Verifier {
  verify(proof: BoundProof, resource: Resource, window: Window): Promise<Verification>;
}

/** What the proof must outlive, in milliseconds. */
export interface Window {
  readonly handlerTimeoutMs: number;
  readonly settleMs: number;
  readonly blockMs: number;
  /** Store time at which the store's memory begins: what the chain showed to an earlier one is looked at again. */
  readonly since: number;
}

const MAX_PASSED = 10_000;
/** A little longer than a verification is waited for. */
const FLIGHT_MS = VERIFY_MS + 1_000;
/** A buyer's clock may be off by so much. */
const SKEW_SECONDS = 60n;

export function createVerifier(receiver: Receiver, clock: Clock): Verifier {
  // Safe because the key is a digest of the signature itself and of our own terms: a stranger cannot compute it.
  const passed = new LRUCache<string, Passed>({ max: MAX_PASSED });
  const flights = createSingleFlight<Verification>(clock, FLIGHT_MS);

  async function ask(proof: BoundProof, resource: Resource, key: string, blockMs: number): Promise<Verification> {
    const known = passed.get(key);
    if (known && known.freshUntil > clock.now()) return known.valid;
    const limit = createTimeLimit(clock, VERIFY_MS);
    const context = {
      signatureKnown: known !== undefined,
      resource,
      get signal() {
        return limit.signal();
      },
    };
    let result: Verification;
    try {
      result = await verifyBy(receiver, proof, context);
    } finally {
      limit.cancel();
    }
    if (result.outcome !== "valid") return result;
    passed.set(key, { valid: result, freshUntil: clock.now() + blockMs });
    return result;
  }

  /** Copies that come at once wait for one answer. */
  const once = (proof: BoundProof, resource: Resource, key: string, blockMs: number) =>
    flights.once(key, () => ask(proof, resource, key, blockMs));

  return {
    async verify(proof, resource, window) {
      // With what the window asks of it: one copy may come in time for its route, and another one too late for its own.
      const key = `${window.since}|${window.handlerTimeoutMs}|${window.settleMs}|${keyOf(proof)}`;
      // Invariant: no new bill while a copy that came in time is being looked at: it may be settled.
      const outside = flights.has(key) ? undefined : checkWindow(proof, window, clock.now());
      // Invariant: what is over may have paid before its time was, where the store has forgotten it. No new bill before the chain
      // has been asked, nor for what it has taken.
      if (outside) {
        const seen = mayHavePaid(outside.code) ? await once(proof, resource, `over|${keyOf(proof)}`, 0) : undefined;
        return seen?.outcome === "used" || seen?.outcome === "unavailable" ? seen : { outcome: "invalid", ...outside };
      }
      return once(proof, resource, key, window.blockMs);
    },
  };
}

function keyOf({ digest, requirement: r }: BoundProof): string {
  return [digest, r.network, r.asset, r.amount, r.payTo, r.maxTimeoutSeconds, ...ofMethod(r)].join("|");
}

function ofMethod(requirement: Requirement): readonly (string | number | undefined)[] {
  switch (requirement.method) {
    case "eip3009":
      return [requirement.extra.name, requirement.extra.version];
    case "spl":
      return [requirement.extra.feePayer, requirement.extra.tokenProgram];
    case "transaction":
      return [requirement.method, requirement.confirmations];
  }
}

const mayHavePaid = (code: ErrorCode): boolean => code === "payment_expired" || code === "payment_expires_too_soon";

/**
 * An authorization must outlive the handler and the settlement, and may not outlive the offer: a proof that stays good for long
 * would have to be remembered for long.
 */
function checkWindow(
  proof: BoundProof,
  { handlerTimeoutMs, settleMs }: Window,
  nowMs: number,
): ({ code: ErrorCode } & ErrorFacts) | undefined {
  // How long a transaction lives stands on its chain alone.
  if (proof.kind === "transaction") return undefined;
  const { authorization, requirement } = proof;
  const now = BigInt(Math.floor(nowMs / 1000));
  const { validAfter, validBefore } = authorization;
  if (validAfter > now) {
    return { code: "payment_not_yet_valid", expected: `validAfter up to ${now} (server time)`, got: `${validAfter}` };
  }
  if (validBefore <= now) {
    return { code: "payment_expired", expected: `validBefore after ${now} (server time)`, got: `${validBefore}` };
  }
  const needed = now + BigInt(Math.ceil((handlerTimeoutMs + settleMs) / 1000));
  if (validBefore < needed) {
    return { code: "payment_expires_too_soon", expected: `validBefore from ${needed}`, got: `${validBefore}` };
  }
  const latest = now + BigInt(requirement.maxTimeoutSeconds) + SKEW_SECONDS;
  if (validBefore > latest) {
    return { code: "payment_valid_too_long", expected: `validBefore up to ${latest}`, got: `${validBefore}` };
  }
  return undefined;
}
