// What POST /payment/send makes of a seller's offer: it pays exactly what the request says, or names the field that disagrees.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Caller } from "../../src/gateway/caller.js";
import { openNetworks } from "../../src/gateway/networks.js";
import { readGatewayOptions } from "../../src/gateway/options.js";
import type { GatewayNetworks } from "../../src/gateway/parts.js";
import { type SendRequest, sendRequest } from "../../src/gateway/schemas/index.js";
import { readWanted } from "../../src/gateway/send/order.js";
import { NETWORKS } from "../../src/networks.js";
import { captureLog } from "./captured-log.js";

const WALLET = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const PAYEE = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
const USDC = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
const ZERO = `0x${"0".repeat(40)}`;
const SOL_WALLET = "AKnL4NNf3DGWZJS6cPknBuEGnVsV4A4m5tgebLHaRSZ9";
const SOL_PAYEE = "GyGKxMyg1p9SsHfm15MkNUu1u9TN2JtTspcdmrtGUdse";
const SOL_USDC = "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU";
const DEVNET = NETWORKS.find(({ name }) => name === "solana-devnet")?.id ?? "";

let networks: GatewayNetworks;
beforeAll(async () => {
  const rpcUrl = "http://127.0.0.1:9";
  const named = { "base-sepolia": { rpcUrl }, sepolia: { rpcUrl }, "solana-devnet": { rpcUrl } };
  const nonces = { take: refuse, giveBack: refuse, done: refuse, gaps: refuse };
  networks = await openNetworks(readGatewayOptions({ networks: named }, {}), {
    database: { nonces },
    logger: captureLog().logger,
  });
});
afterAll(() => networks.close());

const refuse = () => Promise.reject(new Error("an offer is read without a database"));

const v2 = {
  ...{ scheme: "exact", network: "eip155:84532", asset: USDC, payTo: PAYEE, amount: "10000", maxTimeoutSeconds: 60 },
  extra: { name: "USDC", version: "2" },
};
const { amount: _, ...rest } = v2;
const v1 = { ...rest, network: "base-sepolia", maxAmountRequired: "10000" };
const eth = {
  ...{ ...v2, asset: ZERO, amount: "10000000000000000" },
  extra: { assetTransferMethod: "transaction", paymentFlow: "upfront" },
};
const spl = {
  ...{ ...v2, network: DEVNET, asset: SOL_USDC, payTo: SOL_PAYEE },
  extra: { feePayer: "9hSR6S7WPtxmTojgo6GG3k4yDPecgJY292j7xrsUGWBu", decimals: 6 },
};

const REQUEST = { walletAddress: WALLET, recipientAddress: PAYEE, amount: 0.01 };
const ON_SOLANA = { walletAddress: SOL_WALLET, recipientAddress: SOL_PAYEE };

/** The offer as it was read, or `CODE field: message`. */
function read(requirements: object, more: Partial<SendRequest> = {}) {
  const request = sendRequest.parse({ ...REQUEST, ...more, requirements });
  const outcome = readWanted(networks, { key: { mode: "test" } } as Caller, request);
  if (!outcome.ok) return `${outcome.code} ${outcome.message}`;
  const { offer, asset, amount } = outcome.value;
  return { version: offer?.version, method: offer?.method, asset: asset.symbol, amount };
}

