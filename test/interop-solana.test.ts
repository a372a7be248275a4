// The published x402 clients, as their users install them, buy from real Express and Hono sellers on a local Solana chain.
// One and the same route serves all of them; the oracle is the balances: the price, and the network fee, and nothing else.
import type { Keypair } from "@solana/web3.js";
import { facilitator, type Receiver } from "tollgate";
import { createSolanaSandbox, type SolanaSandbox } from "tollgate/testing";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Running } from "./support/process.js";
import { BUYERS, buyOnSolanaWith, reasonToSkip, startPublishedSolanaFacilitator } from "./support/published.js";
import { type PublishedSeller, SELLERS } from "./support/published-sellers.js";

/** Each buyer is a process that loads much before it buys. */
vi.setConfig({ testTimeout: 90_000 });
const price = 10_000n; // "$0.01" in atomic USDC
/** Two signatures, and the priority of at most 50,000 units at a millionth of a lamport each, rounded up. */
const networkFee = 2n * 5_000n + 1n;
const skipped = reasonToSkip();
if (skipped) console.warn(`Skipped: ${skipped}`);

describe.skipIf(skipped).each(SELLERS)("published buyers at a seller on %s", (_framework, start) => {
  describe.each(["local", "a published facilitator"] as const)("that is paid through %s", (through) => {
    let sandbox: SolanaSandbox;
    let seller: PublishedSeller;
    let published: Running | undefined;

    beforeAll(async () => {
      sandbox = await createSolanaSandbox();
      const { payTo, network } = sandbox;
      seller = await start("$0.01", { payTo, network, receive: await receiver() });
    });
    afterAll(async () => {
      seller?.close();
      await published?.stop();
      await sandbox?.close();
    });

    async function receiver(): Promise<Receiver> {
      if (through === "local") return sandbox.receive();
      published = await startPublishedSolanaFacilitator(sandbox.rpcUrl, sandbox.feePayer.secretKey);
      return facilitator({ url: published.firstLine });
    }

    it.each(BUYERS)("%s pays for a GET and for a POST with a body, once each and exactly the price", async (name) => {
      const buyer = await sandbox.newBuyer();
      const before = await holdings(sandbox, buyer);
      const runsBefore = seller.runs();
      const wallet = { secretKey: [...buyer.secretKey], rpcUrl: sandbox.rpcUrl };
      const order = { query: "weather", days: 3 };
      const [get, post] = await buyOnSolanaWith(name, [
        { url: seller.url, method: "GET", ...wallet },
        { url: `${seller.url}?page=2`, method: "POST", body: order, ...wallet },
      ]);

      const payer = buyer.publicKey.toBase58();
      for (const got of [get, post]) expect(got).toMatchObject({ status: 200, receipt: { success: true, payer } });
      expect(JSON.parse(get!.body)).toEqual({ method: "GET", body: null, payer });
      expect(JSON.parse(post!.body)).toEqual({ method: "POST", body: order, payer });
      expect(get!.receipt?.transaction).toMatch(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/);
      expect(post!.receipt?.transaction).not.toBe(get!.receipt?.transaction);

      expect(seller.runs() - runsBefore).toBe(2);
      expect(await holdings(sandbox, buyer)).toEqual({
        buyer: { usdc: before.buyer.usdc - 2n * price, lamports: before.buyer.lamports },
        seller: { usdc: before.seller.usdc + 2n * price, lamports: before.seller.lamports },
        feePayer: { usdc: 0n, lamports: before.feePayer.lamports - 2n * networkFee },
      });
    });
  });
});

/** What everyone holds. */
async function holdings({ balances, seller, feePayer }: SolanaSandbox, buyer: Keypair) {
  return {
    buyer: await balances(buyer.publicKey.toBase58()),
    seller: await balances(seller),
    feePayer: await balances(feePayer.publicKey.toBase58()),
  };
}
