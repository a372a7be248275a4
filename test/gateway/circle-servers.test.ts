// The published servers of both protocol versions receive through this gateway as their facilitator, by their own HTTP client and
// a key that may receive alone: from the published buyers, from buyers whose own gateway pays, and from many at once.
import { Keypair } from "@solana/web3.js";
import { getAddress } from "viem";
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import {
  createSandbox,
  createSolanaSandbox,
  readChallenge,
  type Sandbox,
  type SolanaSandbox,
} from "../../src/testing/index.js";
import type { Running } from "../support/process.js";
import {
  type Bought,
  type Buyer,
  buyOnSolanaWith,
  buyWith,
  reasonToSkip,
  SERVERS,
  type Server,
  startPublishedServer,
} from "../support/published.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

/** Servers and buyers are processes that load much before they begin. */
vi.setConfig({ testTimeout: 90_000 });
const skipped = reasonToSkip();
if (skipped) console.warn(`Skipped: ${skipped}`);
/** "$0.01" in atomic USDC. */
const PRICE = 10_000n;
type Family = "evm" | "solana";
const FAMILIES = ["evm", "solana"] as const;

let evm: Sandbox;
let solana: SolanaSandbox;
let world: GatewayWorld;
let account: string;
let running: Running | undefined;
beforeAll(async () => {
  if (skipped) return;
  [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
  // The chain of Solana works in this process, among fifty buyers.
  world = await createGatewayWorld({ chains: { evm, solana }, context: { nodeMs: 20_000 } });
  account = await world.newAccount("seller");
});
afterEach(async () => {
  await running?.stop();
  running = undefined;
});
afterAll(async () => {
  await world?.close();
  await Promise.all([evm?.close(), solana?.close()]);
});

/** A published server with payees of its own. */
async function open(server: Server) {
  const payees = {
    evm: privateKeyToAddress(generatePrivateKey()),
    solana: Keypair.generate().publicKey.toBase58(),
  };
  await solana.token.mint(payees.solana, 0n);
  // All that a seller needs.
  const apiKey = await world.newKey({ account, scopes: ["receive"] });
  running = await startPublishedServer(server, { facilitatorUrl: world.url, apiKey, ...payees });
  const url = running.firstLine;
  return {
    url,
    payees,
    runs: async () => (await fetch(`${url}/runs`)).json() as Promise<number>,
    /** Atomic units of each debit that went to its payee, and by whom. */
    debits: async (family: Family) =>
      family === "evm"
        ? evm.token.transfers({ to: getAddress(payees.evm) })
        : solana.token.transfers({ to: payees.solana }),
  };
}

/** So many buyers of their own, a purchase each. */
async function purchase(
  family: Family,
  buyer: Buyer,
  errands: readonly { readonly url: string; readonly method: "GET" | "POST"; readonly body?: unknown }[],
  pace: "in-turn" | "at-once" = "in-turn",
): Promise<readonly Bought[]> {
  if (family === "evm") {
    const keys = errands.map(() => generatePrivateKey());
    const addresses = keys.map((key) => privateKeyToAccount(key).address);
    await evm.token.setBalances(addresses, 1_000_000n);
    const orders = errands.map((errand, index) => ({ ...errand, privateKey: keys[index] ?? "0x" }));
    return buyWith(buyer, orders, pace);
  }
  const wallets = await Promise.all(errands.map(() => solana.newBuyer()));
  const { rpcUrl } = solana;
  const orders = errands.map((errand, index) => ({
    ...errand,
    rpcUrl,
    secretKey: [...(wallets[index]?.secretKey ?? [])],
  }));
  return buyOnSolanaWith(buyer, orders, pace);
}

describe.skipIf(skipped).each(SERVERS)("%s with this gateway as its facilitator", (server, buyers) => {
  it.each(FAMILIES)(
    "sells on %s to the published buyers, for a GET and for a POST, once each",
    async (family) => {
      const { url, runs, debits } = await open(server);
      for (const buyer of buyers) {
        const order = { query: "weather", days: 3 };
        const before = await runs();
        const [get, post] = await purchase(family, buyer, [
          { url: `${url}/${family}`, method: "GET" },
          { url: `${url}/${family}`, method: "POST", body: order },
        ]);
        for (const got of [get, post]) {
          expect([buyer, got], running?.output()).toMatchObject([buyer, { status: 200, receipt: { success: true } }]);
        }
        expect(JSON.parse(get?.body ?? "")).toMatchObject({ method: "GET" });
        expect(JSON.parse(post?.body ?? "")).toMatchObject({ method: "POST", body: order });
        expect(post?.receipt?.transaction).not.toBe(get?.receipt?.transaction);
        expect((await runs()) - before).toBe(2);
      }
      expect((await debits(family)).map(({ value }) => value)).toEqual(buyers.flatMap(() => [PRICE, PRICE]));
    },
    120_000,
  );

  it.each(FAMILIES)(
    "is paid on %s by fifty at once, fifty times",
    async (family) => {
      const { url, runs, debits } = await open(server);
      const errands = Array.from({ length: 50 }, () => ({ url: `${url}/${family}`, method: "GET" }) as const);
      const bought = await purchase(family, buyers[0], errands, "at-once");
      expect(
        bought.filter(({ status, receipt }) => status !== 200 || receipt?.success !== true),
        running?.output(),
      ).toEqual([]);
      expect(new Set(bought.map(({ receipt }) => receipt?.transaction)).size).toBe(50);
      expect(await runs()).toBe(50);
      const paid = await debits(family);
      expect(paid.map(({ value }) => value)).toEqual(bought.map(() => PRICE));
      expect(new Set(paid.map(({ from }) => from)).size).toBe(50);
    },
    180_000,
  );

  it.each(FAMILIES)("sells on %s once for what a buyer's own gateway has signed for its offer", async (family) => {
    const { url, payees, runs, debits } = await open(server);
    const version = server === "x402-express" ? 1 : 2;
    const resource = `${url}/${family}`;
    const [offer] = (await readChallenge(await fetch(resource), version)).accepts;
    const payer = await world.newWallet({ family });
    const order = { walletAddress: payer.address, recipientAddress: payees[family], amount: 0.01, resource };
    const options = { key: payer.apiKey };
    const paid = await world.call("POST", "/payment/send", { ...order, requirements: offer }, options);
    expect([paid.status, paid.body.success], paid.text).toEqual([200, true]);

    const header = version === 1 ? "X-PAYMENT" : "PAYMENT-SIGNATURE";
    const show = () => fetch(resource, { headers: { [header]: String(paid.body.paymentProof) } });
    const got = await show();
    expect([got.status, await got.json()]).toMatchObject([200, { method: "GET" }]);
    expect((await show()).status).toBe(402);
    expect(await runs()).toBe(1);
    expect((await debits(family)).map(({ value }) => value)).toEqual([PRICE]);

    const status = () => world.call("GET", `/payment/status/${paid.body.paymentId}`, undefined, options);
    const over = expect.stringMatching(/^(?:confirmed|finalized)$/);
    await expect.poll(async () => (await status()).body.status, { timeout: 20_000 }).toEqual(over);
    const readKey = await world.newKey({ account, scopes: ["read"] });
    for (const [key, type] of [
      [payer.apiKey, "sent"],
      [readKey, "received"],
    ] as const) {
      const { body } = await world.call("GET", `/payment/history/${payees[family]}`, undefined, { key });
      expect(body).toMatchObject({ payments: [{ type, amountAtomic: `${PRICE}`, status: over }] });
    }
  });
});
