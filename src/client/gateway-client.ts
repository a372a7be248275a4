// The gateway's API as an object: a method for every endpoint, typed by the gateway's own schemas. Repeats and their safety are in
// gateway-client-call.ts, what an answer means in gateway-client-answer.ts. The API key belongs on servers: never into a browser.
import { type CallOptions, type CallParts, createCall, systemParts } from "./gateway-client-call.js";
import { ENDPOINTS } from "./gateway-client-endpoints.js";
import type { EventsOptions } from "./gateway-client-events.js";
import { clientSchema, readOptions, settingsOf } from "./gateway-client-options.js";
import type * as shapes from "./gateway-client-shapes.js";
import { readAll, type WaitOptions, waitFor } from "./gateway-client-wait.js";

export interface GatewayClientOptions {
  /** Of the gateway: https, or http on this machine. */
  readonly baseUrl: string;
  /** `tg_live_…` or `tg_test_…`. */
  readonly apiKey: string;
  /** Takes http to other machines too: whoever is on the way there reads the key. */
  readonly allowHttp?: boolean;
  /** In place of the runtime's own. */
  readonly fetch?: typeof globalThis.fetch;
  /** Milliseconds for one attempt, 60,000; a `receive` has at least the time that it asks the gateway to take. */
  readonly timeoutMs?: number;
  /** How often a call is repeated that did not come to its answer, 3. */
  readonly retries?: number;
  /** Milliseconds for a call with all its repeats and the pauses between them, 120,000. */
  readonly totalMs?: number;
}

/**
 * Every method resolves with the gateway's answer, or throws a `GatewayError`. A call that moves or builds money carries an
 * `Idempotency-Key`, the same one in each repeat, so it is done once however often it goes out.
 */
export interface GatewayClient {
  /** Pays from a hosted wallet; `paymentProof` opens the resource at the seller. */
  send(request: shapes.SendRequest, options?: CallOptions): Promise<shapes.SendAnswer>;
  /** Verifies a buyer's proof and settles it. Grants each proof once. */
  receive(request: shapes.ReceiveRequest, options?: CallOptions): Promise<shapes.ReceiveAnswer>;
  /** By the id of the payment, of its transaction or of its proof. */
  status(paymentId: string, options?: CallOptions): Promise<shapes.StatusAnswer>;
  /** One page, newest first. */
  history(walletAddress: string, query?: shapes.HistoryQuery, options?: CallOptions): Promise<shapes.HistoryAnswer>;
  /**
   * Every payment of a wallet, newest first; pages are fetched as they are needed.
   *
   * @example for await (const { paymentId, status } of client.payments(address)) console.log(paymentId, status);
   */
  payments(
    walletAddress: string,
    query?: Omit<shapes.HistoryQuery, "offset" | "before">,
    options?: Pick<CallOptions, "signal">,
  ): AsyncGenerator<shapes.PaymentRecord, void, undefined>;
  /** Builds a transaction that you sign. `signAndSend` does the rest, and does not believe the gateway. */
  buildSend(request: shapes.BuildSendRequest, options?: CallOptions): Promise<shapes.BuildAnswer>;
  /** Builds what collects a buyer's proof, for you to sign: see `signAndCollect`. */
  buildReceive(request: shapes.BuildReceiveRequest, options?: CallOptions): Promise<shapes.BuildAnswer>;
  /** The bytes of a public transaction. */
  transaction(
    transactionId: string,
    query: shapes.TransactionQuery,
    options?: CallOptions,
  ): Promise<shapes.TransactionAnswer>;
  /** x402 facilitator: a payment that is refused is an answer with `isValid: false`. */
  verify(request: shapes.FacilitatorRequest, options?: CallOptions): Promise<shapes.VerifyResponse>;
  /** x402 facilitator: a payment that is refused is an answer with `success: false`. */
  settle(request: shapes.FacilitatorRequest, options?: CallOptions): Promise<shapes.SettleResponse>;
  /** x402 facilitator: what can be settled here. Sends no key. */
  supported(options?: CallOptions): Promise<shapes.SupportedResponse>;
  /** The text that shows a wallet to be yours, once the wallet has signed it. */
  walletChallenge(request: shapes.ChallengeRequest, options?: CallOptions): Promise<shapes.ChallengeAnswer>;
  walletProve(request: shapes.ProveRequest, options?: CallOptions): Promise<shapes.ProveAnswer>;
  /** The process answers. Asked once, without a key. */
  health(options?: CallOptions): Promise<shapes.HealthAnswer>;
  /** The service can serve; `UNAVAILABLE` is thrown where it cannot. Asked once, without a key. */
  ready(options?: CallOptions): Promise<shapes.ReadyAnswer>;
  /**
   * Asks for the status, with growing pauses, until it is `confirmed` (or `finalized`), `failed` or `expired`: the record's
   * `status` says which. Throws `NOT_IN_TIME` after `timeoutMs`, whatever the gateway does.
   *
   * @example const { status } = await client.wait(paymentId, { until: "finalized", timeoutMs: 60_000 });
   */
  wait(paymentId: string, options?: WaitOptions): Promise<shapes.StatusAnswer>;
  /**
   * What happens to the account's payments, as it happens; needs the scope `events`. Connects again whenever the connection breaks,
   * and goes on after the last event, so nothing is missed or told twice. Throws where the key is refused, or `cursor_expired`
   * where what comes after `since` is not kept any more. `break` and the signal end it.
   *
   * @example for await (const { type, data } of client.events({ keys: ["payments"] })) console.log(type, data.status);
   */
  events(options: EventsOptions): AsyncGenerator<shapes.PaymentEvent, void, undefined>;
}

