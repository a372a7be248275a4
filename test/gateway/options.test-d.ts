// What does not compile in the options of a gateway; the same schema refuses it at run time (options.test.ts).
import type { GatewayOptions } from "../../src/gateway/options.js";

const rpcUrl = "https://rpc.example";

export const right: readonly GatewayOptions[] = [
  {},
  { database: { file: "a.db" }, networks: { "base-sepolia": { settler: "0x12", confirmations: 2 } } },
  { database: { url: "postgres://h/d" }, redisUrl: "redis://h", networks: { solana: { rpcUrl, maxUnitPrice: 1n } } },
  { networks: { base: { rpcUrl: [rpcUrl], assets: ["USDC", { address: "0x", symbol: "X", decimals: 2 }] } } },
  { plans: { gold: { perMinute: 5, endpoints: ["POST /payment/send"] }, custom: { perMinute: "key" } } },
];

export const wrong: readonly GatewayOptions[] = [
  // @ts-expect-error two databases
  { database: { file: "a.db", url: "postgres://h/d" } },
  // @ts-expect-error no database at all
  { database: {} },
  // @ts-expect-error a limit of EVM beside one of Solana
  { networks: { x: { rpcUrl, maxFeePerGas: 1n, maxUnitPrice: 1n } } },
  // @ts-expect-error confirmations are counted on EVM only
  { networks: { solana: { rpcUrl, maxComputeUnits: 1, confirmations: 2 } } },
  // @ts-expect-error an endpoint that does not exist
  { plans: { gold: { perMinute: 5, endpoints: ["POST /everything"] } } },
  // @ts-expect-error a minimum that is a float
  { networks: { base: { rpcUrl, minimums: { USDC: 0.001 } } } },
  // @ts-expect-error trust is counted
  { trustProxy: true },
  // @ts-expect-error a slip
  { prot: 1 },
];
