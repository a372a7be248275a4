// The published third-party x402 packages of test/interop, each run in a process of its own.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Running, runNode, startNode } from "./process.js";

const at = (path: string) => fileURLToPath(new URL(`../interop/${path}`, import.meta.url));

/** The buyers, by the file that drives each. */
export const BUYERS = ["x402-fetch", "x402-axios", "x402-v2-fetch", "x402-v2-axios", "faremeter"] as const;
export type Buyer = (typeof BUYERS)[number];

interface Errand {
  readonly url: string;
  readonly method: "GET" | "POST";
  /** Sent as JSON. */
  readonly body?: unknown;
}

export interface Order extends Errand {
  readonly privateKey: `0x${string}`;
}

export interface SolanaOrder extends Errand {
  /** 64 bytes, as in a key file. */
  readonly secretKey: readonly number[];
  /** The buyer's own node. */
  readonly rpcUrl?: string;
}

export interface Bought {
  readonly status: number;
  readonly body: string;
  /** The settle response of either protocol version, decoded. */
  readonly receipt?: {
    readonly success: boolean;
    readonly transaction: string;
    readonly network: string;
    readonly payer?: string;
  };
}

/**
 * Why the published packages cannot be used, or undefined. In CI an absence is a failure, so there it is never a reason
 * to skip.
 */
export function reasonToSkip(): string | undefined {
  if (existsSync(at("node_modules")) || process.env.CI) return undefined;
  return "the published buyers are not installed: npm ci --prefix test/interop";
}

/** Lets one buyer place orders, one after the other or all at once. */
export const buyWith = (buyer: Buyer, orders: readonly Order[], pace: Pace = "in-turn"): Promise<Bought[]> =>
  runBuyer(buyer, orders, pace);

/** The same, paying on Solana. */
export const buyOnSolanaWith = (
  buyer: Buyer,
  orders: readonly SolanaOrder[],
  pace: Pace = "in-turn",
): Promise<Bought[]> => runBuyer(`solana/${buyer}`, orders, pace);

type Pace = "in-turn" | "at-once";

const runBuyer = async (buyer: string, orders: readonly Errand[], pace: Pace) =>
  (await runScript([at("buyers/run.mjs"), buyer, pace], orders)) as Bought[];

/** What the script prints; throws all that it said where it fails. */
async function runScript([script, ...args]: readonly [string, ...string[]], input: unknown): Promise<unknown> {
  const run = await runNode([script, ...args], {}, JSON.stringify(input));
  if (run.code !== 0) throw new Error(`${[script, ...args].join(" ")} ended with ${run.code}:\n${run.stderr}`);
  return JSON.parse(run.stdout);
}

/** Lets a client of @solana/kit send one memo, wait for it over the WebSocket, and send it again. */
export const confirmWithKit = async (rpcUrl: string, wsUrl: string, secretKey: Uint8Array) =>
  (await runScript([at("kit-confirm.mjs"), rpcUrl, wsUrl], [...secretKey])) as {
    readonly signature: string;
    readonly status: string;
    readonly refusedAgain: unknown;
  };

/** Starts the published facilitator; its `firstLine` is its URL. */
export function startPublishedFacilitator(rpcUrl: string, settlerKey: `0x${string}`): Promise<Running> {
  return startNode([at("facilitator.mjs"), rpcUrl], { SETTLER_KEY: settlerKey });
}

/** The same on Solana; the key as in a key file. */
export function startPublishedSolanaFacilitator(rpcUrl: string, feePayerKey: Uint8Array): Promise<Running> {
  return startNode([at("solana-facilitator.mjs"), rpcUrl], { FEE_PAYER_KEY: JSON.stringify([...feePayerKey]) });
}

/** The servers, by the file that starts each. */
const SERVER_FILES = {
  "x402-express": "x402-express",
  "x402-hono": "x402-hono",
  "@x402/express": "x402-v2-express",
  "@x402/hono": "x402-v2-hono",
  "@faremeter/middleware": "faremeter",
  mppx: "mppx",
} as const;
export type Server = keyof typeof SERVER_FILES;

/** Two of them, and the buyers that understand them: version 1 and version 2 of the protocol. */
export const SERVERS = [
  ["x402-express", ["x402-fetch", "x402-axios"]],
  ["@x402/express", ["x402-v2-fetch", "x402-v2-axios", "faremeter"]],
] as const satisfies readonly (readonly [Server, readonly Buyer[]])[];

export interface ServerTerms {
  readonly facilitatorUrl: string;
  /** Its bearer. */
  readonly apiKey: string;
  /** The payees on Base Sepolia and on Solana's devnet. */
  readonly evm: string;
  readonly solana: string;
}

/** Starts a published server; its `firstLine` is its URL, and it sells for $0.01 at `/evm` and at `/solana`. */
export function startPublishedServer(server: Server, { apiKey, ...terms }: ServerTerms): Promise<Running> {
  return startNode([at("sellers/run.mjs"), SERVER_FILES[server], JSON.stringify(terms)], { API_KEY: apiKey });
}
