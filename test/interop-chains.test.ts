// One route that takes USDC on two chain families and the currencies of both, in either order of the networks: each
// published client finds the offer that it can pay, whichever chain its user has money on.

import { local } from "tollgate";
import { createSandbox, createSolanaSandbox, type Sandbox, type SolanaSandbox } from "tollgate/testing";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { BUYERS, buyOnSolanaWith, buyWith, reasonToSkip } from "./support/published.js";
import { type PublishedSeller, SELLERS } from "./support/published-sellers.js";

/** Each buyer is a process that loads much before it buys. */
vi.setConfig({ testTimeout: 90_000 });
const price = 10_000n; // "$0.01" in atomic USDC
const skipped = reasonToSkip();
if (skipped) console.warn(`Skipped: ${skipped}`);
const [[, startOnExpress], [, startOnHono]] = [SELLERS[0]!, SELLERS[1]!];

describe.skipIf(skipped).each([
  ["Base Sepolia and Solana", ["base-sepolia", "solana-devnet"], startOnExpress],
  ["Solana and Base Sepolia", ["solana-devnet", "base-sepolia"], startOnHono],
] as const)("published buyers at a seller on %s", (_order, networks, start) => {
  let evm: Sandbox;
  let solana: SolanaSandbox;
  let seller: PublishedSeller;

  beforeAll(async () => {
    [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
    const receive = local({
      networks: {
        "base-sepolia": { rpcUrl: evm.rpcUrl, settler: evm.settlerKey },
        "solana-devnet": { rpcUrl: solana.rpcUrl, settler: solana.settlerKey },
      },
    });
    const payTo = { evm: evm.payTo, solana: solana.payTo };
    seller = await start(["$0.01", "0.001 SOL", "0.0002 ETH"], { payTo, networks, receive });
  });
  afterAll(async () => {
    seller?.close();
    await Promise.all([evm?.close(), solana?.close()]);
  });

  it.each(BUYERS)("%s pays in USDC on Base Sepolia", async (buyer) => {
    const privateKey = generatePrivateKey();
    const { address } = privateKeyToAccount(privateKey);
    await evm.token.setBalances([address], price);
    expect(await buyWith(buyer, [{ url: seller.url, method: "GET", privateKey }])).toMatchObject(one(address));
    expect(await evm.token.balanceOf(address)).toBe(0n);
  });

  it.each(BUYERS)("%s pays in USDC on Solana", async (name) => {
    const buyer = await solana.newBuyer({ balance: price });
    const address = buyer.publicKey.toBase58();
    const wallet = { secretKey: [...buyer.secretKey], rpcUrl: solana.rpcUrl };
    expect(await buyOnSolanaWith(name, [{ url: seller.url, method: "GET", ...wallet }])).toMatchObject(one(address));
    expect(await solana.balances(address)).toEqual({ usdc: 0n, lamports: 10n ** 10n });
  });
});

/** One answer with the goods and a receipt in the buyer's name. */
const one = (payer: string) => [
  { status: 200, receipt: { success: true, payer: expect.stringMatching(new RegExp(`^${payer}$`, "i")) } },
];
