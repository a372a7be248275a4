// The `hosted` receiver: a tollgate gateway verifies and settles. It verifies by `POST /payment/receive` with `settle: false`,
// settles by the same call without it under the settlement's id as Idempotency-Key, and looks up by the proof's id.
import { systemClock } from "../clock.js";
import { consoleLogger } from "../logger.js";
import { findNetwork } from "../networks.js";
import type { Requirement } from "../requirement.js";
import type { SupportedResponse } from "../wire/facilitator.js";
import type { TransactionPayload } from "../wire/payload.js";
import { createAlarms } from "./alarms.js";
import { createFeePayers, findWithoutFeePayer } from "./facilitator-fee-payers.js";
import { findUnsupported } from "./facilitator-kinds.js";
import { readReceived, readStatus, readVerified } from "./hosted-answers.js";
import { createHostedApi, decimalsOf, type HostedApi } from "./hosted-api.js";
import { type HostedOptions, readHostedOptions } from "./hosted-options.js";
import { createHttpClient } from "./http.js";
import { identifyBytes, isTransactionId } from "./identify-bytes.js";
import type { Again, Identified, Lookup, Readiness, ReadinessProblem, Receiver, Trace } from "./receiver.js";
import { createSupportedCache, type SupportedCache } from "./supported.js";

export type { HostedOptions } from "./hosted-options.js";

const DEFAULT_TIMEOUT_MS = 10_000;
/** The gateway stops waiting for the chain before we stop listening to it (faults F12). */
const SERVICE_MS = 5_000;
/** For the way there and back. */
const MARGIN_MS = 1_000;
/** Between our clock and the gateway's, and for a call that is still on its way. */
const LATE_MS = 60_000;

/**
 * Receives payments through a tollgate gateway: EVM and Solana, tokens and native currency. The key needs the scope `receive`.
 * The gateway's word is what counts; whoever runs it can be you.
 *
 * @throws PaywallConfigError with every problem of the options.
 * @example createPaywall({ payTo, network: "base", receive: hosted({ baseUrl: "https://pay.example", apiKey }) });
 */
export function hosted(input: HostedOptions): Receiver {
  const options = readHostedOptions(input);
  const { timeoutMs = DEFAULT_TIMEOUT_MS, tokens = [], logger = consoleLogger } = options;
  const http = createHttpClient();
  const alarms = createAlarms(logger, systemClock);
  const api = createHostedApi(options, http, timeoutMs);
  const supported = createSupportedCache({
    fetchList: api.supported,
    clock: systemClock,
    random: Math.random,
    onFailure: (message) => alarms.raise("supported", "The gateway's list of networks cannot be had.", { message }),
  });
  const feePayers = createFeePayers(supported.current);
  const waitMs = (network: string) => findNetwork(network)?.settleMs ?? 10_000;
  const settleMs = (network: string) => waitMs(network) + SERVICE_MS;

  return {
    name: "hosted",
    methods: ["eip3009", "spl", "transaction"],
    feePayer: feePayers.of,
    identify: (payload, network, signal) => identify(api, payload, network, signal),
    settleMs,
    ready: (requirements, signal) => checkReady({ api, supported, options, timeoutMs }, requirements, signal),
    async verify(proof, { resource, signal }) {
      const call = { proof, resource, waitMs: timeoutMs, timeoutMs: timeoutMs + MARGIN_MS, signal };
      return readVerified(await api.receive(call), proof, alarms);
    },
    async settle(proof, { resource, settlementId, deadlineAt }) {
      if (decimalsOf(proof.requirement, tokens) === undefined) {
        return { outcome: "unavailable", message: `the decimals of ${proof.requirement.asset} are not known` };
      }
      const leftMs = deadlineAt - systemClock.now();
      if (leftMs <= 0) return { outcome: "unavailable", message: "no time was left" };
      const wait = waitMs(proof.requirement.network);
      const reply = await api.receive({ proof, resource, waitMs: wait, timeoutMs: leftMs, settlementId });
      return readReceived(reply, proof, alarms);
    },
    lookup: (trace, signal, again) => lookup(api, trace, signal, again),
    async close() {
      supported.close();
      http.close();
    },
  };

  /**
   * By the proof's id; where the gateway has no record of it and the buyer shows it again, by the very same call again: the
   * first may never have arrived, and the gateway takes a payment once.
   */
  async function lookup(
    { status, receive }: HostedApi,
    trace: Trace,
    signal: AbortSignal,
    again: Again | undefined,
  ): Promise<Lookup> {
    const reading = readStatus(await status(trace.proofId, { timeoutMs, signal }), trace);
    if (reading.outcome === "settled" || reading.outcome === "unknown") return reading;
    const isOver = systemClock.now() > trace.validBefore * 1000 + LATE_MS;
    if (isOver) return { outcome: "expired" };
    if (reading.outcome === "over" || !again) {
      return { outcome: "unknown", message: "the gateway has not settled it so far" };
    }
    const { proof, settlementId, resource } = again;
    const { network } = proof.requirement;
    const call = { proof, resource, settlementId, waitMs: waitMs(network), timeoutMs: settleMs(network), signal };
    const settlement = readReceived(await receive(call), proof, alarms);
    if (settlement.outcome !== "settled") return { outcome: "unknown", message: "the gateway has not settled it" };
    const { transaction, received } = settlement;
    return { outcome: "settled", transaction, ...(received !== undefined && { received }) };
  }
}

