// A foreign facilitator that a caller names: asked in this gateway's place, through a connection to a judged address. Its word is
// taken as a word: what it says is settled stays `submitted` until our own node has seen it.
import { systemClock } from "../../clock.js";
import type { BoundProof } from "../../proof.js";
import { createFacilitator } from "../../receive/facilitator.js";
import { createHttpClient } from "../../receive/http.js";
import type { Receiver } from "../../receive/receiver.js";
import { type Fault, fault, invalidField, type Outcome } from "../errors.js";
import type { GatewayLogger } from "../parts.js";
import { createPinnedLookup, type PermittedUrl, type Resolve } from "./safe-url.js";
import { outOfTime } from "./verify.js";

export interface ForeignOptions {
  readonly logger: GatewayLogger;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly deadlineAt: number;
  /** In place of the system's resolver. */
  readonly resolve?: Resolve;
}

export interface Foreign {
  readonly url: string;
  readonly receiver: Receiver;
  /** The proof as this facilitator can take it, or why it cannot. */
  readonly proof: BoundProof;
  close(): Promise<void>;
}

/** One call to it takes at most so long. */
const MAX_CALL_MS = 60_000;
const MIN_CALL_MS = 1_000;

/** What an offer on Solana is bound with until the facilitator has said who pays the network fee. */
export const FOREIGN_FEE_PAYER = Object.freeze({ feePayer: "named by the facilitator" });

/**
 * Opens it for one request and learns what it serves. Faults: INVALID_REQUEST where it does not take such a payment,
 * PAYMENT_VERIFICATION_FAILED where it cannot be asked. Must be closed.
 */
export async function openForeign(
  permitted: PermittedUrl,
  proof: BoundProof,
  options: ForeignOptions,
): Promise<Outcome<Foreign>> {
  const { now, deadlineAt, resolve } = options;
  const { requirement } = proof;
  if (requirement.method === "transaction") {
    return notServed("a transaction that pays its own fee needs no facilitator: leave facilitatorUrl out");
  }
  const leftMs = Math.min(Math.max(deadlineAt - now(), MIN_CALL_MS), MAX_CALL_MS);
  const receiver = createFacilitator(
    { url: permitted.url, timeoutMs: Math.ceil(leftMs), logger: toPlainLogger(options.logger) },
    { clock: systemClock, random: Math.random, http: createHttpClient("node", createPinnedLookup(permitted, resolve)) },
  );
  const refuse = async (problem: Fault): Promise<Fault> => {
    await receiver.close();
    return problem;
  };
  const ready = await receiver.ready([requirement], AbortSignal.timeout(leftMs));
  if (now() >= deadlineAt) return refuse(outOfTime());
  if (ready.state === "unreachable") return refuse(unreachable(ready.message));
  if (ready.state === "misconfigured") {
    const [problem] = ready.problems;
    return refuse(notServed(`expected a facilitator for ${problem?.expected ?? requirement.network}`));
  }
  const own = withFeePayer(proof, receiver.feePayer?.(requirement.network));
  if (!own) return refuse(notServed("the facilitator names nobody who pays the network fee"));
  return { ok: true, value: { url: permitted.url, receiver, proof: own, close: () => receiver.close() } };
}

/** On Solana it is the facilitator's own fee payer that the transaction waits for. */
function withFeePayer(proof: BoundProof, feePayer: string | undefined): BoundProof | undefined {
  if (proof.kind !== "transaction" || proof.requirement.method !== "spl") return proof;
  if (feePayer === undefined) return undefined;
  const { requirement } = proof;
  return { ...proof, requirement: { ...requirement, extra: { ...requirement.extra, feePayer } } };
}

const notServed = (message: string): Fault => invalidField("facilitatorUrl", message);

const unreachable = (message: string): Fault =>
  fault("PAYMENT_VERIFICATION_FAILED", `the facilitator cannot be asked (${message})`, {
    details: [{ path: "receiver_unreachable", message }],
  });

type PlainLog = (message: string, facts?: object) => void;

/** The receivers' logger has the message first. */
function toPlainLogger(logger: GatewayLogger): Record<"debug" | "info" | "warn" | "error", PlainLog> {
  const on =
    (level: "debug" | "info" | "warn" | "error"): PlainLog =>
    (message, facts = {}) =>
      logger[level](facts, message);
  return { debug: on("debug"), info: on("info"), warn: on("warn"), error: on("error") };
}
