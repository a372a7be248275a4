// The client flow of local transactions through a real gateway, on both real chains: one call from the order to the confirmed payment,
// whose proof opens a paid route. The gateway sees no key.
import { Keypair } from "@solana/web3.js";
import { getAddress } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type GatewayClient, gatewayClient } from "../../src/client/gateway-client.js";
import type { LocalSigning } from "../../src/client/local-signing.js";
import { type SendOrder, signAndSend } from "../../src/client/sign-and-send.js";
import type { Price } from "../../src/price.js";
import { createSandbox, createSolanaSandbox, type Sandbox, type SolanaSandbox } from "../../src/testing/index.js";
import { type Seller, send, startSeller } from "../e2e/seller.js";
import { outliveFirstSecond } from "../gateway/first-second.js";
import { createGatewayWorld, type GatewayWorld } from "../gateway/world.js";

let evm: Sandbox;
let solana: SolanaSandbox;
let world: GatewayWorld;
let client: GatewayClient;
const sellers = new Map<string, { readonly seller: Seller; readonly payTo: string }>();

interface Flow {
  readonly name: string;
  readonly family: "evm" | "solana";
  readonly native: boolean;
  readonly order: Pick<SendOrder, "amount" | "asset" | "priorityFee">;
  readonly atomic: bigint;
  /** What a seller asks who takes the proof; undefined where none takes one. */
  price(): Price | undefined;
}

const FLOWS: readonly Flow[] = [
  {
    ...{ name: "ETH", family: "evm", native: true, atomic: 2n * 10n ** 15n },
    order: { amount: "0.002", priorityFee: 0.0001 },
    price: () => "0.002 ETH",
  },
  {
    ...{ name: "USDC on EVM", family: "evm", native: false, atomic: 10_000n },
    order: { amount: 0.01, asset: "USDC" },
    price: () => ({
      ...{ asset: evm.token.address, amount: "10000" },
      ...{ transferMethod: "transaction", network: "base-sepolia" },
    }),
  },
  {
    ...{ name: "SOL", family: "solana", native: true, atomic: 2_000_000n },
    order: { amount: 0.002, asset: "SOL" },
    price: () => "0.002 SOL",
  },
  {
    ...{ name: "USDC on Solana", family: "solana", native: false, atomic: 10_000n },
    order: { amount: "0.01", asset: "usdc", priorityFee: "0.00001" },
    price: () => undefined,
  },
];

beforeAll(async () => {
  [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
  world = await createGatewayWorld({ chains: { evm, solana } });
  client = gatewayClient({ baseUrl: world.url, apiKey: await world.newKey({ scopes: ["build"] }) });
  for (const flow of FLOWS) {
    const { network } = flow.family === "evm" ? evm : solana;
    const receive = flow.family === "evm" ? evm.receive() : solana.receive();
    const payTo = await newPayee(flow);
    const seller = await startSeller("Hono", { payTo, network, receive }, flow.price() ?? "$0.01");
    await seller.ready();
    sellers.set(flow.name, { seller, payTo });
  }
  await outliveFirstSecond(solana);
});
afterAll(async () => {
  for (const { seller } of sellers.values()) await seller.close();
  await world?.close();
  await Promise.all([evm?.close(), solana?.close()]);
});

async function newPayee({ family, native }: Pick<Flow, "family" | "native">): Promise<string> {
  if (family === "evm") return privateKeyToAddress(generatePrivateKey());
  const payee = Keypair.generate().publicKey.toBase58();
  if (!native) await solana.token.mint(payee, 0n);
  return payee;
}

async function signingOf({ family }: Pick<Flow, "family">): Promise<LocalSigning> {
  if (family === "solana") return { account: await solana.newBuyer(), rpcUrl: solana.rpcUrl };
  const account = await evm.newBuyer();
  await evm.native.setBalances([account.address], 10n ** 18n);
  return { account, rpcUrl: evm.rpcUrl };
}

async function debits({ family, native }: Pick<Flow, "family" | "native">, to: string): Promise<readonly bigint[]> {
  const transfers =
    family === "evm"
      ? (native ? evm.native : evm.token).transfers({ to: getAddress(to) })
      : (native ? solana.native : solana.token).transfers({ to });
  return (await transfers).map(({ value }) => value);
}

describe("signAndSend", () => {
  it.each(FLOWS)("pays, and gives a proof that buys: $name", async (flow) => {
    const { seller, payTo } = sellers.get(flow.name) ?? { payTo: "" };
    const resource = `${seller?.url}/report`;
    const sent = await signAndSend(client, await signingOf(flow), {
      ...{ ...flow.order, recipientAddress: payTo, resource, metadata: { flow: flow.name } },
    });
    expect(await debits(flow, payTo)).toEqual([flow.atomic]);
    expect(sent.status).toMatch(/^(?:confirmed|finalized)$/);
    expect(sent.record).toMatchObject({ paymentId: sent.paymentId, signature: sent.transaction, resource });
    const status = await client.status(sent.transaction);
    expect(status).toMatchObject({ paymentId: sent.paymentId, amountAtomic: String(flow.atomic) });
    if (sent.proof === undefined) return expect(flow.price()).toBeUndefined();
    const bought = await send(resource, { headers: { "X-PAYMENT": sent.proof } });
    expect([bought?.status, bought?.body]).toEqual([200, "the goods"]);
    expect(await debits(flow, payTo)).toEqual([flow.atomic]);
  });

  it.each(["evm", "solana"] as const)(
    "pays once under one idempotencyKey, however often it is called: %s",
    async (family) => {
      const kind = { family, native: true };
      const recipientAddress = await newPayee(kind);
      const signing = { ...(await signingOf(kind)), idempotencyKey: `order-${family}` };
      const first = await signAndSend(client, signing, { recipientAddress, amount: 0.002 });
      const again = await signAndSend(client, signing, { recipientAddress, amount: 0.002 });
      expect({ ...again, record: undefined, status: "" }).toEqual({ ...first, record: undefined, status: "" });
      expect(await debits(kind, recipientAddress)).toHaveLength(1);
    },
  );

  it("sends ten payments of one account at once, each once", async () => {
    const kind = { family: "evm", native: true } as const;
    const recipientAddress = await newPayee(kind);
    const signing = await signingOf(kind);
    const order = { recipientAddress, amount: 0.002 };
    const sent = await Promise.all(Array.from({ length: 10 }, () => signAndSend(client, signing, order)));
    expect(new Set(sent.map(({ transaction }) => transaction)).size).toBe(10);
    expect(await debits(kind, recipientAddress)).toHaveLength(10);
  });
});
