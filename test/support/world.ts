// A guard with everything real but the chain: the memory store on a clock that a test moves, real signatures, and a
// receiver whose settlements and lookups are scripted. `send` plays the adapter.

import { recoverTypedDataAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { createClaims } from "../../src/claims.js";
import { createCommits } from "../../src/commits.js";
import type { Context } from "../../src/context.js";
import { createEvents } from "../../src/events.js";
import { createGuard, type Guard } from "../../src/guard.js";
import { createHeldBytes } from "../../src/held.js";
import { createLookups } from "../../src/lookups.js";
import { findNetwork } from "../../src/networks.js";
import type { Payment } from "../../src/payment.js";
import type { Price, PriceFunction } from "../../src/price.js";
import { createPricing } from "../../src/pricing.js";
import type { AuthorizationProof, BoundProof } from "../../src/proof.js";
import { createReadiness } from "../../src/readiness.js";
import type { Lookup, Receiver, SettleContext, Settlement, Verification } from "../../src/receive/receiver.js";
import type { Answer, Outcome, PaywallRequest } from "../../src/request.js";
import type { Limits, Terms } from "../../src/settings.js";
import { atOnceOf, memoryStore } from "../../src/store/memory.js";
import type { Store } from "../../src/store/store.js";
import { createVerifier } from "../../src/verification.js";
import { decodeHeader, encodeHeader } from "../../src/wire/header.js";
import { createFakeClock } from "./fake-clock.js";

export const PAY_TO = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
/** The first well-known development key. */
export const BUYER = privateKeyToAccount("0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");
/** Who sends the transactions that are shown as proofs. */
export const PAYER = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
export const TRANSACTION = `0x${"ab".repeat(32)}`;

export interface ScriptedReceiver extends Receiver {
  settle: Receiver["settle"];
  /** What the next settlements come to; the default is settled. */
  settlements: ((proof: BoundProof, context: SettleContext) => Promise<Settlement> | Settlement)[];
  /** What lookups find; the last one stays. */
  lookups: Lookup[];
  /** What verification finds once the signature is good. */
  verification: Verification | undefined;
  readonly calls: { verify: number; signatures: number; settle: number; lookup: number };
}

export function scriptedReceiver(): ScriptedReceiver {
  const calls = { verify: 0, signatures: 0, settle: 0, lookup: 0 };
  return {
    name: "scripted",
    methods: ["eip3009", "transaction"],
    calls,
    settlements: [],
    lookups: [],
    verification: undefined,
    settleMs: () => 10_000,
    ready: async () => ({ state: "ready" }),
    /** A transaction of these tests is the identity itself, as JSON. */
    async identify({ transaction }) {
      const { key, payer = PAYER } = JSON.parse(atob(transaction)) as { key: string; payer?: string };
      return { ok: true, key, canonical: transaction, payer, asset: "native", transaction };
    },
    async verify(proof, { signatureKnown }) {
      calls.verify += 1;
      if (!signatureKnown && proof.kind === "authorization") {
        calls.signatures += 1;
        if (!(await isSigned(proof))) return { outcome: "invalid", code: "signature_invalid" };
      }
      return this.verification ?? { outcome: "valid", payer: proof.payer };
    },
    async settle(proof, context) {
      calls.settle += 1;
      const scripted = this.settlements.shift();
      if (scripted) return scripted(proof, context);
      return { outcome: "settled", transaction: TRANSACTION, payer: proof.payer };
    },
    async lookup() {
      calls.lookup += 1;
      const next = this.lookups.length > 1 ? this.lookups.shift() : this.lookups[0];
      return next ?? { outcome: "unknown", message: "nothing scripted" };
    },
    close: async () => {},
  };
}

const TYPES = {
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" },
  ],
} as const;

async function isSigned({ authorization, signature, requirement }: AuthorizationProof): Promise<boolean> {
  try {
    const signer = await recoverTypedDataAddress({
      domain: domainOf(requirement.asset, requirement.extra),
      types: TYPES,
      primaryType: "TransferWithAuthorization",
      message: authorization,
      signature,
    });
    return signer.toLowerCase() === authorization.from;
  } catch {
    return false;
  }
}

const domainOf = (asset: string, { name, version }: { name: string; version: string }) => ({
  name,
  version,
  chainId: 84532,
  verifyingContract: asset as `0x${string}`,
});

export interface Sent {
  readonly answer: Answer;
  readonly payment: Payment | undefined;
  readonly header: (name: string) => string | undefined;
  readonly json: () => Record<string, unknown>;
}