/**
 * A client of a tollgate gateway.
 *
 * @throws PaywallConfigError with every problem of the options.
 * @example
 * const client = gatewayClient({ baseUrl: "https://pay.example", apiKey: process.env.TOLLGATE_API_KEY });
 * const { paymentId, paymentProof } = await client.send({ walletAddress, recipientAddress, amount: 0.001 });
 */
export const gatewayClient = (options: GatewayClientOptions): GatewayClient => createGatewayClient(options);

/** The grace that a gateway takes beyond the time it was given, and the way there and back. */
const RECEIVE_MARGIN_MS = 5_000;

/** With parts of its own, for tests. */
export function createGatewayClient(options: GatewayClientOptions, parts: CallParts = systemParts): GatewayClient {
  const { apiKey, ...common } = readOptions(clientSchema, options, "gatewayClient");
  const settings = settingsOf(common, apiKey);
  const call = createCall(settings, parts);
  const status: GatewayClient["status"] = (paymentId, own) => call(ENDPOINTS.status, { params: { paymentId } }, own);
  const history: GatewayClient["history"] = (walletAddress, query = {}, own = {}) =>
    call(ENDPOINTS.history, { params: { walletAddress }, query }, own);
  return {
    send: (body, own) => call(ENDPOINTS.send, { body }, own),
    receive: (body, own) => {
      const leastMs = body.timeout === undefined ? 0 : body.timeout * 1000 + RECEIVE_MARGIN_MS;
      return call(ENDPOINTS.receive, { body, leastMs }, own);
    },
    status,
    history,
    payments: (walletAddress, query = {}, own = {}) => readAll(history, walletAddress, query, own),
    buildSend: (body, own) => call(ENDPOINTS.buildSend, { body }, own),
    buildReceive: (body, own) => call(ENDPOINTS.buildReceive, { body }, own),
    transaction: (transactionId, query, own) => call(ENDPOINTS.transaction, { params: { transactionId }, query }, own),
    verify: (body, own) => call(ENDPOINTS.verify, { body }, own),
    settle: (body, own) => call(ENDPOINTS.settle, { body }, own),
    supported: (own) => call(ENDPOINTS.supported, {}, own),
    walletChallenge: (body, own) => call(ENDPOINTS.walletChallenge, { body }, own),
    walletProve: (body, own) => call(ENDPOINTS.walletProve, { body }, own),
    health: (own) => call(ENDPOINTS.health, {}, own),
    ready: (own) => call(ENDPOINTS.ready, {}, own),
    wait: (paymentId, own = {}) => {
      const ask = (mostMs: number) => call(ENDPOINTS.status, { params: { paymentId }, mostMs }, { signal: own.signal });
      return waitFor(ask, paymentId, own, parts);
    },
    async *events(own) {
      // Loaded by whoever listens: most who bundle this client do not.
      const { streamEvents } = await import("./gateway-client-events.js");
      yield* streamEvents(settings, own, parts);
    },
  };
}
