// The `hosted` receiver: a tollgate gateway verifies and settles. It verifies by `POST /payment/receive` with `settle: false`,
// settles by the same call without it under the settlement's id as Idempotency-Key, and looks up by the proof's id.
import { systemClock } from "../clock.js";
import { consoleLogger, harmless } from "../logger.js";
import { findNetwork } from "../networks.js";
import type { TransactionPayload } from "../wire/payload.js";
import { createAlarms } from "./alarms.js";
import { createFeePayers } from "./facilitator-fee-payers.js";
import { readFinality, readReceived, readStatus, readVerified } from "./hosted-answers.js";
import { baseOf, createHostedApi, decimalsOf, type HostedApi } from "./hosted-api.js";
import { type HostedOptions, readHostedOptions } from "./hosted-options.js";
import { checkHosted } from "./hosted-ready.js";
import { createHttpClient } from "./http.js";
import { identifyBytes, isTransactionId } from "./identify-bytes.js";
import { identityOf } from "./identity.js";
import type { Again, Identified, Lookup, Receiver, Trace } from "./receiver.js";
import { createSupportedCache } from "./supported.js";

export type { HostedOptions } from "./hosted-options.js";

const DEFAULT_TIMEOUT_MS = 10_000;
/** The gateway stops waiting for the chain before we stop listening to it (faults F12). */
const SERVICE_MS = 5_000;
/** The gateway's last word comes up to 2 s after the time it was given; a second more is for the way there and back. */
const MARGIN_MS = 3_000;
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
  const { timeoutMs = DEFAULT_TIMEOUT_MS, tokens = [] } = options;
  const http = createHttpClient();
  const alarms = createAlarms(harmless(options.logger ?? consoleLogger), systemClock);
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
    // With the key: another account's shows nothing of a payment that this one has sent. Nor does a new key of the same account
    // end what is unknown then; what was paid is found by either.
    identity: identityOf("hosted", `${baseOf(options)} ${options.apiKey}`),
    methods: ["eip3009", "spl", "transaction"],
    feePayer: feePayers.of,
    takesFeePayer: (network, address) => feePayers.listed(network).includes(address),
    identify: (payload, network, signal) => identify(api, payload, network, signal),
    settleMs,
    ready: (requirements, signal) => checkHosted({ api, supported, options, timeoutMs }, requirements, signal),
    async verify(proof, { resource, signal }) {
      const call = { proof, resource, waitMs: timeoutMs - MARGIN_MS, timeoutMs, signal };
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
    finality: async (trace, signal) => readFinality(await api.status(trace.proofId, { timeoutMs, signal }), trace),
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
    const isLate = systemClock.now() > trace.validBefore * 1000 + LATE_MS;
    // A buyer's own transaction may be on the chain without the gateway, which has never heard of it then.
    const isOver = isLate && (reading.outcome === "over" || trace.method !== "transaction");
    // Only others name a transaction before it is settled, or this gateway when it still knew of it.
    const wasOurs = reading.outcome === "over" || trace.transaction === null;
    if (isOver && wasOurs) return { outcome: "expired" };
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
