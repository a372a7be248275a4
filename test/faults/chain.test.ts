// What a chain can do to a seller who settles on it himself: replicas that lag, keys without gas, blocks that are taken
// back, outsiders who come first, tokens that lie. Real chain, real token, sockets.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parseEther } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { FRAMEWORKS } from "../e2e/seller.js";
import { submit } from "../e2e/stranger.js";
import { fault, type ScriptedRpc, startScriptedRpc } from "../support/scripted-rpc.js";
import { ask, signFor } from "./buyer.js";
import { receiptOf } from "./market.js";
import { openShop, type Shop, type ShopOptions } from "./shop.js";

let sandbox: Sandbox;
let rpc: ScriptedRpc;
let shop: Shop | undefined;
beforeAll(async () => {
  sandbox = await createSandbox();
  rpc = await startScriptedRpc(sandbox.rpcUrl);
});
afterEach(async () => {
  rpc.clear();
  await shop?.close();
  shop = undefined;
});
afterAll(async () => {
  await rpc.close();
  await sandbox.close();
});

const debits = async (from: `0x${string}`) => (await sandbox.token.transfers({ from, to: sandbox.seller })).length;

describe.each(FRAMEWORKS)("a chain behind %s", (framework) => {
  const open = async (options: Parameters<Sandbox["receive"]>[0] = {}, more: ShopOptions = {}) => {
    shop = await openShop(framework, { payTo: sandbox.payTo, receive: sandbox.receive(options), ...more });
    return `${shop.url}/report`;
  };

  it("F90: replicas of which every second one is three blocks behind sell as one that is not", async () => {
    rpc.script("*", fault.stale(3), 100_000);
    const balancer = await startBalancer([sandbox.rpcUrl, rpc.url]);
    const url = await open({ rpcUrl: balancer.url });
    const buyers = await sandbox.newBuyers(3);
    for (let block = 0; block < 5; block += 1) await sandbox.chain.mine();
    for (const account of buyers) {
      const payment = await signFor(url, { account });
      const got = await ask(url, payment);
      expect([got.status, got.body]).toEqual([200, "the goods"]);
      expect(await debits(account.address)).toBe(1);
    }
    expect(rpc.count()).toBeGreaterThan(10);
    await balancer.close();
  }, 60_000);

  it("F93: of three settler keys one has no gas, and a hundred purchases at once succeed over the others", async () => {
    const keys = [generatePrivateKey(), generatePrivateKey(), generatePrivateKey()];
    const addresses = keys.map((key) => privateKeyToAccount(key).address);
    for (const address of addresses.slice(1)) {
      await sandbox.chain.rpc("anvil_setBalance", [address, `0x${parseEther("10").toString(16)}`]);
    }
    const url = await open({ settler: keys });
    const buyers = await sandbox.newBuyers(100);
    const payments = await Promise.all(buyers.map((account) => signFor(url, { account })));
    const all = await Promise.all(payments.map((payment) => ask(url, payment)));
    expect(all.filter(({ status }) => status !== 200).map(({ body }) => body)).toEqual([]);
    const counts = await Promise.all(
      addresses.map(async (address) => Number(await sandbox.chain.rpc("eth_getTransactionCount", [address, "latest"]))),
    );
    expect([counts[0], (counts[1] ?? 0) + (counts[2] ?? 0)]).toEqual([0, 100]);
    for (const count of counts.slice(1)) expect(count).toBeGreaterThan(20);
  }, 60_000);

  it("A1: a settlement that a reorganisation takes back delivers nothing a second time, and its retry is no new sale", async () => {
    const url = await open();
    const account = await sandbox.newBuyer();
    const payment = await signFor(url, { account });
    expect((await ask(url, payment)).status).toBe(200);
    expect(await debits(account.address)).toBe(1);
    await sandbox.chain.reorg(1);
    expect(await debits(account.address)).toBe(0);
    for (let round = 0; round < 3; round += 1) {
      const got = await ask(url, payment);
      expect([got.status, got.json.code]).toEqual([409, "payment_already_used"]);
    }
    expect(shop?.runs).toHaveLength(1);
  });

  it("A6: an outsider who settles the same authorization a block earlier has paid for the buyer, who is served once", async () => {
    let submitted: Promise<void> | undefined;
    const account = await sandbox.newBuyer();
    const handler = async () => {
      submitted ??= submit(sandbox, payment);
      await submitted;
      return { body: "the goods" };
    };
    const url = await open({}, { routes: [{ path: "/report", handler }] });
    const payment = await signFor(url, { account });
    // A reorganisation puts this chain's clock back, and a store as young as the shop's takes no payment that is older than itself.
    await sandbox.chain.setTime(Math.ceil(Date.now() / 1_000) + 1);
    const got = await ask(url, payment);
    expect([got.status, got.body]).toEqual([200, "the goods"]);
    const [transfer] = await sandbox.token.transfers({ from: account.address, to: sandbox.seller });
    expect(receiptOf(got)).toMatchObject({ success: true, transaction: transfer?.transaction });
    expect([(await ask(url, payment)).status, await debits(account.address)]).toEqual([409, 1]);
  });

  it("A33: a token that does not revert on a used nonce sells nothing for it, and nothing is sent", async () => {
    const account = await sandbox.newBuyer();
    const first = await open({ rpcUrl: rpc.url });
    const payment = await signFor(first, { account });
    await submit(sandbox, payment);
    const sent = rpc.count("eth_sendRawTransaction");
    await sandbox.token.setSilentReuse(true);
    try {
      for (let round = 0; round < 2; round += 1) {
        const got = await ask(first, payment);
        expect([got.status, got.json.code]).toEqual([409, "payment_already_used"]);
      }
    } finally {
      await sandbox.token.setSilentReuse(false);
    }
    expect([shop?.runs.length, rpc.count("eth_sendRawTransaction") - sent]).toEqual([0, 0]);
  });

  it("A34: a token that delivers 99 % of the amount has not paid, and is not asked to pay again", async () => {
    const account = await sandbox.newBuyer();
    const url = await open();
    const payment = await signFor(url, { account });
    await sandbox.token.setFeeBasisPoints(100);
    try {
      for (let round = 0; round < 2; round += 1) {
        const got = await ask(url, payment);
        expect(got.body).not.toContain("the goods");
        expect([got.status, got.json.code]).toEqual([503, "settlement_unknown"]);
        expect(got.json).not.toHaveProperty("accepts");
      }
    } finally {
      await sandbox.token.setFeeBasisPoints(0);
    }
  }, 60_000);

  it("A35: payments whose money has moved away when they are to be taken are served nothing, and after three shut the payer out", async () => {
    const account = await sandbox.newBuyer();
    const handler = async () => {
      await sandbox.token.setBalances([account.address], 0n);
      return { body: "the goods" };
    };
    const routes = [{ path: "/report", handler }];
    const url = await open({ rpcUrl: rpc.url }, { routes, limits: { unchargedRunsPerPayer: 3 } });
    const sent = rpc.count("eth_sendRawTransaction");
    const answers = [];
    for (let round = 0; round < 4; round += 1) {
      await sandbox.token.setBalances([account.address], 1_000_000n);
      const got = await ask(url, await signFor(url, { account }));
      expect(got.body).not.toContain("the goods");
      answers.push([got.status, got.json.code]);
    }
    const refused = [402, "insufficient_funds"];
    expect(answers).toEqual([refused, refused, refused, [429, "too_many_failures"]]);
    expect([shop?.runs.length, rpc.count("eth_sendRawTransaction") - sent]).toEqual([3, 0]);
  });
});

/** Hands one request to each replica in turn, as a provider's load balancer does. */
async function startBalancer(replicas: readonly string[]) {
  let turn = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const replica = replicas[turn++ % replicas.length] ?? "";
    const answer = await fetch(replica, {
      method: "POST",
      body: Buffer.concat(chunks),
      headers: { "content-type": "application/json" },
    });
    response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
