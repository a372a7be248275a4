// A seller who collects with his own wallets what a real gateway builds, on real chains of both families. Between him and the
// gateway stands one that lies on order, and before each chain a proxy that counts what is sent.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Keypair } from "@solana/web3.js";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { encodeBase58 } from "../../src/chains/solana/base58.js";
import { isAuthorization, isTransaction } from "../../src/identify.js";
import { type BoundProof, bindAuthorization, bindTransaction, decodeProof } from "../../src/proof.js";
import { local } from "../../src/receive/local.js";
import type { LocalGatewayOptions } from "../../src/receive/local-gateway-schema.js";
import type { Receiver } from "../../src/receive/receiver.js";
import type { Requirement } from "../../src/requirement.js";
import {
  createSandbox,
  createSolanaSandbox,
  type Payer,
  type Sandbox,
  type SolanaSandbox,
  signPayment,
} from "../../src/testing/index.js";
import { createGatewayWorld, type GatewayWorld } from "../gateway/world.js";
import type { ScriptedAnswer } from "../support/scripted-facilitator.js";
import { type ScriptedRpc, startScriptedRpc } from "../support/scripted-rpc.js";

export type Family = "evm" | "solana";

export interface Collecting {
  readonly evm: Sandbox;
  readonly solana: SolanaSandbox;
  readonly world: GatewayWorld;
  readonly gateway: ScriptedGateway;
  /** Before each chain of the seller's. */
  readonly nodes: Readonly<Record<Family, ScriptedRpc>>;
  /** The seller: who is paid and signs. */
  readonly payTo: Readonly<Record<Family, string>>;
  readonly secrets: { readonly evm: `0x${string}`; readonly solana: string };
  readonly receiver: Receiver;
  /** What the receiver said in its log: message and facts. */
  readonly alarms: string[];
  open(options?: Partial<LocalGatewayOptions>): Receiver;
  /** A proof that is bound to the requirement as the paywall binds it. */
  prove(requirement: Requirement, payer: Payer, version?: 1 | 2): Promise<BoundProof>;
  /** Settlements that have left for the chain. */
  sent(family: Family): number;
  close(): Promise<void>;
}

const SEND = { evm: "eth_sendRawTransaction", solana: "sendTransaction" } as const;

export async function createCollecting(): Promise<Collecting> {
  const [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
  const world = await createGatewayWorld({ chains: { evm, solana } });
  const gateway = await startScriptedGateway(world.url);
  const nodes = { evm: await startScriptedRpc(evm.rpcUrl), solana: await startScriptedRpc(solana.rpcUrl) };
  const keypair = Keypair.generate();
  const secrets = { evm: generatePrivateKey(), solana: encodeBase58(keypair.secretKey) };
  const payTo = { evm: privateKeyToAccount(secrets.evm).address, solana: keypair.publicKey.toBase58() };
  await evm.native.setBalances([payTo.evm], 10n ** 18n);
  solana.chain.airdrop(payTo.solana, 10n ** 9n);
  await solana.token.mint(payTo.solana, 0n);

  const alarms: string[] = [];
  const note = (message: string, facts: object = {}) => void alarms.push(`${message} ${JSON.stringify(facts)}`);
  const logger = { debug() {}, info() {}, warn: note, error: note };
  const opened: Receiver[] = [];
  const open: Collecting["open"] = (options = {}) => {
    const receiver = local({
      gateway: { baseUrl: gateway.url, apiKey: world.apiKey, timeoutMs: 8_000 },
      wallet: secrets,
      rpcUrl: { "base-sepolia": nodes.evm.url, "solana-devnet": nodes.solana.url },
      logger,
      ...options,
    });
    opened.push(receiver);
    return receiver;
  };
  const receiver = open();
  return {
    ...{ evm, solana, world, gateway, nodes, payTo, secrets, receiver, alarms, open },
    prove: (requirement, payer, version = 2) => prove(receiver, requirement, payer, version),
    sent: (family) => nodes[family].count(SEND[family]),
    async close() {
      for (const one of opened) await one.close();
      await world.close();
      await Promise.all([gateway.close(), nodes.evm.close(), nodes.solana.close(), evm.close(), solana.close()]);
    },
  };
}

async function prove(receiver: Receiver, requirement: Requirement, payer: Payer, version: 1 | 2): Promise<BoundProof> {
  const { value } = await signPayment({ payer, version, offer: { ...requirement, extra: { ...requirement.extra } } });
  const decoded = decodeProof({ v1: undefined, v2: undefined, idempotencyKey: undefined, [`v${version}`]: value });
  if (!decoded.ok) throw new Error(`the proof of the test cannot be read: ${decoded.got}`);
  const { proof } = decoded;
  if (isAuthorization(proof) && requirement.method === "eip3009") return bindAuthorization(proof, requirement);
  if (!isTransaction(proof) || requirement.method === "eip3009") throw new Error("the proof is of another kind");
  const identity = await receiver.identify?.(proof.inner, requirement.network, AbortSignal.timeout(5_000));
  if (!identity?.ok) throw new Error("the proof of the test cannot be identified");
  const validBefore = Math.ceil(Date.now() / 1000) + 900;
  return bindTransaction(proof, requirement, identity, validBefore);
}

/** Passes every request on, but for those that are scripted. */
export interface ScriptedGateway {
  readonly url: string;
  /** Paths that were asked for, in order. */
  readonly asked: string[];
  script(...answers: readonly ScriptedAnswer[]): void;
  close(): Promise<void>;
}

/** The honest answer with some of it replaced. */
export const lie =
  (change: (answer: Record<string, unknown>) => Record<string, unknown>): ScriptedAnswer =>
  async ({ response, act }) => {
    const body = change((await act()) as Record<string, unknown>);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
  };

/** Honest answers, of which the transaction is another one. */
export const withTransaction = (change: (bytes: Uint8Array) => Uint8Array): ScriptedAnswer =>
  lie((answer) => {
    const bytes = change(Buffer.from(String(answer.transaction), "base64"));
    return { ...answer, transaction: Buffer.from(bytes).toString("base64") };
  });

async function startScriptedGateway(target: string): Promise<ScriptedGateway> {
  const asked: string[] = [];
  const queue: ScriptedAnswer[] = [];
  const pass = (response: ServerResponse, answer: Response, body: Buffer) =>
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" }).end(body);
  const server = createServer(async (request, response) => {
    asked.push(request.url ?? "");
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const forward = () =>
      fetch(target + request.url, {
        method: request.method ?? "GET",
        headers: { "content-type": "application/json", authorization: request.headers.authorization ?? "" },
        ...(request.method === "POST" && { body: Buffer.concat(chunks) }),
      });
    const next = queue.shift();
    if (next) {
      await next({ response, socket: request.socket, act: async () => (await (await forward()).json()) as object });
    } else {
      const answer = await forward();
      pass(response, answer, Buffer.from(await answer.arrayBuffer()));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    script: (...answers) => void queue.push(...answers),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
