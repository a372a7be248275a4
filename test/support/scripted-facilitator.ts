// A facilitator whose every answer a test can script. Unscripted it is honest and instant: it calls every payment valid,
// and settles by the function that the test gives (on a real chain, for example) or by inventing a transaction id.
//
//   const facilitator = await startScriptedFacilitator({ settle: async (payment) => hash });
//   facilitator.script("settle", answer.hang(), answer.refuse("insufficient_funds"));   // the next two, then honest again
//   facilitator.always("verify", answer.status(401));                                    // from now on
//   await facilitator.received("settle", 2);                                             // two settle requests have arrived
//   facilitator.requests, facilitator.connections, facilitator.settled                   // what happened
//   await facilitator.close();
import { createHash } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { VersionedTransaction } from "@solana/web3.js";
import { encodeBase58 } from "../../src/chains/solana/base58.js";

export type Endpoint = "verify" | "settle" | "supported";

/** A payment as /verify and /settle get it, v1 or v2. */
interface PaymentTerms {
  readonly version: number;
  /** As sent: a CAIP-2 id or a v1 name. */
  readonly network: string;
  readonly asset: string;
  readonly payTo: string;
  /** Atomic units, decimal. */
  readonly amount: string;
  readonly extra: Readonly<Record<string, unknown>>;
}

export interface EvmPayment extends PaymentTerms {
  readonly signature: string;
  readonly authorization: Readonly<Record<"from" | "to" | "value" | "validAfter" | "validBefore" | "nonce", string>>;
}

export interface SolanaPayment extends PaymentTerms {
  /** Base64, slot 0 empty. */
  readonly transaction: string;
}

export type FacilitatorPayment = EvmPayment | SolanaPayment;

export interface ReceivedRequest {
  readonly endpoint: Endpoint;
  readonly headers: IncomingHttpHeaders;
  /** Number of the TCP connection, from 1. */
  readonly connection: number;
  /** The parsed JSON body; undefined where none was read. */
  readonly body: unknown;
}

export type ScriptedAnswer = (exchange: {
  readonly response: ServerResponse;
  readonly socket: Socket;
  /** Does what an honest facilitator does for this request (settling included) and returns its JSON body. */
  act(): Promise<object>;
}) => Promise<void> | void;

const json = (response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) => {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
};

