// What the tests of options share: a configuration that is right, and the parts that wrong ones are made of.
import { decodeAddress, encodeBase58 } from "../../src/chains/solana/base58.js";
import { PaywallConfigError } from "../../src/errors.js";
import { type PriceSource, resolveOptions } from "../../src/options.js";
import { facilitator } from "../../src/receive/facilitator.js";
import { local } from "../../src/receive/local.js";
import type { Receiver } from "../../src/receive/receiver.js";

export const SELLER = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
export const OTHER = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
export const BASE_USDC = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
export const SOLANA = "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin";
export const KEY = `0x${"ac".repeat(32)}` as const;
export const good = { payTo: SELLER, network: "base-sepolia" };
export const receive: Receiver = facilitator({ url: "https://facilitator.example" });

/** The key of 32 times 1, and its address (protocol §4.3). */
export const SOLANA_SEED = "01".repeat(32);
export const FEE_PAYER = "AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9";
export const SOLANA_KEY = encodeBase58(Uint8Array.of(...new Uint8Array(32).fill(1), ...decodeAddress(FEE_PAYER)!));
export const RPC_URL = "http://127.0.0.1:8545";
/** Networks of both families, and a receiver for them. */
export const receiveBoth: Receiver = local({
  networks: {
    "base-sepolia": { rpcUrl: RPC_URL, settler: KEY },
    "solana-devnet": { rpcUrl: RPC_URL, settler: SOLANA_KEY },
  },
});
export const both = {
  payTo: { evm: SELLER, solana: SOLANA },
  networks: ["base-sepolia", "solana-devnet"],
  receive: receiveBoth,
};

export type Env = Record<string, string>;
/** A configuration that is refused with one problem. */
export type WrongRow = [name: string, input: unknown, env: Env, path: string, code: string];

/** The problems of the one error that `run` throws; none where it does not. */
export function problemsOf(run: () => unknown): { path: string; code: string; message: string }[] {
  try {
    run();
  } catch (error) {
    if (error instanceof PaywallConfigError) return [...error.problems];
    throw error;
  }
  return [];
}

export const refused = (input: unknown, env: Env = {}, price?: PriceSource) =>
  problemsOf(() => resolveOptions(input, env, price));

/** `path code` of each problem. */
export const codes = (problems: { path: string; code: string }[]) =>
  problems.map(({ path, code }) => `${path} ${code}`);