describe("an offer", () => {
  it.each([
    ["of v2 in USDC", v2, {}, { version: 2, method: "eip3009", asset: "USDC", amount: 10_000n }],
    ["of v1 in USDC", v1, {}, { version: 1, method: "eip3009", asset: "USDC", amount: 10_000n }],
    [
      "of v1 with the CAIP-2 id of its network",
      { ...v1, network: "eip155:84532" },
      {},
      { version: 1, method: "eip3009" },
    ],
    [
      "whose addresses are in lower case",
      { ...v2, asset: USDC.toLowerCase(), payTo: PAYEE.toLowerCase() },
      {},
      { version: 2 },
    ],
    ["without extra", { ...v1, extra: null }, {}, { version: 1, method: "eip3009" }],
    [
      "that names its method",
      { ...v2, extra: { ...v2.extra, assetTransferMethod: "eip3009" } },
      {},
      { method: "eip3009" },
    ],
    ["in ETH", eth, {}, { version: 2, method: "transaction", asset: "ETH", amount: 10n ** 16n }],
    [
      "in a token by the buyer's own transaction",
      { ...v2, extra: eth.extra },
      {},
      { method: "transaction", asset: "USDC" },
    ],
    ["in USDC on Solana", spl, ON_SOLANA, { version: 2, method: "spl", asset: "USDC", amount: 10_000n }],
    [
      "in SOL",
      { ...eth, network: DEVNET, asset: "1".repeat(32), payTo: SOL_PAYEE, amount: "10000000" },
      ON_SOLANA,
      { asset: "SOL" },
    ],
    ["in the asset that the request names", v2, { asset: "USDC" }, { asset: "USDC" }],
    ["whose time is long", { ...v2, maxTimeoutSeconds: 86_400 }, {}, { version: 2 }],
  ] as const)("%s is taken", (_name, requirements, more, expected) => {
    expect(read(requirements, more)).toMatchObject(expected);
  });

  it.each([
    ["of another scheme", { ...v2, scheme: "upto" }, {}, 'requirements.scheme: expected exact, got "upto"'],
    ["on another network", { ...v2, network: "eip155:11155111" }, {}, "requirements.network: expected eip155:84532"],
    ["of v2 under a v1 name", { ...v2, network: "base-sepolia" }, {}, "requirements.network: expected eip155:84532"],
    [
      "of another payee",
      { ...v2, payTo: WALLET },
      {},
      `requirements.payTo: expected ${PAYEE}, the recipientAddress, got ${WALLET}`,
    ],
    [
      "of more",
      { ...v2, amount: "10001" },
      {},
      "requirements.amount: expected 10000 (0.01 USDC), the amount of the request, got 10001 (0.010001 USDC)",
    ],
    ["of less", { ...v2, amount: "9999" }, {}, "requirements.amount: expected 10000"],
    ["of more, in v1", { ...v1, maxAmountRequired: "10001" }, {}, "requirements.maxAmountRequired: expected 10000"],
    ["of an amount that is no number", { ...v2, amount: "0x2710" }, {}, 'got "0x2710"'],
    ["of an amount in another spelling", { ...v2, amount: "010000" }, {}, 'got "010000"'],
    ["of both versions", { ...v2, maxAmountRequired: "10000" }, {}, "requirements: expected either amount"],
    ["without an amount", rest, {}, "requirements: expected either amount"],
    [
      "in a token that is not served",
      { ...v2, asset: WALLET },
      {},
      "requirements.asset: expected one of ETH, USDC on base-sepolia",
    ],
    ["in an asset by its symbol", { ...v2, asset: "USDC" }, {}, "requirements.asset: expected one of ETH, USDC"],
    [
      "in another asset than the request's",
      v2,
      { asset: "ETH" },
      "requirements.asset: expected ETH, the asset of the request; got USDC",
    ],
    [
      "under another token's domain",
      { ...v2, extra: { name: "USD Coin", version: "2" } },
      {},
      'requirements.extra.name: expected "USDC", the token\'s own; got "USD Coin"',
    ],
    [
      "under another version of the domain",
      { ...v2, extra: { name: "USDC", version: "1" } },
      {},
      "requirements.extra.version",
    ],
    [
      "that wants a permit",
      { ...v2, extra: { ...v2.extra, assetTransferMethod: "permit2" } },
      {},
      'requirements.extra.assetTransferMethod: expected eip3009 or transaction, got "permit2"',
    ],
    [
      "in ETH by an authorization",
      { ...eth, extra: v2.extra },
      {},
      "requirements.extra.assetTransferMethod: expected transaction",
    ],
    [
      "in a token on Solana by a transaction of one's own",
      { ...spl, extra: eth.extra },
      ON_SOLANA,
      "requirements.extra.assetTransferMethod: expected none",
    ],
    ["without any time", { ...v2, maxTimeoutSeconds: 0.5 }, {}, "requirements.maxTimeoutSeconds: expected at least 1"],
    ["that the seller settles, with a fee", v2, { priorityFee: 0.001 }, "priorityFee: expected none"],
    [
      "that is too large to be repeated",
      { ...v2, padding: "x".repeat(7_000) },
      {},
      "requirements: expected at most 6144 bytes",
    ],
  ] as const)("%s is refused by its field", (_name, requirements, more, expected) => {
    const outcome = read(requirements, more);
    expect(outcome).toContain("INVALID_REQUEST");
    expect(outcome).toContain(expected);
  });

  it("cannot make a test key pay on a main network, nor name the network for the request", () => {
    expect(read({ ...v2, network: "eip155:8453" })).toContain("INVALID_REQUEST requirements.network");
    expect(read({ ...v2, network: "eip155:11155111" }, { network: "sepolia", asset: "ETH" })).toContain(
      "INVALID_REQUEST",
    );
  });
});
