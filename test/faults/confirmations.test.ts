// A sale that asks for several blocks, over HTTP on a real chain: until they stand there is no handler and no goods, and a block
// that is taken back has paid for nothing.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { evmTransferPayer, readChallenge, signPayment } from "../../src/testing/index.js";
import { createTransfers, PRICE, type Transfers } from "../chains/evm/transfers.js";
import { type Framework, type Seller, send, startSeller } from "../e2e/seller.js";

const FRAMEWORKS: readonly Framework[] = ["Express 5", "Hono"];

let world: Transfers;
beforeAll(async () => {
  world = await createTransfers();
});
afterAll(() => world?.close());

describe.each(FRAMEWORKS)("a price that wants 3 blocks on %s", (framework) => {
  /** A payment on its way: in a block, and no more blocks yet. */
  async function pay() {
    const { payTo, network, receive, rpcUrl } = world.sandbox;
    const price = { amount: `${PRICE}`, asset: "native", confirmations: 3 } as const;
    const seller = await startSeller(framework, { payTo, network, receive: receive({ rpcUrl: world.rpc.url }) }, price);
    await seller.ready();
    const challenge = await readChallenge(await fetch(`${seller.url}/report`), 2);
    const account = await world.buyer();
    // A reorganisation puts this chain's clock back, and a store as young as the shop's takes no payment that is older than itself.
    await world.sandbox.chain.setTime(Math.ceil(Date.now() / 1_000) + 1);
    const payer = evmTransferPayer(account, { rpcUrl });
    const { headers } = await signPayment({ payer, offer: challenge.accepts[0]!, version: 2, challenge });
    const answered = world.rpc.forwarded("eth_getTransactionReceipt");
    const paying = send(`${seller.url}/report`, { headers });
    await world.rpc.reached("eth_getTransactionReceipt", answered + 3);
    return { seller, account, paying, again: () => send(`${seller.url}/report`, { headers }) };
  }
  /** Resolves when the seller has looked at the chain twice more. */
  const looked = () =>
    world.rpc.reached("eth_getTransactionReceipt", world.rpc.forwarded("eth_getTransactionReceipt") + 2);
  const stop = ({ seller }: { readonly seller: Seller }) => seller.close();

  it("A1: releases nothing after one block or two, and sells after the third", async () => {
    const sale = await pay();
    for (let blocks = 1; blocks < 3; blocks += 1) {
      await looked();
      expect(sale.seller.runs).toHaveLength(0);
      await world.sandbox.chain.mine();
    }
    const got = await sale.paying;
    expect([got?.status, got?.body, sale.seller.runs.length]).toEqual([200, "the goods", 1]);
    await stop(sale);
  });

  it("A1: releases nothing when the block is dropped and another transaction takes the money's place", async () => {
    const before = await world.sandbox.native.balanceOf(world.sandbox.seller);
    const sale = await pay();
    const requirement = world.requirement();
    const rival = await world.sign(sale.account, { ...requirement, payTo: sale.account.address }, { nonce: 0 });
    await world.sandbox.chain.rpc("anvil_reorg", [1, [[rival.raw, 0]]]);
    await world.sandbox.chain.mine(5);
    const got = await sale.paying;
    expect([got?.status, got?.json.code]).toEqual([503, "settlement_unknown"]);
    expect((await sale.again())?.status).toBeGreaterThanOrEqual(400);
    expect(sale.seller.runs).toHaveLength(0);
    expect(await world.sandbox.native.balanceOf(world.sandbox.seller)).toBe(before);
    await stop(sale);
  });
});
