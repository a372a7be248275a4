// The `facilitator` receiver: any x402 facilitator verifies and settles over HTTP (protocol §6). /supported is kept in the
// background, never asked for on the path of a request. What an answer proves is decided in facilitator-answers.ts.
import { LRUCache } from "lru-cache";
import { type Clock, systemClock } from "../clock.js";
import { consoleLogger, harmless } from "../logger.js";
import { findNetwork } from "../networks.js";
import type { BoundProof } from "../proof.js";
import type { Requirement, Resource } from "../requirement.js";
import { createAlarms } from "./alarms.js";
import { readVerification } from "./facilitator-answers.js";
import { createFacilitatorApi } from "./facilitator-api.js";
import { type ChainLookups, createChainLookups } from "./facilitator-chain.js";
import { checkLocally } from "./facilitator-evm.js";
import { createFeePayers, findWithoutFeePayer } from "./facilitator-fee-payers.js";
import { findUnsupported, requestBody } from "./facilitator-kinds.js";
import { type FacilitatorOptions, readFacilitatorOptions } from "./facilitator-options.js";
import { type SettleService, settleOnce } from "./facilitator-settle.js";
import { checkStatically, identify, isSpl, withOwnFeePayer } from "./facilitator-solana.js";
import { createHttpClient, type HttpClient } from "./http.js";
import { isForeignFeePayer } from "./reasons.js";
import type { Readiness, ReadinessProblem, Receiver, Verification } from "./receiver.js";
import { createSupportedCache } from "./supported.js";

export type { FacilitatorOptions } from "./facilitator-options.js";

/** The public facilitator for test networks. Source: protocol §6.1. */
export const DEFAULT_TEST_FACILITATOR = "https://x402.org/facilitator";

const DEFAULT_TIMEOUT_MS = 10_000;
/** Settlements whose transaction ids are remembered. */
const MAX_REFERENCES = 10_000;

/** What the receiver takes from its surroundings; tests give their own. */
export interface FacilitatorParts {
  readonly clock: Clock;
  /** From 0 to below 1, for jitter. */
  readonly random: () => number;
  /** `fetch` instead of Node's own client. */
  readonly transport?: "node" | "fetch";
  /** In place of a client of its own: one that connects to judged addresses only. */
  readonly http?: HttpClient;
}

const SYSTEM: FacilitatorParts = { clock: systemClock, random: Math.random };

/**
 * Receives payments through an x402 facilitator. `headers` is a map sent with every call, or a function that returns
 * `{ verify, settle, supported }` and is asked before each call. `verify: "local"` checks signature and fields here and
 * shows the facilitator the payment at settlement only. With `rpcUrl` the chain tells what became of a lost settlement.
 * On Solana the facilitator pays the network fee, and every rule that needs no chain is checked here in either mode.
 *
 * @throws PaywallConfigError with every problem of the options.
 * @example
 * const receive = facilitator({ url: "https://x402.org/facilitator" });
 * const pay = createPaywall({ payTo: "0x…", network: "base-sepolia", receive });
 */
export function facilitator(options: FacilitatorOptions): Receiver {
  return createFacilitator(options, SYSTEM);
}

interface Service extends SettleService {
  readonly chain: ChainLookups;
}

/** `facilitator()` with its clock, jitter and transport given. */
export function createFacilitator(input: FacilitatorOptions, parts: FacilitatorParts): Receiver {
  const { clock, random, transport } = parts;
  const options = readFacilitatorOptions(input);
  const { headers, verify = "remote", timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const logger = harmless(options.logger ?? consoleLogger);
  const base = new URL(options.url).href.replace(/\/+$/, "");
  const alarms = createAlarms(logger, clock);
  const http = parts.http ?? createHttpClient(transport);
  const api = createFacilitatorApi({ base, headers, timeoutMs, http, clock, alarms });
  const supported = createSupportedCache({
    fetchList: api.fetchSupported,
    clock,
    random,
    onFailure: (message) => alarms.raise("supported", "The facilitator's list of networks cannot be had.", { message }),
  });
  const feePayers = createFeePayers(supported.current);
  const chain = createChainLookups(options.rpcUrl, http);
  const settledBy = new LRUCache<string, string>({ max: MAX_REFERENCES });
  const settleMs = (network: string) => options.timeoutMs ?? findNetwork(network)?.settleMs ?? DEFAULT_TIMEOUT_MS;
  const service: Service = { api, supported, feePayers, chain, settledBy, alarms, clock, logger, settleMs };

  return {
    name: "facilitator",
    methods: ["eip3009", "spl"],
    feePayer: feePayers.of,
    takesFeePayer: (network, address) => feePayers.listed(network).includes(address),
    evidence: "chain",
    identify: (payload, network) => identify(payload, network),
    settleMs,
    ready: (requirements, signal) => checkReady(service, requirements, signal),
    async verify(proof, { signatureKnown, resource, signal }) {
      if (proof.kind === "authorization") {
        const checked = verify === "local" ? await checkLocally(proof, signatureKnown, clock.now()) : undefined;
        return checked ?? verifyRemotely(service, proof, resource, signal);
      }
      if (!isSpl(proof)) return { outcome: "invalid", code: "unsupported_scheme" };
      const own = await withOwnFeePayer(proof, feePayers);
      const checked = await checkStatically(own, feePayers);
      if (checked.outcome !== "valid" || verify === "local") return checked;
      return verifyRemotely(service, own, resource, signal);
    },
    settle: (proof, context) => settleOnce(service, proof, context),
    lookup: (trace, signal) => chain.lookup(trace, signal),
    ...(chain.finality && { finality: chain.finality }),
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
    ...findUnsupported(requirements, fetched.list.kinds),
    ...findWithoutFeePayer(requirements, fetched.list),
    ...(await chain.findProblems(requirements, signal)),
  ];
  if (problems.length === 0) return { state: "ready" };
  // The list may have been wrong for a moment only: the next look finds a new one.
  supported.refresh();
  return { state: "misconfigured", problems };
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
  const reply = await api.ask("verify", { body: requestBody(proof, supported.current()?.kinds, resource), signal });
  if (reply.outcome === "no_credentials") {
    return { outcome: "unavailable", code: "receiver_auth", message: reply.message };
  }
  const verification = readVerification(reply, proof, alarms);
  // Its list named this fee payer, so the list is old: no buyer can mend that.
  if (verification.outcome === "invalid" && isForeignFeePayer(verification.reason)) supported.refresh();
  return verification;
}