export type Handler = (payment: Payment) => Answer | Promise<Answer>;
export const ok: Handler = () => ({ status: 200, headers: [["Content-Type", "text/plain"]], body: "the goods" });
export const broken: Handler = () => ({ status: 500, headers: [], body: "sorry" });

export interface RequestParts {
  readonly method?: string;
  readonly target?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | "unreadable";
  /** How the sending of the answer goes. */
  readonly client?: "stays" | "leaves";
}

export function makeRequest({
  method = "GET",
  target = "/report",
  headers = {},
  body = "",
}: RequestParts): PaywallRequest {
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return {
    method,
    target,
    origin: "http://shop.example",
    ip: "127.0.0.1",
    signal: new AbortController().signal,
    header: (name) => lower[name.toLowerCase()],
    body: async () => (body === "unreadable" ? undefined : new TextEncoder().encode(body)),
    native: undefined,
  };
}

export interface WorldOptions {
  readonly price?: Price | PriceFunction;
  readonly terms?: Partial<Terms>;
  readonly limits?: Partial<Limits>;
  readonly store?: Store;
  readonly clock?: ReturnType<typeof createFakeClock>;
  readonly receiver?: ScriptedReceiver;
  /** Of the table that the route stands in: `METHOD /pattern`. */
  readonly line?: string;
  readonly publicUrl?: string;
}

export type World = ReturnType<typeof createWorld>;