/** Everything a facilitator can do. Compose your own: an answer is a function. */
export const answer = {
  honest:
    (): ScriptedAnswer =>
    async ({ response, act }) =>
      json(response, 200, await act()),
  /** Any JSON with any status. */
  json:
    (body: unknown, status = 200, headers: Record<string, string> = {}): ScriptedAnswer =>
    ({ response }) =>
      json(response, status, body, headers),
  /** Any text with any status. */
  text:
    (body: string, status = 200, headers: Record<string, string> = {}): ScriptedAnswer =>
    ({ response }) =>
      void response.writeHead(status, headers).end(body),
  html: (status = 200): ScriptedAnswer =>
    answer.text("<!doctype html><title>Sign in</title>", status, { "content-type": "text/html" }),
  empty: (status = 200): ScriptedAnswer => answer.text("", status),
  /** A bare status with an untyped JSON body: 401, 403, 429, 500, 503 … */
  status: (status: number, headers: Record<string, string> = {}): ScriptedAnswer =>
    answer.json({ error: `status ${status}` }, status, headers),
  redirect: (location: string, status = 308): ScriptedAnswer => answer.text("", status, { location }),
  invalid: (invalidReason: string, status = 200): ScriptedAnswer =>
    answer.json({ isValid: false, invalidReason }, status),
  /** `success: false` with an empty transaction. */
  refuse: (errorReason: string, status = 200): ScriptedAnswer =>
    answer.json({ success: false, errorReason, transaction: "", network: "" }, status),
  /** Acts honestly, then says that the outcome is not known yet. */
  pending:
    (transaction: string): ScriptedAnswer =>
    async ({ response, act }) => {
      await act();
      json(response, 200, { success: false, errorReason: "settlement_pending", transaction, network: "" });
    },
  /** `success: true` with this transaction, whatever was paid (nothing is settled). */
  claim: (transaction: string): ScriptedAnswer => answer.json({ success: true, transaction, network: "" }),
  /** Reads the request and never answers. */
  hang: (): ScriptedAnswer => () => {},
  /** Acts honestly and never answers. */
  hangAfterActing:
    (): ScriptedAnswer =>
    async ({ act }) =>
      void (await act()),
  /** Closes the connection with a reset, having done nothing. */
  reset:
    (): ScriptedAnswer =>
    ({ socket }) =>
      void socket.resetAndDestroy(),
  /** Acts honestly (settles!) and loses the answer. */
  resetAfterActing:
    (): ScriptedAnswer =>
    async ({ socket, act }) => {
      await act();
      socket.resetAndDestroy();
    },
  /** Waits for the promise, then gives the other answer. */
  after:
    (gate: Promise<unknown>, then: ScriptedAnswer): ScriptedAnswer =>
    async (exchange) => {
      await gate;
      await then(exchange);
    },
  delay:
    (ms: number, then: ScriptedAnswer = answer.honest()): ScriptedAnswer =>
    (exchange) =>
      answer.after(new Promise((resolve) => setTimeout(resolve, ms)), then)(exchange),
  /** One byte every `everyMs`, without an end. */
  drip:
    (everyMs = 20): ScriptedAnswer =>
    ({ response }) => {
      response.writeHead(200, { "content-type": "application/json" });
      const timer = setInterval(() => response.write(" "), everyMs);
      response.on("close", () => clearInterval(timer));
    },
  /** The honest answer, padded with white space: valid JSON, too much of it. */
  huge:
    (bytes = 1024 * 1024): ScriptedAnswer =>
    async ({ response, act }) => {
      const body = JSON.stringify(await act());
      response.writeHead(200, { "content-type": "application/json" }).end(body + " ".repeat(bytes));
    },
  /** The head and a part of the body, then a reset. */
  cutOff:
    (): ScriptedAnswer =>
    ({ response, socket }) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "500" });
      response.write('{"isValid":', () => socket.resetAndDestroy());
    },
};

export interface ScriptedFacilitator {
  /** Base URL, without a trailing slash. */
  readonly url: string;
  /** In order of arrival. */
  readonly requests: readonly ReceivedRequest[];
  /** Transactions of the settlements that really took place, by `from:nonce`; on Solana by the signed message. */
  readonly settled: ReadonlyMap<string, string>;
  /** TCP connections accepted so far. */
  readonly connections: number;
  /** Queues answers for the next requests to an endpoint. */
  script(endpoint: Endpoint, ...answers: readonly ScriptedAnswer[]): void;
  /** Replaces the honest answer of an endpoint. */
  always(endpoint: Endpoint, then: ScriptedAnswer): void;
  /** Resolves when this many requests to the endpoint have arrived in all. */
  received(endpoint: Endpoint, count: number): Promise<void>;
  close(): Promise<void>;
}

export interface ScriptedFacilitatorOptions {
  /** Settles and returns the transaction id; a rejection becomes `success: false`. */
  readonly settle?: (payment: FacilitatorPayment) => Promise<string>;
  /** Entries of /supported; the default is `exact` on Base Sepolia in both versions. */
  readonly kinds?: readonly object[];
  /** `signers` of /supported. */
  readonly signers?: object;
  readonly port?: number;
}

export const BASE_SEPOLIA_KINDS = [
  { x402Version: 2, scheme: "exact", network: "eip155:84532" },
  { x402Version: 1, scheme: "exact", network: "base-sepolia" },
];

