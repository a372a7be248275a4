// The published third-party x402 packages of test/interop, each run in a process of its own.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Running, runNode, startNode } from "./process.js";

const at = (path: string) => fileURLToPath(new URL(`../interop/${path}`, import.meta.url));

/** The buyers, by the file that drives each. */
export const BUYERS = ["x402-fetch", "x402-axios", "x402-v2-fetch", "x402-v2-axios", "faremeter"] as const;
export type Buyer = (typeof BUYERS)[number];

export interface Order {
  readonly url: string;
  readonly method: "GET" | "POST";
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly privateKey: `0x${string}`;
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

/** Lets one buyer place orders, one after the other. */
export async function buyWith(buyer: Buyer, orders: readonly Order[]): Promise<Bought[]> {
  const run = await runNode([at("buyers/run.mjs"), buyer], {}, JSON.stringify(orders));
  if (run.code !== 0) throw new Error(`${buyer} ended with ${run.code}:\n${run.stderr}`);
  return JSON.parse(run.stdout) as Bought[];
}

/** Starts the published facilitator; its `firstLine` is its URL. */
export function startPublishedFacilitator(rpcUrl: string, settlerKey: `0x${string}`): Promise<Running> {
  return startNode([at("facilitator.mjs"), rpcUrl], { SETTLER_KEY: settlerKey });
}
