// The `facilitator` receiver: any x402 facilitator verifies and settles over HTTP (protocol §6). /supported is kept in the
// background, never asked for on the path of a request. What an answer proves is decided in facilitator-answers.ts.
import { LRUCache } from "lru-cache";
import { type Clock, systemClock } from "../clock.js";
import { consoleLogger } from "../logger.js";
import { findNetwork } from "../networks.js";
import type { BoundProof } from "../proof.js";
import type { Requirement, Resource } from "../requirement.js";
import type { Logger } from "../settings.js";
import { type Alarms, createAlarms } from "./alarms.js";
import { readSettlement, readVerification } from "./facilitator-answers.js";
import { createFacilitatorApi, type FacilitatorApi } from "./facilitator-api.js";
import { type ChainLookups, checkLocally, createChainLookups } from "./facilitator-chain.js";
import { findUnsupported, type Kind, requestBody } from "./facilitator-kinds.js";
import { type FacilitatorOptions, readFacilitatorOptions } from "./facilitator-options.js";
import { createHttpClient } from "./http.js";
import type { Readiness, ReadinessProblem, Receiver, SettleContext, Settlement, Verification } from "./receiver.js";
import { createSupportedCache, type SupportedCache } from "./supported.js";

export type { FacilitatorOptions } from "./facilitator-options.js";

/** The public facilitator for test networks. Source: protocol §6.1. */
export const DEFAULT_TEST_FACILITATOR = "https://x402.org/facilitator";

const DEFAULT_TIMEOUT_MS = 10_000;
/** Before the one resend of a settlement that is broadcast and not yet confirmed: about a block. */
const PENDING_PAUSE_MS = 1_000;
/** Settlements whose transaction ids are remembered. */
const MAX_REFERENCES = 10_000;

/** What the receiver takes from its surroundings; tests give their own. */
export interface FacilitatorParts {
  readonly clock: Clock;
  /** From 0 to below 1, for jitter. */
  readonly random: () => number;
  /** `fetch` instead of Node's own client. */
  readonly transport?: "node" | "fetch";
}

const SYSTEM: FacilitatorParts = { clock: systemClock, random: Math.random };

/**
 * Receives payments through an x402 facilitator. `headers` is a map sent with every call, or a function that returns
 * `{ verify, settle, supported }` and is asked before each call. `verify: "local"` checks signature and fields here and
 * shows the facilitator the payment at settlement only. With `rpcUrl` the chain tells what became of a lost settlement.
 *
 * @throws PaywallConfigError with every problem of the options.
 * @example
 * const receive = facilitator({ url: "https://x402.org/facilitator" });
 * const pay = createPaywall({ payTo: "0x…", network: "base-sepolia", receive });
 */
export function facilitator(options: FacilitatorOptions): Receiver {
  return createFacilitator(options, SYSTEM);
}

