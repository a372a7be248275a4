// A shop on real chains for the tests of `tollgate pay`, a line to it that can break, and buyers with keys in their environment.
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { Keypair } from "@solana/web3.js";
import { getAddress, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { createPaywall, type PaidMessage } from "../../adapters/node.js";
import { encodeBase58 } from "../../src/chains/solana/base58.js";
import { silentLogger } from "../../src/logger.js";
import type { RouteOptions } from "../../src/options.js";
import { memoryStore } from "../../src/store/memory.js";
import { createSandbox, createSolanaSandbox, type Sandbox, type SolanaSandbox } from "../../src/testing/index.js";
import { ownFolder, type Ran, type RunOptions, run } from "./cli.js";

/** Bytes that are no text: each of the 256, shuffled over a megabyte. */
export const BINARY = Buffer.from(Array.from({ length: 1_048_576 }, (_, at) => (at * 167 + (at >> 8)) & 255));

export interface Shop {
  readonly origin: string;
  /** Requests that a handler has answered, in order. */
  readonly runs: readonly {
    readonly path: string;
    readonly body: string;
    readonly headers: IncomingMessage["headers"];
  }[];
  /** Atomic units of each debit. */
  debits(asset?: "USDC" | "ETH" | "SOL" | "USDC on Solana"): Promise<readonly bigint[]>;
  close(): Promise<void>;
}

export interface Town {
  readonly evm: Sandbox;
  readonly sol: SolanaSandbox;
  openShop(description?: string): Promise<Shop>;
  /** An environment with a wallet that holds money, and a folder of its own. */
  newBuyer(family?: "evm" | "sol"): Promise<Buyer>;
  close(): Promise<void>;
}

export interface Buyer {
  readonly env: Record<string, string>;
  readonly key: string;
  /** Where it remembers. */
  readonly folder: string;
  /** Runs `tollgate pay` in this process. */
  pay(argv: readonly string[], options?: RunOptions): Promise<Ran>;
}

export async function openTown(): Promise<Town> {
  const [evm, sol] = await Promise.all([createSandbox(), createSolanaSandbox()]);
  return {
    evm,
    sol,
    openShop: (description = "A report") => openShop(evm, sol, description),
    newBuyer: (family = "evm") => newBuyer(evm, sol, family),
    close: async () => void (await Promise.all([evm.close(), sol.close()])),
  };
}

async function newBuyer(evm: Sandbox, sol: SolanaSandbox, family: "evm" | "sol"): Promise<Buyer> {
  const { folder } = ownFolder();
  const key = family === "evm" ? await fundEvm(evm) : encodeBase58((await sol.newBuyer()).secretKey);
  const env = {
    TOLLGATE_WALLET_KEY: key,
    TOLLGATE_RPC_URL_BASE_SEPOLIA: evm.rpcUrl,
    TOLLGATE_RPC_URL_SOLANA_DEVNET: sol.rpcUrl,
    XDG_STATE_HOME: folder,
  };
  const pay: Buyer["pay"] = (argv, { env: more, ...options } = {}) =>
    run(["pay", ...argv], { ...options, env: { ...env, ...more } });
  return { env, key, folder: join(folder, "tollgate"), pay };
}

async function fundEvm(evm: Sandbox): Promise<Hex> {
  const key = generatePrivateKey();
  const address = privateKeyToAddress(key);
  await evm.token.setBalances([address], 1_000_000_000n);
  await evm.chain.rpc("anvil_setBalance", [address, `0x${(10n ** 18n).toString(16)}`]);
  return key;
}

async function openShop(evm: Sandbox, sol: SolanaSandbox, description: string): Promise<Shop> {
  const payTo = getAddress(`0x${randomBytes(20).toString("hex")}`);
  const payee = Keypair.generate().publicKey.toBase58();
  await sol.token.mint(payee, 0n);
  const common = { store: memoryStore(), logger: silentLogger, description } as const;
  const onEvm = createPaywall({ ...common, payTo, network: "base-sepolia", receive: evm.receive() });
  const onSol = createPaywall({ ...common, payTo: payee, network: "solana-devnet", receive: sol.receive() });
  const runs: { path: string; body: string; headers: IncomingMessage["headers"] }[] = [];
  const sell = (answer: (body: string, response: ServerResponse, request: PaidMessage) => void) => {
    return async (request: PaidMessage, response: ServerResponse) => {
      const body = (await buffer(request)).toString();
      runs.push({ path: request.url ?? "", body, headers: request.headers });
      answer(body, response, request);
    };
  };
  const text = sell((body, response) => {
    response.setHeader("Content-Type", "text/plain").end(`the goods${body && ` for ${body}`}\n`);
  });
  const cheap = onEvm("$0.01");
  const upfront: RouteOptions = { flow: "upfront" };
  const listeners: Record<string, (request: IncomingMessage, response: ServerResponse) => unknown> = {
    "/report": cheap(text),
    "/json": cheap(
      sell((_body, response) => response.setHeader("Content-Type", "application/json").end('{"goods":[1,2]}')),
    ),
    "/binary": cheap(sell((_body, response) => response.setHeader("Content-Type", "application/zip").end(BINARY))),
    "/evil": cheap(
      sell((_body, response) => response.setHeader("Content-Type", "text/plain").end("a\u001b[2Jb\u0007c\u202ed")),
    ),
    "/fails": cheap(sell((_body, response) => response.writeHead(500).end("broken"))),
    "/charged": onEvm("$0.01", upfront)(sell((_body, response) => response.writeHead(503).end("broken"))),
    "/dear": onEvm("$1")(text),
    "/ether": onEvm("0.001 ETH")(text),
    "/solana": onSol("$0.01")(text),
    "/sol": onSol("0.002 SOL")(text),
    "/free": text,
    "/missing": (_request, response) => response.writeHead(404).end("no such page"),
  };
  const server = createServer((request, response) => {
    const listener = listeners[new URL(request.url ?? "", "http://shop").pathname];
    if (listener) listener(request, response);
    else response.writeHead(404).end();
  });
  server.listen(0, "127.0.0.1");
  await Promise.all([once(server, "listening"), onEvm.ready(), onSol.ready()]);
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    runs,
    async debits(asset = "USDC") {
      const onSolana = asset === "SOL" ? sol.native : sol.token;
      const transfers =
        asset.includes("SOL") || asset.includes("Solana")
          ? onSolana.transfers({ to: payee })
          : (asset === "ETH" ? evm.native : evm.token).transfers({ to: payTo });
      return (await transfers).map(({ value }) => value);
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await Promise.all([onEvm.close(), onSol.close()]);
    },
  };
}

