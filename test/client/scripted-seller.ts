// A seller on a real socket that answers as a test says, and remembers every byte that it got.
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterEach } from "vitest";
import { encodeHeader } from "../../src/wire/header.js";
import { challengeV2, evm, type Json } from "./challenges.js";

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The payment header that came, of either version. */
  readonly proof: string | undefined;
  /** When it came, counted over all sellers of the process. */
  readonly order: number;
}

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}
/** `drop`: the connection ends without an answer. `hang`: no answer ever comes. */
export type Answer = Reply | "drop" | "hang";
export type Script = (request: SeenRequest, count: number) => Answer | Promise<Answer>;

export interface ScriptedSeller {
  readonly url: string;
  readonly origin: string;
  readonly host: string;
  readonly requests: readonly SeenRequest[];
  /** Those that carried a proof. */
  readonly paid: readonly SeenRequest[];
  /** What it does from now on. */
  script: Script;
  /** Resolves when so many requests have come. */
  got(count: number): Promise<void>;
  close(): Promise<void>;
}

let order = 0;

/** @param script gets the request and how many came before it */
export async function openSeller(script: Script = sells(), hostname = "127.0.0.1"): Promise<ScriptedSeller> {
  const requests: SeenRequest[] = [];
  let waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const server = createServer(async (req, res) => {
    const body = await buffer(req).catch(() => Buffer.alloc(0));
    const { method = "", url: path = "", headers } = req;
    const proof = headers["payment-signature"] ?? headers["x-payment"];
    order += 1;
    const seen = { method, path, headers, body, proof: typeof proof === "string" ? proof : undefined, order };
    requests.push(seen);
    for (const { count, resolve } of waiting) if (requests.length >= count) resolve();
    waiting = waiting.filter(({ count }) => requests.length < count);
    const answer = await seller.script(seen, requests.length - 1);
    if (answer === "hang") return;
    if (answer === "drop") return void req.socket.destroy();
    res.writeHead(answer.status, answer.headers).end(answer.body ?? "");
  });
  server.listen(0, hostname);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const origin = `http://${hostname}:${port}`;
  const seller: ScriptedSeller = {
    url: `${origin}/report`,
    origin,
    host: `${hostname}:${port}`,
    requests,
    get paid() {
      return requests.filter(({ proof }) => proof !== undefined);
    },
    script,
    got: (count) =>
      new Promise((resolve) => {
        if (requests.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return seller;
}

/** Opens sellers and closes all of them after each test. */
export function useSellers(): typeof openSeller {
  const open: ScriptedSeller[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((one) => one.close()));
  });
  return async (...given) => {
    const opened = await openSeller(...given);
    open.push(opened);
    return opened;
  };
}

/** A 402 with these offers, of version 2. */
export const asks = (accepts: readonly Json[] = [evm()], parts: Json = {}): Reply => ({
  status: 402,
  headers: { "PAYMENT-REQUIRED": encodeHeader(challengeV2(accepts, parts)) },
  body: "{}",
});

/** The receipt header of a payment that was taken, or was not. */
export const receipt = (success = true, parts: Json = {}): Readonly<Record<string, string>> => ({
  "PAYMENT-RESPONSE": encodeHeader({
    success,
    transaction: success ? "0xabc" : "",
    network: "eip155:84532",
    ...parts,
  }),
});

export const goods = (body: string | Buffer = "the goods"): Reply => ({ status: 200, headers: receipt(), body });

/** Asks for money, and gives this to whoever pays; one answer for each paid try, the last one again and again. */
export function sells(...answers: readonly Answer[]): Script {
  const given = answers.length > 0 ? answers : [goods()];
  let tries = 0;
  return ({ proof }) => {
    if (proof === undefined) return asks();
    const answer = given[Math.min(tries, given.length - 1)]!;
    tries += 1;
    return answer;
  };
}