interface Service {
  readonly api: FacilitatorApi;
  readonly supported: SupportedCache<readonly Kind[]>;
  readonly chain: ChainLookups;
  /** The proof that each transaction settled, by network and transaction id. */
  readonly settledBy: LRUCache<string, string>;
  readonly alarms: Alarms;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** `facilitator()` with its clock, jitter and transport given. */
export function createFacilitator(input: FacilitatorOptions, { clock, random, transport }: FacilitatorParts): Receiver {
  const options = readFacilitatorOptions(input);
  const { headers, verify = "remote", timeoutMs = DEFAULT_TIMEOUT_MS, logger = consoleLogger } = options;
  const base = new URL(options.url).href.replace(/\/+$/, "");
  const alarms = createAlarms(logger, clock);
  const http = createHttpClient(transport);
  const api = createFacilitatorApi({ base, headers, timeoutMs, http, clock, alarms });
  const supported = createSupportedCache({
    fetchList: api.fetchKinds,
    clock,
    random,
    onFailure: (message) => alarms.raise("supported", "The facilitator's list of networks cannot be had.", { message }),
  });
  const chain = createChainLookups(options.rpcUrl, http);
  const settledBy = new LRUCache<string, string>({ max: MAX_REFERENCES });
  const service: Service = { api, supported, chain, settledBy, alarms, clock, logger };

  return {
    name: "facilitator",
    settleMs: (network) => options.timeoutMs ?? findNetwork(network)?.settleMs ?? DEFAULT_TIMEOUT_MS,
    ready: (requirements, signal) => checkReady(service, requirements, signal),
    async verify(proof, context) {
      const { signatureKnown, resource } = context;
      const checked = verify === "local" ? await checkLocally(proof, signatureKnown, clock.now()) : undefined;
      return checked ?? verifyRemotely(service, proof, resource, context.signal);
    },
    settle: (proof, context) => settleOnce(service, proof, context),
    lookup: (trace, signal) => chain.lookup(trace, signal),
    async close() {
      supported.close();
      http.close();
    },
  };
}

async function checkReady(
  { supported, chain }: Service,
  requirements: readonly Requirement[],
  signal: AbortSignal,
): Promise<Readiness> {
  const fetched = await supported.load(signal);
  if (fetched.outcome === "failed") return { state: "unreachable", message: `facilitator url: ${fetched.message}` };
  if (fetched.outcome === "refused") return { state: "misconfigured", problems: [refusedCredentials(fetched.message)] };
  const problems = [
    ...findUnsupported(requirements, fetched.list),
    ...(await chain.findProblems(requirements, signal)),
  ];
  return problems.length > 0 ? { state: "misconfigured", problems } : { state: "ready" };
}

const refusedCredentials = (got: string): ReadinessProblem => ({
  check: "credentials",
  expected: "credentials that the facilitator accepts",
  got,
  remedy: 'Check the option "headers" of facilitator().',
});

async function verifyRemotely(
  { api, supported, alarms }: Service,
  proof: BoundProof,
  resource: Resource,
  signal: AbortSignal,
): Promise<Verification> {
  const reply = await api.ask("verify", { body: requestBody(proof, supported.current(), resource), signal });
  if (reply.outcome !== "no_credentials") return readVerification(reply, proof, alarms);
  return { outcome: "unavailable", code: "receiver_auth", message: reply.message };
}

async function settleOnce(service: Service, proof: BoundProof, context: SettleContext): Promise<Settlement> {
  const { api, supported, alarms } = service;
  const body = requestBody(proof, supported.current(), context.resource);
  const reply = await api.ask("settle", { body, deadlineAt: context.deadlineAt });
  if (reply.outcome === "no_credentials") return { outcome: "unavailable", message: reply.message };
  const first = readSettlement(reply, proof, alarms);
  if (first.outcome !== "pending") return unlessSpent(service, proof, first);
  return unlessSpent(service, proof, await settleAgain(service, proof, context, body, first));
}

/**
 * The one identical resend that the protocol allows (§6.4). Only a success counts: the first answer told of a transaction,
 * so a failure now proves nothing.
 */
async function settleAgain(
  { api, alarms, clock, logger }: Service,
  proof: BoundProof,
  context: SettleContext,
  body: string,
  { transaction, retryAfterMs }: { readonly transaction: string; readonly retryAfterMs: number | undefined },
): Promise<Settlement> {
  const pending: Settlement = { outcome: "unknown", transaction, message: "/settle: the transaction is not confirmed" };
  try {
    await context.sending(transaction);
  } catch (error) {
    logger.warn("the settlement has passed to another process", { proofId: proof.id, error: String(error) });
    return pending;
  }
  const pauseMs = retryAfterMs ?? PENDING_PAUSE_MS;
  if (clock.now() + pauseMs >= context.deadlineAt) return pending;
  await new Promise<void>((resolve) => clock.after(pauseMs, resolve));
  const reply = await api.ask("settle", { body, deadlineAt: context.deadlineAt });
  if (reply.outcome === "no_credentials") return pending;
  const second = readSettlement(reply, proof, alarms);
  return second.outcome === "settled" ? second : pending;
}

/** Invariant: a transaction backs one proof. A facilitator that names it for a second one proves nothing for that one. */
function unlessSpent({ settledBy, logger }: Service, proof: BoundProof, settlement: Settlement): Settlement {
  if (settlement.outcome !== "settled") return settlement;
  const { transaction } = settlement;
  const { network } = proof.requirement;
  // Hex has two spellings, base58 has one.
  const reference = `${network} ${network.startsWith("eip155:") ? transaction.toLowerCase() : transaction}`;
  const owner = settledBy.get(reference);
  if (owner === undefined || owner === proof.id) {
    settledBy.set(reference, proof.id);
    return settlement;
  }
  logger.error("duplicate settlement reference", { transaction, proofId: proof.id, owner });
  return { outcome: "unknown", message: "/settle named a transaction that has settled another payment" };
}