export interface Line {
  readonly origin: string;
  /** What becomes of the next paid requests and their answers (`dead`: the shop never sees it); nothing of those after them. */
  paid: ("lose" | "dead" | "cut" | "hang")[];
  /** Takes the v2 challenge out of each 402. */
  v1: boolean;
  /** Resolves when a paid request hangs. */
  readonly hanging: Promise<void>;
  close(): void;
}

/** A line between buyer and shop. What it does to an answer it does after the shop has given it whole. */
export async function openLine(shop: Pick<Shop, "origin">): Promise<Line> {
  let hang = () => {};
  const hanging = new Promise<void>((resolve) => {
    hang = resolve;
  });
  const server = createServer(async (asked, response) => {
    const body = await buffer(asked);
    const { host, ...headers } = asked.headers;
    const isPaid = "payment-signature" in headers || "x-payment" in headers;
    const fate = isPaid ? line.paid.shift() : undefined;
    if (fate === "dead") return void asked.socket.destroy();
    const onward = request(`${shop.origin}${asked.url}`, {
      method: asked.method ?? "GET",
      headers: { ...headers, host: new URL(shop.origin).host },
    });
    onward.end(body);
    const [answer] = (await once(onward, "response")) as [IncomingMessage];
    const whole = await buffer(answer);
    const { "payment-required": challenge, ...rest } = answer.headers;
    if (fate === "lose") return void asked.socket.destroy();
    if (fate === "hang") return hang();
    response.writeHead(answer.statusCode ?? 500, line.v1 ? rest : answer.headers);
    if (fate !== "cut") return void response.end(whole);
    response.write(whole.subarray(0, whole.length >> 1), () => asked.socket.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const line: Line = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    paid: [],
    v1: false,
    hanging,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return line;
}
