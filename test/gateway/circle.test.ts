// The full circle: a buyer lets the gateway pay, shows the seller what it was given, and the seller lets the gateway check it.
// Goods once, money moved once, and both histories tell it.

import { Keypair } from "@solana/web3.js";
import { getAddress } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hosted } from "../../src/receive/hosted.js";
import { type Offer, readChallenge } from "../../src/testing/index.js";
import { FRAMEWORKS, type Seller, send, startSeller } from "../e2e/seller.js";
import { outliveFirstSecond } from "./first-second.js";
import { type BothWorld, createBothWorld } from "./world.js";

let world: BothWorld;
let sellerKey: string;
let readKey: string;

beforeAll(async () => {
  world = await createBothWorld();
  const account = await world.newAccount("seller");
  // All that a seller needs.
  sellerKey = await world.newKey({ account, scopes: ["receive"] });
  readKey = await world.newKey({ account, scopes: ["read"] });
  await outliveFirstSecond(world.solana);
});
afterAll(() => world?.close());

interface Circle {
  readonly name: string;
  readonly family: "evm" | "solana";
  readonly price: string;
  /** Whole units, as a buyer asks for them. */
  readonly amount: number;
  readonly atomic: bigint;
  /** Is the seller's offer given to the gateway? */
  readonly offered: boolean;
  readonly version: 1 | 2;
}

const common = { offered: false, version: 1 } as const;
const usdc = { price: "$0.01", amount: 0.01, atomic: 10_000n, offered: true } as const;
const CIRCLES: readonly Circle[] = [
  { name: "ETH", family: "evm", price: "0.002 ETH", amount: 0.002, atomic: 2n * 10n ** 15n, ...common },
  { name: "SOL", family: "solana", price: "0.002 SOL", amount: 0.002, atomic: 2_000_000n, ...common },
  { name: "USDC on Base, v1", family: "evm", ...usdc, version: 1 },
  { name: "USDC on Base, v2", family: "evm", ...usdc, version: 2 },
  { name: "USDC on Solana, v1", family: "solana", ...usdc, version: 1 },
  { name: "USDC on Solana, v2", family: "solana", ...usdc, version: 2 },
];

const networkOf = ({ family }: Circle) => (family === "evm" ? world.evm.network : world.solana.network);

async function newPayee({ family, offered }: Circle): Promise<string> {
  if (family === "evm") return privateKeyToAddress(generatePrivateKey());
  const payee = Keypair.generate().publicKey.toBase58();
  if (offered) await world.solana.token.mint(payee, 0n);
  return payee;
}

/** Atomic units of each debit that went to the payee. */
async function debits({ family, offered }: Circle, to: string): Promise<readonly bigint[]> {
  const transfers =
    family === "evm"
      ? await (offered
          ? world.evm.token.transfers({ to: getAddress(to) })
          : world.evm.native.transfers({ to: getAddress(to) }))
      : await (offered ? world.solana.token.transfers({ to }) : world.solana.native.transfers({ to }));
  return transfers.map(({ value }) => value);
}

/** The offer of the seller's 402 that the gateway is to pay, as it stands there. */
async function offerOf(url: string, version: 1 | 2): Promise<Offer> {
  const [offer] = (await readChallenge(await fetch(url), version)).accepts;
  if (!offer) throw new Error("the seller offers nothing");
  return offer;
}

describe.each(FRAMEWORKS)("a seller on %s who holds a receive key alone", (framework) => {
  it.each(CIRCLES)("sells once for what the buyer's gateway has paid: $name", async (circle) => {
    const payTo = await newPayee(circle);
    const receive = hosted({ baseUrl: world.url, apiKey: sellerKey });
    const seller: Seller = await startSeller(framework, { payTo, network: networkOf(circle), receive }, circle.price);
    await seller.ready();
    const url = `${seller.url}/report`;
    expect((await fetch(url)).status).toBe(402);

    const payer = await world.newWallet({ family: circle.family });
    const order = { walletAddress: payer.address, recipientAddress: payTo, amount: circle.amount, resource: url };
    const requirements = circle.offered ? { requirements: await offerOf(url, circle.version) } : {};
    const paid = await world.call("POST", "/payment/send", { ...order, ...requirements }, { key: payer.apiKey });
    expect([paid.status, paid.body.success]).toEqual([200, true]);
    const proof = String(paid.body.paymentProof);

    const header = circle.version === 1 ? "X-PAYMENT" : "PAYMENT-SIGNATURE";
    const got = await send(url, { headers: { [header]: proof } });
    expect([got?.status, got?.body]).toEqual([200, "the goods"]);
    // Again: v2 carries a retry key, so its holder gets the answer that is kept. Without one it is anybody's who read the chain.
    const again = await send(url, { headers: { [header]: proof } });
    if (circle.version === 2) expect(again).toMatchObject({ status: 200, headers: { "payment-replayed": "true" } });
    else expect(again?.status).toBeGreaterThanOrEqual(400);
    expect(seller.runs).toHaveLength(1);
    expect(await debits(circle, payTo)).toEqual([circle.atomic]);

    const status = () => world.call("GET", `/payment/status/${paid.body.paymentId}`, undefined, { key: payer.apiKey });
    await expect
      .poll(async () => (await status()).body.status, { timeout: 20_000 })
      .toMatch(/^(?:confirmed|finalized)$/);
    const history = (key: string) => world.call("GET", `/payment/history/${payTo}`, undefined, { key });
    for (const [key, type] of [
      [payer.apiKey, "sent"],
      [readKey, "received"],
    ] as const) {
      expect((await history(key)).body).toMatchObject({
        payments: [
          {
            type,
            amountAtomic: String(circle.atomic),
            resource: url,
            status: expect.stringMatching(/^(?:confirmed|finalized)$/),
          },
        ],
        pagination: { total: 1 },
      });
    }
    await seller.close();
  });
});