/** What a transaction is known by; the gateway is asked for the bytes behind a mere id. */
async function identify(
  api: HostedApi,
  payload: TransactionPayload,
  network: string,
  signal: AbortSignal,
): Promise<Identified> {
  const { transaction: text } = payload;
  if (!isTransactionId(text)) return identifyBytes(network, text);
  const found = await api.transaction(text, network, signal);
  if (typeof found === "string") return identifyBytes(network, found, text);
  if (found.outcome === "failed") return { ok: false, code: "receiver_unreachable" };
  if (found.status === 404) return { ok: false, code: "payment_not_seen", got: text };
  return { ok: false, code: found.status === 401 || found.status === 403 ? "receiver_auth" : "receiver_unreachable" };
}

interface Checked {
  readonly api: HostedApi;
  readonly supported: SupportedCache<SupportedResponse>;
  readonly options: HostedOptions;
  readonly timeoutMs: number;
}

/** An id that no payment has: the answer tells what the key is worth. */
const NO_PAYMENT = `pay_${"1".repeat(22)}`;

async function checkReady(
  { api, supported, options, timeoutMs }: Checked,
  requirements: readonly Requirement[],
  signal: AbortSignal,
): Promise<Readiness> {
  const [fetched, keyReply] = await Promise.all([
    supported.load(signal),
    api.status(NO_PAYMENT, { timeoutMs, signal }),
  ]);
  if (keyReply.outcome === "failed") return { state: "unreachable", message: `baseUrl: ${keyReply.message}` };
  const { status } = keyReply;
  const refused = status === 401 || status === 403;
  if (!refused && status !== 404 && status !== 200) {
    return { state: "unreachable", message: `baseUrl: /payment/status answered ${status}` };
  }
  if (fetched.outcome !== "list") return { state: "unreachable", message: `baseUrl: ${fetched.message}` };
  // How own transactions are paid stands in no list of x402.
  const listed = requirements.filter(({ method }) => method !== "transaction");
  const problems = [
    ...(refused ? [refusedKey(status)] : []),
    ...findWrongMode(requirements, options),
    ...findUnsupported(listed, fetched.list.kinds),
    ...findWithoutFeePayer(listed, fetched.list),
    ...findWithoutDecimals(requirements, options.tokens ?? [], "hosted()"),
  ];
  return problems.length > 0 ? { state: "misconfigured", problems } : { state: "ready" };
}

const refusedKey = (status: number): ReadinessProblem => ({
  check: "apiKey",
  expected: "a key that the gateway accepts, with the scope receive",
  got: `/payment/status answered ${status}`,
  remedy: "Make a key with `tollgate keys create --scopes receive` and set it as apiKey of hosted().",
});

function findWrongMode(requirements: readonly Requirement[], { apiKey }: HostedOptions): ReadinessProblem[] {
  const isTest = apiKey.startsWith("tg_test_");
  const wrong = new Set(requirements.map(({ network }) => network).filter((id) => findNetwork(id)?.testnet !== isTest));
  return [...wrong].map((network) => ({
    check: "apiKey",
    expected: `a ${isTest ? "live" : "test"} key for ${findNetwork(network)?.name ?? network}`,
    got: `a ${isTest ? "test" : "live"} key`,
    remedy: "Test keys reach test networks only, live keys main networks only: use the other key, or another network.",
  }));
}

/** @param name of the receiver, as the seller wrote it */
export function findWithoutDecimals(
  requirements: readonly Requirement[],
  tokens: NonNullable<HostedOptions["tokens"]>,
  name: string,
): ReadinessProblem[] {
  const unknown = requirements.filter((requirement) => decimalsOf(requirement, tokens) === undefined);
  return [...new Set(unknown.map(({ asset, network }) => `${asset} on ${network}`))].map((token) => ({
    check: "decimals",
    expected: `the decimals of ${token}`,
    got: "none: it is not in the built-in table",
    remedy: `Name it in tokens of ${name}, [{ network, address, decimals }], and among the gateway's assets.`,
  }));
}
