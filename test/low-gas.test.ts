// A seller hears of a settler that runs out of gas while it can still settle: at the start, as it settles, on both chain families.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Keypair } from "@solana/web3.js";
import express from "express";
import { local, memoryStore, type PaywallEvents } from "tollgate";
import { createPaywall } from "tollgate/express";
import { createSandbox, createSolanaSandbox, eip3009Payer, type Payer, pay, splPayer } from "tollgate/testing";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { expect, it, onTestFinished } from "vitest";
import { createGasWatch } from "../src/chains/gas.js";
import { encodeBase58 } from "../src/chains/solana/base58.js";
import type { Receiver } from "../src/receive/receiver.js";
import { handClock } from "./support/hand-clock.js";

type LowGas = PaywallEvents["low_gas"];
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const OF = { network: "eip155:84532", settler: "0xsettler" };

it("is told below what is needed, once a minute for each settler, and nobody is asked where nobody listens", () => {
  const clock = handClock();
  const watch = createGasWatch(clock.now);
  watch.seen(OF, 1n, 10n);
  expect(watch.asks(OF)).toBe(false);
  const told: LowGas[] = [];
  const end = watch.observe((notice) => told.push(notice));
  watch.seen(OF, 10n, 10n);
  expect(told).toEqual([]);
  for (let at = 0; at < 3; at += 1) watch.seen(OF, 9n, 10n);
  watch.seen({ ...OF, settler: "0xother" }, 0n, 10n);
  expect(told).toEqual([
    { ...OF, balance: 9n, needed: 10n },
    { ...OF, settler: "0xother", balance: 0n, needed: 10n },
  ]);
  expect([watch.asks(OF), watch.asks(OF)]).toEqual([true, false]);
  clock.advance(60_000);
  watch.seen(OF, 8n, 10n);
  expect([told.length, watch.asks(OF)]).toEqual([3, true]);
  end();
  clock.advance(60_000);
  watch.seen(OF, 7n, 10n);
  expect(told).toHaveLength(3);
});

it("does not pass on what an observer throws, and tells the others", () => {
  const watch = createGasWatch(Date.now);
  const told: LowGas[] = [];
  watch.observe(() => {
    throw new Error("observer");
  });
  watch.observe((notice) => told.push(notice));
  watch.seen(OF, 1n, 2n);
  expect(told).toHaveLength(1);
});

/** A shop of one report; gives its URL and what it is told. */
async function openShop(network: string, payTo: string, receive: Receiver) {
  const shop = createPaywall({ payTo, network, receive, store: memoryStore(), logger: silent });
  const told: LowGas[] = [];
  shop.on("low_gas", (notice) => told.push(notice));
  const app = express();
  app.get("/report", shop("$0.01"), (_req, res) => void res.send("the report"));
  const server = createServer(app).listen(0, "127.0.0.1");
  onTestFinished(async () => {
    server.close();
    await shop.close();
  });
  await shop.ready();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/report`;
  const buy = async (payer: Payer) => (await pay(url, {}, { payer, version: 2 })).response.status;
  return { told, buy, shop };
}

it("comes from an EVM settler at the start and as it settles, and the payment is settled all the same", async () => {
  const sandbox = await createSandbox();
  onTestFinished(() => sandbox.close());
  const open = async (wei: bigint) => {
    const settler = generatePrivateKey();
    const address = privateKeyToAddress(settler);
    await sandbox.native.setBalances([address], wei);
    const receive = local({ networks: { "base-sepolia": { rpcUrl: sandbox.rpcUrl, settler } }, logger: silent });
    return { address, ...(await openShop("base-sepolia", sandbox.payTo, receive)) };
  };
  const poor = await open(2n * 10n ** 15n);
  const low = { network: "eip155:84532", settler: poor.address, balance: 2n * 10n ** 15n, needed: expect.any(BigInt) };
  expect(poor.told).toEqual([low]);

  const rich = await open(10n ** 18n);
  const buyer = async () => eip3009Payer(await sandbox.newBuyer());
  expect(await rich.buy(await buyer())).toBe(200);
  expect(rich.told).toEqual([]);
  await sandbox.native.setBalances([rich.address], 2n * 10n ** 15n);
  expect(await rich.buy(await buyer())).toBe(200);
  await expect.poll(() => rich.told).toEqual([{ ...low, settler: rich.address }]);
  expect(rich.told[0]?.needed).toBeGreaterThan(2n * 10n ** 15n);
});

it("a shop whose settler has no gas at all opens within seconds once it is sent some, without a restart", async () => {
  const sandbox = await createSandbox();
  onTestFinished(() => sandbox.close());
  const settler = generatePrivateKey();
  const address = privateKeyToAddress(settler);
  const receive = local({ networks: { "base-sepolia": { rpcUrl: sandbox.rpcUrl, settler } }, logger: silent });
  const lines: string[] = [];
  const logger = {
    ...silent,
    error: (line: string) => void lines.push(line),
    info: (line: string) => void lines.push(line),
  };
  const shop = createPaywall({ payTo: sandbox.payTo, network: "base-sepolia", receive, store: memoryStore(), logger });
  const app = express();
  app.get("/report", shop("$0.01"), (_req, res) => void res.send("the report"));
  const server = createServer(app).listen(0, "127.0.0.1");
  onTestFinished(async () => {
    server.close();
    await shop.close();
  });
  await expect(shop.ready()).rejects.toThrow(`send native currency to ${address}`);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/report`;
  const status = async () => (await fetch(url)).status;
  expect(await status()).toBe(503);
  await sandbox.native.setBalances([address], 10n ** 18n);
  await expect.poll(status, { timeout: 60_000, interval: 250 }).toBe(402);
  const payer = eip3009Payer(await sandbox.newBuyer());
  expect((await pay(url, {}, { payer, version: 2 })).response.status).toBe(200);
  await shop.ready();
  expect(lines).toEqual([expect.stringContaining(address), "the start-up checks are passed now"]);
}, 90_000);

it("comes from a fee payer on Solana as it settles, and the payment is settled all the same", async () => {
  const sandbox = await createSolanaSandbox();
  onTestFinished(() => sandbox.close());
  const feePayer = Keypair.generate();
  const settler = feePayer.publicKey.toBase58();
  await sandbox.native.mint(settler, 1_291_000n);
  const own = { rpcUrl: sandbox.rpcUrl, settler: encodeBase58(feePayer.secretKey) };
  const receive = local({ networks: { "solana-devnet": own }, logger: silent });
  const { told, buy } = await openShop("solana-devnet", sandbox.payTo, receive);
  expect(told).toEqual([]);
  expect(await buy(splPayer(await sandbox.newBuyer(), { rpcUrl: sandbox.rpcUrl }))).toBe(200);
  await expect
    .poll(() => told, { timeout: 10_000 })
    .toEqual([{ network: sandbox.caip2, settler, balance: expect.any(BigInt), needed: 1_290_880n }]);
  // The fee of two signatures is gone, and a priority fee.
  expect(told[0]?.balance).toBeLessThanOrEqual(1_281_000n);
});