export async function startScriptedFacilitator(options: ScriptedFacilitatorOptions = {}): Promise<ScriptedFacilitator> {
  const requests: ReceivedRequest[] = [];
  const settled = new Map<string, string>();
  const queues: Record<Endpoint, ScriptedAnswer[]> = { verify: [], settle: [], supported: [] };
  const defaults: Record<Endpoint, ScriptedAnswer> = {
    verify: answer.honest(),
    settle: answer.honest(),
    supported: answer.honest(),
  };
  const connectionNumbers = new WeakMap<Socket, number>();
  const waiting = new Set<() => void>();
  let connections = 0;

  async function act(endpoint: Endpoint, body: unknown): Promise<object> {
    const { kinds = BASE_SEPOLIA_KINDS, signers = {} } = options;
    if (endpoint === "supported") return { kinds, extensions: [], signers };
    const payment = readPayment(body);
    if (endpoint === "verify") return { isValid: true, payer: payerOf(payment) };
    return settleHonestly(payment);
  }

  async function settleHonestly(payment: FacilitatorPayment): Promise<object> {
    const { network } = payment;
    const key = keyOf(payment);
    try {
      // An identical request gets the first one's result: one authorization, one transaction.
      const transaction = settled.get(key) ?? (await (options.settle ?? inventTransaction)(payment));
      settled.set(key, transaction);
      return { success: true, payer: payerOf(payment), transaction, network };
    } catch (error) {
      const errorMessage = error instanceof Error ? error.message : String(error);
      return { success: false, errorReason: "unexpected_settle_error", errorMessage, transaction: "", network };
    }
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const endpoint = request.url?.slice(1) as Endpoint;
    if (!(endpoint in queues)) return void response.writeHead(404).end();
    const text = await readText(request);
    const body: unknown = text === "" ? undefined : JSON.parse(text);
    requests.push({ endpoint, headers: request.headers, connection: connectionNumbers.get(request.socket) ?? 0, body });
    for (const check of [...waiting]) check();
    const next = queues[endpoint].shift() ?? defaults[endpoint];
    await next({ response, socket: request.socket, act: () => act(endpoint, body) });
  }

  const server = createServer((request, response) => {
    respond(request, response).catch((error) => {
      // A mistake of the test itself: say it where the test can see it.
      if (response.headersSent) response.destroy();
      else json(response, 599, { scriptedFacilitatorFailed: String(error) });
    });
  });
  server.on("connection", (socket) => connectionNumbers.set(socket, ++connections));
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, "127.0.0.1", resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    settled,
    get connections() {
      return connections;
    },
    script: (endpoint, ...answers) => void queues[endpoint].push(...answers),
    always(endpoint, then) {
      defaults[endpoint] = then;
    },
    received: (endpoint, count) =>
      new Promise((resolve) => {
        const check = () => {
          if (requests.filter((request) => request.endpoint === endpoint).length < count) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const messageOf = ({ transaction }: SolanaPayment) =>
  VersionedTransaction.deserialize(Buffer.from(transaction, "base64")).message;

/** Whose money it is: on Solana the second signer's. */
const payerOf = (payment: FacilitatorPayment): string =>
  "authorization" in payment ? payment.authorization.from : messageOf(payment).staticAccountKeys[1]!.toBase58();

/** What makes two requests one payment. */
const keyOf = (payment: FacilitatorPayment): string =>
  "authorization" in payment
    ? `${payment.authorization.from}:${payment.authorization.nonce}`.toLowerCase()
    : Buffer.from(messageOf(payment).serialize()).toString("hex");

/** A transaction id that belongs to this payment alone. */
async function inventTransaction(payment: FacilitatorPayment): Promise<string> {
  const digest = (bits: 256 | 512) => createHash(`sha${bits}`).update(keyOf(payment));
  return "authorization" in payment ? `0x${digest(256).digest("hex")}` : encodeBase58(digest(512).digest());
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = "";
  request.setEncoding("utf8");
  for await (const chunk of request) text += chunk;
  return text;
}

interface WireBody {
  x402Version: number;
  paymentPayload: { payload: Pick<EvmPayment, "signature" | "authorization"> | Pick<SolanaPayment, "transaction"> };
  paymentRequirements: {
    network: string;
    asset: string;
    payTo: string;
    amount?: string;
    maxAmountRequired?: string;
    extra?: Record<string, unknown>;
  };
}

function readPayment(body: unknown): FacilitatorPayment {
  const { x402Version, paymentPayload, paymentRequirements } = body as WireBody;
  const { network, asset, payTo, amount, maxAmountRequired, extra = {} } = paymentRequirements;
  const terms = { version: x402Version, network, asset, payTo, amount: amount ?? maxAmountRequired ?? "", extra };
  const { payload } = paymentPayload;
  if ("transaction" in payload) return { ...terms, transaction: payload.transaction };
  return { ...terms, signature: payload.signature, authorization: payload.authorization };
}