export function createWorld(options: WorldOptions = {}) {
  const clock = options.clock ?? createFakeClock();
  const store = options.store ?? memoryStore({}, clock);
  const receiver = options.receiver ?? scriptedReceiver();
  const log: string[] = [];
  const write = (message: string, facts?: object) => void log.push(`${message} ${JSON.stringify(facts ?? {})}`);
  const logger = { debug: write, info: write, warn: write, error: write };
  const events = createEvents(logger);
  const limits: Limits = {
    openClaimsPerPayer: 256,
    unchargedRunsPerProof: 3,
    unchargedRunsPerPayer: 100,
    leaseMs: 15_000,
    ...options.limits,
  };
  const claims = createClaims(store, limits, atOnceOf(store), receiver, { clock, logger });
  const context: Context = {
    settings: { publicUrl: options.publicUrl, trustProxy: false, cors: undefined, limits },
    receiver,
    claims,
    commits: createCommits(store, atOnceOf(store)),
    events,
    logger,
    clock,
    held: createHeldBytes(),
    bodies: createHeldBytes(),
    verifier: createVerifier(receiver, clock),
    lookups: createLookups(claims, receiver, clock, events, logger),
    readiness: createReadiness(receiver, clock, logger),
  };
  const network = findNetwork("base-sepolia");
  if (!network) throw new Error("the table has no Base Sepolia");
  const terms: Terms = {
    networks: [network],
    payTo: { [network.id]: PAY_TO },
    flow: "authorization",
    description: "One report",
    mimeType: "application/json",
    maxTimeoutSeconds: 60,
    handlerTimeoutMs: 30_000,
    confirmations: 1,
    replayMs: 60_000,
    ...options.terms,
  };
  const price = options.price ?? "$0.01";
  const pricing = createPricing(price, terms, receiver);
  const [method, pattern = "/"] = options.line?.split(" ") ?? [];
  const line = options.line === undefined ? undefined : { key: options.line, method, pattern, price, terms };
  const guard = createGuard(context, () => ({ kind: "priced", route: { pricing, terms, line } }));
  const runs: Payment[] = [];

  async function send(parts: RequestParts, handler: Handler = ok): Promise<Sent> {
    const verdict = await guard(makeRequest(parts));
    const gone = parts.client === "leaves";
    if (verdict.kind === "open") throw new Error("the guard let an unpaid request through");
    if (verdict.kind === "refuse") return sent(verdict.answer, undefined);
    if (verdict.kind === "replay") {
      await (gone ? verdict.delivery.lost() : verdict.delivery.delivered());
      return sent(verdict.answer, undefined);
    }
    const { payment, capture } = verdict;
    runs.push(payment);
    let held: Answer | undefined;
    const answered = (async () => {
      held = await handler(payment);
      return capture.answered(held);
    })();
    void answered.then(() => capture.ended());
    const outcome: Outcome = await Promise.race([answered, capture.timedOut]);
    await (gone ? outcome.delivery.lost() : outcome.delivery.delivered());
    if (outcome.kind === "replace") return sent(outcome.answer, payment);
    if (!held) throw new Error("a delivery without an answer");
    return sent({ ...(held as Answer), headers: [...(held as Answer).headers, ...outcome.headers] }, payment);
  }

  let nonce = 0;
  /** A signed payment header for the world's price, v2 unless told otherwise. */
  async function sign(
    changes: {
      readonly version?: 1 | 2;
      readonly retryKey?: string;
      readonly authorization?: Record<string, unknown>;
      readonly accepted?: Record<string, unknown>;
      readonly extensions?: Record<string, unknown>;
      readonly account?: typeof BUYER;
      readonly target?: string;
    } = {},
  ): Promise<Record<string, string>> {
    const unpaid = await send({ target: changes.target ?? "/report" });
    const required = decodeHeader(unpaid.header("PAYMENT-REQUIRED") ?? "");
    if (!required.ok) throw new Error(required.problem);
    const { accepts, resource } = required.value as { accepts: Record<string, unknown>[]; resource: unknown };
    const accepted = accepts[0] as {
      asset: string;
      payTo: string;
      amount: string;
      extra: { name: string; version: string };
    };
    const now = Math.floor(clock.now() / 1000);
    nonce += 1;
    const account = changes.account ?? BUYER;
    const authorization = {
      from: account.address,
      to: accepted.payTo,
      value: accepted.amount,
      validAfter: String(now - 600),
      validBefore: String(now + terms.maxTimeoutSeconds),
      nonce: `0x${nonce.toString(16).padStart(64, "0")}`,
      ...changes.authorization,
    };
    const signature = await account.signTypedData({
      domain: domainOf(accepted.asset, accepted.extra),
      types: TYPES,
      primaryType: "TransferWithAuthorization",
      message: {
        ...authorization,
        from: authorization.from as `0x${string}`,
        to: authorization.to as `0x${string}`,
        nonce: authorization.nonce as `0x${string}`,
        value: BigInt(authorization.value),
        validAfter: BigInt(authorization.validAfter),
        validBefore: BigInt(authorization.validBefore),
      },
    });
    const payload = { signature, authorization };
    if (changes.version === 1) {
      return {
        "X-PAYMENT": encodeHeader({ x402Version: 1, scheme: "exact", network: "base-sepolia", payload }),
        ...(changes.retryKey && { "Idempotency-Key": changes.retryKey }),
      };
    }
    const extensions = changes.retryKey
      ? { "payment-identifier": { info: { required: false, id: changes.retryKey }, schema: {} } }
      : undefined;
    return {
      "PAYMENT-SIGNATURE": encodeHeader({
        x402Version: 2,
        resource,
        accepted: { ...accepted, ...changes.accepted },
        payload,
        ...((changes.extensions ?? extensions) && { extensions: changes.extensions ?? extensions }),
      }),
    };
  }

  /** A payment header that shows a transaction, for the offer that takes one. */
  async function show(
    transaction: { readonly key: string; readonly payer?: string; readonly note?: string },
    changes: { readonly secret?: string; readonly retryKey?: string; readonly accepted?: Record<string, unknown> } = {},
  ): Promise<Record<string, string>> {
    const unpaid = await send({});
    const required = decodeHeader(unpaid.header("PAYMENT-REQUIRED") ?? "");
    if (!required.ok) throw new Error(required.problem);
    const { accepts } = required.value as { accepts: { extra: { assetTransferMethod?: string } }[] };
    const accepted = accepts.find(({ extra }) => extra.assetTransferMethod === "transaction");
    const payload = {
      transaction: btoa(JSON.stringify(transaction)),
      ...(changes.secret && { secret: changes.secret }),
    };
    const info = { required: false, id: changes.retryKey };
    const extensions = changes.retryKey && { "payment-identifier": { info, schema: {} } };
    const shown = { x402Version: 2, accepted: { ...accepted, ...changes.accepted }, payload };
    return { "PAYMENT-SIGNATURE": encodeHeader({ ...shown, ...(extensions && { extensions }) }) };
  }

  return { guard: guard as Guard, show, clock, store, receiver, claims, context, runs, log, send, sign, events, terms };
}

function sent(answer: Answer, payment: Payment | undefined): Sent {
  const header = (name: string) => answer.headers.find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1];
  const text = () => (typeof answer.body === "string" ? answer.body : new TextDecoder().decode(answer.body));
  return { answer, payment, header, json: () => JSON.parse(text()) as Record<string, unknown> };
}

/** Status and code of a refusal, to compare in one go. */
export const codeOf = ({ json, answer }: Sent) => [answer.status, json().code];
