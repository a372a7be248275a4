// A seller of the tests' own on Solana: a 402, `verifyStatic`, one broadcast. It shows what published buyers send and need,
// with an offer of any shape; it is no paywall: it remembers no payment and serves one buyer at a time.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { VersionedTransaction } from "@solana/web3.js";
import * as z from "zod/mini";
import { DEFAULT_CAPS, type StaticTerms } from "../../src/chains/solana/terms.js";
import { verifyStatic } from "../../src/chains/solana/verify-static.js";
import type { SolanaSandbox } from "../../src/testing/solana/sandbox.js";
import { decodeHeader, encodeHeader } from "../../src/wire/header.js";

export interface Offering {
  /** Protocol versions of the 402: 1 is the body, 2 the header. */
  readonly versions: readonly (1 | 2)[];
  /** Members of the offer's `extra` beside `feePayer`; a memo among them is demanded. */
  readonly extra: Readonly<Record<string, string | number>>;
  /** The entries of `accepts`; absent = the offer alone. */
  readonly list?: (offer: Entry, version: 1 | 2) => readonly Entry[];
}
type Entry = Readonly<Record<string, unknown>>;

export interface StandInSeller {
  readonly url: string;
  /** What it says from now on. */
  offer(offering: Offering): void;
  /** Transactions it was paid with since the last `take`, base64. */
  take(): string[];
  close(): void;
}

const proofSchema = z.looseObject({ payload: z.object({ transaction: z.string() }) });

/** Sells one thing for `price` atomic USDC; its fee payer is the sandbox's. */
export async function startStandInSeller(sandbox: SolanaSandbox, price: bigint): Promise<StandInSeller> {
  const feePayer = sandbox.feePayer.publicKey.toBase58();
  let offering: Offering = { versions: [1, 2], extra: {} };
  let paidWith: string[] = [];

  const server = createServer(async (req, res) => {
    try {
      const body = await text(req);
      const header = req.headers["payment-signature"] ?? req.headers["x-payment"];
      if (typeof header === "string") await sell(req, res, header, body);
      else askForPayment(res);
    } catch (error) {
      res.writeHead(500).end(String(error));
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/goods`;

  function askForPayment(res: ServerResponse): void {
    const { versions, extra, list = (only) => [only] } = offering;
    const about = { description: "goods", mimeType: "application/json" };
    const money = { scheme: "exact", asset: sandbox.usdc, payTo: sandbox.seller, maxTimeoutSeconds: 60 };
    const offer = { ...money, extra: { feePayer, ...extra } };
    const v1 = { ...offer, ...about, network: "solana-devnet", maxAmountRequired: String(price), resource: url };
    const v2 = { ...offer, network: sandbox.caip2, amount: String(price) };
    if (versions.includes(2)) {
      const challenge = { x402Version: 2, resource: { url, ...about }, accepts: list(v2, 2) };
      res.setHeader("PAYMENT-REQUIRED", encodeHeader(challenge));
    }
    res.writeHead(402, { "content-type": "application/json" });
    res.end(JSON.stringify(versions.includes(1) ? { x402Version: 1, error: "", accepts: list(v1, 1) } : {}));
  }

  async function sell(req: IncomingMessage, res: ServerResponse, header: string, body: string): Promise<void> {
    const decoded = decodeHeader(header);
    const { transaction } = proofSchema.parse(decoded.ok ? decoded.value : undefined).payload;
    const verdict = await verifyStatic(transaction, termsOf(sandbox, price, offering));
    if (!verdict.ok) {
      res.writeHead(402).end(JSON.stringify(verdict));
      return;
    }
    const { payer } = verdict;
    const receipt = { success: true, transaction: await settle(sandbox, transaction), network: sandbox.caip2, payer };
    paidWith.push(transaction);
    const name = "payment-signature" in req.headers ? "PAYMENT-RESPONSE" : "X-PAYMENT-RESPONSE";
    res.writeHead(200, { "content-type": "application/json", [name]: encodeHeader(receipt) });
    res.end(JSON.stringify({ method: req.method, body: body === "" ? null : JSON.parse(body), payer }));
  }

  return {
    url,
    offer(next) {
      offering = next;
    },
    take() {
      const taken = paidWith;
      paidWith = [];
      return taken;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function termsOf(sandbox: SolanaSandbox, amount: bigint, { extra: { memo } }: Offering): StaticTerms {
  const { caip2: network, usdc: mint, seller: payTo } = sandbox;
  const feePayer = sandbox.feePayer.publicKey.toBase58();
  const terms = { ...DEFAULT_CAPS, network, mint, payTo, amount, feePayer, ourSigners: [feePayer] };
  return memo === undefined ? terms : { ...terms, memo: String(memo) };
}

/** Adds the fee payer's signature, sends, and waits until a block holds it; returns the transaction's id. */
async function settle(sandbox: SolanaSandbox, base64: string): Promise<string> {
  const connection = sandbox.connection();
  const transaction = VersionedTransaction.deserialize(Buffer.from(base64, "base64"));
  transaction.sign([sandbox.feePayer]);
  const until = await connection.getLatestBlockhash();
  const signature = await connection.sendRawTransaction(transaction.serialize());
  const { value } = await connection.confirmTransaction({ signature, ...until });
  if (value.err !== null) throw new Error(`The transaction failed: ${JSON.stringify(value.err)}`);
  return signature;
}
