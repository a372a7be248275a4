// The published x402 clients, as their users install them, buy from real Express and Hono sellers on a local chain.
// One and the same route serves all of them; the oracle is the token's balances.
import { createSandbox, type Sandbox } from "tollgate/testing";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { BUYERS, buyWith, reasonToSkip } from "./support/published.js";
import { type PublishedSeller, SELLERS } from "./support/published-sellers.js";

/** Each buyer is a process that loads much before it buys. */
vi.setConfig({ testTimeout: 90_000 });
const price = 10_000n; // "$0.01" in atomic USDC
const skipped = reasonToSkip();
if (skipped) console.warn(`Skipped: ${skipped}`);

describe.skipIf(skipped).each(SELLERS)("published buyers at a seller on %s", (_framework, start) => {
  let sandbox: Sandbox;
  let seller: PublishedSeller;

  beforeAll(async () => {
    sandbox = await createSandbox();
    const { payTo, network } = sandbox;
    seller = await start("$0.01", { payTo, network, receive: sandbox.receive() });
  });
  afterAll(async () => {
    seller?.close();
    await sandbox?.close();
  });

  it.each(BUYERS)("%s pays for a GET and for a POST with a body, once each and exactly the price", async (buyer) => {
    const privateKey = generatePrivateKey();
    const { address } = privateKeyToAccount(privateKey);
    await sandbox.token.setBalances([address], 1_000_000n);
    const earnedBefore = await sandbox.token.balanceOf(sandbox.payTo);
    const runsBefore = seller.runs();

    const order = { query: "weather", days: 3 };
    const [get, post] = await buyWith(buyer, [
      { url: seller.url, method: "GET", privateKey },
      { url: `${seller.url}?page=2`, method: "POST", body: order, privateKey },
    ]);

    expect(get).toMatchObject({ status: 200, receipt: { success: true } });
    expect(JSON.parse(get!.body)).toEqual({
      method: "GET",
      body: null,
      payer: expect.stringMatching(new RegExp(address, "i")),
    });
    expect(post).toMatchObject({ status: 200, receipt: { success: true } });
    expect(JSON.parse(post!.body)).toEqual({
      method: "POST",
      body: order,
      payer: expect.stringMatching(new RegExp(address, "i")),
    });
    expect(get!.receipt?.transaction).toMatch(/^0x[0-9a-f]{64}$/);
    expect(post!.receipt?.transaction).not.toBe(get!.receipt?.transaction);

    expect(seller.runs() - runsBefore).toBe(2);
    expect(await sandbox.token.balanceOf(address)).toBe(1_000_000n - 2n * price);
    expect(await sandbox.token.balanceOf(sandbox.payTo)).toBe(earnedBefore + 2n * price);
  });
});
