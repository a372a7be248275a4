// A hosted wallet buys from real sellers through a real gateway, on both chains: goods once, one debit, by one call of the buyer.
import { Keypair } from "@solana/web3.js";
import { getAddress } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gatewayClient } from "../../src/client/gateway-client.js";
import { hostedWallet } from "../../src/client/hosted-wallet.js";
import { payingFetch } from "../../src/client/paying-fetch.js";
import type { Price } from "../../src/price.js";
import { createSandbox, createSolanaSandbox, type Sandbox, type SolanaSandbox } from "../../src/testing/index.js";
import { type Seller, startSeller } from "../e2e/seller.js";
import { outliveFirstSecond } from "../gateway/first-second.js";
import { createGatewayWorld, type GatewayWorld } from "../gateway/world.js";

let evm: Sandbox;
let solana: SolanaSandbox;
let world: GatewayWorld;
/** By the name of the case. All of them are opened first: a seller knows nothing of what was mined before him. */
const sellers = new Map<string, { readonly seller: Seller; readonly payTo: string }>();
beforeAll(async () => {
  [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
  world = await createGatewayWorld({ chains: { evm, solana } });
  for (const one of CASES) sellers.set(one.name, await open(one));
  await outliveFirstSecond(solana);
});
afterAll(async () => {
  for (const { seller } of sellers.values()) await seller.close();
  await world?.close();
  await Promise.all([evm?.close(), solana?.close()]);
});

interface Case {
  readonly name: string;
  readonly family: "evm" | "solana";
  readonly version: 1 | 2;
  readonly native: boolean;
  price(): Price;
  readonly atomic: bigint;
}

const usdc = { native: false, price: () => "$0.01", atomic: 10_000n } as const;
const CASES: readonly Case[] = [
  { name: "USDC on Base, v1", family: "evm", version: 1, ...usdc },
  { name: "USDC on Base, v2", family: "evm", version: 2, ...usdc },
  { name: "USDC on Solana, v1", family: "solana", version: 1, ...usdc },
  { name: "USDC on Solana, v2", family: "solana", version: 2, ...usdc },
  { name: "ETH, v1", family: "evm", version: 1, native: true, price: () => "0.002 ETH", atomic: 2n * 10n ** 15n },
  { name: "ETH, v2", family: "evm", version: 2, native: true, price: () => "0.002 ETH", atomic: 2n * 10n ** 15n },
  { name: "SOL, v1", family: "solana", version: 1, native: true, price: () => "0.002 SOL", atomic: 2_000_000n },
  { name: "SOL, v2", family: "solana", version: 2, native: true, price: () => "0.002 SOL", atomic: 2_000_000n },
  {
    ...{ name: "USDC on Base as a transaction", family: "evm", version: 2, native: false, atomic: 10_000n },
    price: () => ({
      ...{ asset: evm.token.address, amount: "10000" },
      ...{ transferMethod: "transaction", network: "base-sepolia" },
    }),
  },
];

async function newPayee({ family, native }: Case): Promise<string> {
  if (family === "evm") return privateKeyToAddress(generatePrivateKey());
  const payee = Keypair.generate().publicKey.toBase58();
  if (!native) await solana.token.mint(payee, 0n);
  return payee;
}

async function debits({ family, native }: Case, to: string): Promise<readonly bigint[]> {
  const transfers =
    family === "evm"
      ? (native ? evm.native : evm.token).transfers({ to: getAddress(to) })
      : (native ? solana.native : solana.token).transfers({ to });
  return (await transfers).map(({ value }) => value);
}

/** As a seller of x402 v1 alone answers. */
const inV1: typeof fetch = async (...asked) => {
  const response = await fetch(...asked);
  if (response.status !== 402) return response;
  const headers = new Headers(response.headers);
  headers.delete("payment-required");
  return new Response(response.body, { status: 402, headers });
};

async function open(one: Case): Promise<{ readonly seller: Seller; readonly payTo: string }> {
  const sandbox = one.family === "evm" ? evm : solana;
  const payTo = await newPayee(one);
  const receive = sandbox.receive();
  const seller = await startSeller("Hono", { payTo, network: sandbox.network, receive }, one.price());
  await seller.ready();
  return { seller, payTo };
}

describe("a hosted wallet", () => {
  it.each(CASES)("buys once, for one debit: $name", async (one) => {
    const { seller, payTo } = sellers.get(one.name) ?? (await open(one));
    const { address, apiKey } = await world.newWallet({ family: one.family });
    const client = gatewayClient({ baseUrl: world.url, apiKey });
    const pay = payingFetch({
      wallets: [hostedWallet(client, address)],
      budget: {
        perRequest: ["$0.10", "0.01 ETH", "0.01 SOL"],
        perDay: ["$5", "0.1 ETH", "0.1 SOL"],
      },
      ...(one.version === 1 && { fetch: inV1 }),
    });
    const response = await pay(`${seller.url}/report`);
    expect([response.status, await response.text()]).toEqual([200, "the goods"]);
    expect(seller.runs).toHaveLength(1);
    await expect.poll(() => debits(one, payTo), { timeout: 20_000 }).toEqual([one.atomic]);
    const [purchase] = await pay.receipts();
    expect(purchase).toMatchObject({ status: "settled", amount: one.atomic, payer: address, served: true });
    // The gateway tells of it as well, under the seller's resource.
    const { payments } = await gatewayClient({ baseUrl: world.url, apiKey: world.apiKey }).history(address);
    expect(payments.map(({ resource, amountAtomic }) => [resource, amountAtomic])).toEqual([
      [`${seller.url}/report`, String(one.atomic)],
    ]);
  });
});
