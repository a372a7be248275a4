import { parseTransaction, toHex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Transfer } from "../../../src/gateway/chain.js";
import { newSecret } from "../../chains/evm/transfers.js";
import { fault } from "../../support/scripted-rpc.js";
import { createEvmWorld, type EvmWorld, type Wallet, within } from "./evm-world.js";

let world: EvmWorld;
let wallet: Wallet;
beforeAll(async () => {
  world = await createEvmWorld();
  wallet = await world.wallet();
});
afterAll(() => world.close());
afterEach(() => world.base.rpc.clear());

const tryToBuild = (parts: Partial<Transfer> = {}) =>
  world.transfers.build(
    { from: wallet.address, to: world.base.sandbox.seller, asset: world.native, amount: 10n ** 15n, ...parts },
    { signal: within() },
  );

describe("a built transfer", () => {
  it("is the unsigned EIP-1559 transaction that any wallet program reads, with its reference", async () => {
    const { reference } = await newSecret();
    const built = await world.build(wallet, { reference });
    expect(parseTransaction(toHex(built.unsigned))).toMatchObject({
      type: "eip1559",
      chainId: 84532,
      to: world.base.sandbox.seller.toLowerCase(),
      value: 10n ** 15n,
      data: reference,
    });
    expect(built.pursuit).toMatchObject({ kind: "evm", sender: wallet.address, reference, raw: null, hash: null });
  });

  it("is good for 60 seconds, and for as many blocks as they hold", async () => {
    const before = Date.now();
    const head = Number(await world.rpc("eth_blockNumber"));
    const built = await world.build(wallet);
    expect(built.lastValidBlockHeight).toBe(head + 30);
    expect(built.expiresAt).toBeGreaterThanOrEqual(before + 60_000);
    expect(built.expiresAt).toBeLessThanOrEqual(Date.now() + 60_000);
  });

  it("costs at most the fee that it names", async () => {
    const built = await world.build(wallet);
    const { gas = 0n, maxFeePerGas = 0n } = parseTransaction(toHex(built.unsigned));
    expect(built.fee).toBe(gas * maxFeePerGas);
  });

  it("is numbered anew without a change of anything else, and signed as it is then", async () => {
    const built = await world.build(wallet);
    const anew = world.transfers.withNonce(built, 41);
    const [before, after] = [built, anew].map(({ unsigned }) => parseTransaction(toHex(unsigned)));
    expect(after).toEqual({ ...before, nonce: 41 });
    expect(anew.pursuit).toMatchObject({ nonce: 41, unsigned: toHex(anew.unsigned) });
    const signed = await world.transfers.sign(anew, wallet);
    expect(parseTransaction(toHex(signed.bytes))).toMatchObject({ nonce: 41, value: 10n ** 15n });
    expect(signed.pursuit).toMatchObject({ nonce: 41, raw: toHex(signed.bytes), hash: signed.signature });
  });

  it("is signed by its sender's key alone", async () => {
    const stranger = await world.wallet();
    const built = await world.build(wallet);
    const impostor = { address: wallet.address, sign: stranger.sign };
    await expect(world.transfers.sign(built, impostor)).rejects.toThrow(/no signature of its own/);
  });

  it("knows the next nonce and the balances that the chain has", async () => {
    const fresh = await world.wallet();
    expect(await world.transfers.nextNonce(fresh.address, within())).toEqual({ ok: true, value: 0 });
    const signed = await world.make(fresh);
    await world.send(signed);
    await world.inBlock(signed.signature);
    expect(await world.transfers.nextNonce(fresh.address, within())).toEqual({ ok: true, value: 1 });
    const usdc = await world.transfers.balance(fresh.address, world.usdc, within());
    expect(usdc).toEqual({ ok: true, value: 1_000_000_000n });
    const ether = await world.transfers.balance(fresh.address, world.native, within());
    expect(ether.ok && ether.value < 10n ** 18n - 10n ** 15n).toBe(true);
  });
});

describe("no transfer is built", () => {
  it("INSUFFICIENT_BALANCE: names what is needed and what is there in decimal text", async () => {
    expect(await tryToBuild({ amount: 2n * 10n ** 18n })).toMatchObject({
      code: "INSUFFICIENT_BALANCE",
      message: "expected 2 ETH, the wallet has 1 ETH",
    });
    expect(await tryToBuild({ amount: 10n ** 18n })).toMatchObject({
      code: "INSUFFICIENT_BALANCE",
      message: expect.stringMatching(
        /^expected 1\.0{3}\d+ ETH for the payment and the most that its gas can cost, the wallet has 1 ETH$/,
      ),
    });
    expect(await tryToBuild({ asset: world.usdc, amount: 1_000_000_001n })).toMatchObject({
      code: "INSUFFICIENT_BALANCE",
      message: "expected 1000.000001 USDC, the wallet has 1000 USDC",
    });
  });

  it("INVALID_RECIPIENT: who cannot receive", async () => {
    const contract = privateKeyToAccount(generatePrivateKey()).address;
    await world.rpc("anvil_setCode", contract, "0x5f5ffd");
    const bad = [{ to: contract }, { to: `0x${"0".repeat(40)}` }, { to: world.usdc.address, asset: world.usdc }];
    for (const parts of bad) {
      expect(await tryToBuild(parts)).toMatchObject({
        code: "INVALID_RECIPIENT",
        details: [{ path: "recipientAddress" }],
      });
    }
  });

  it("INVALID_REQUEST: a token that refuses, and a priority fee out of reach, with the bound in decimal text", async () => {
    await world.base.sandbox.token.setPaused(true);
    const paused = await tryToBuild({ asset: world.usdc, amount: 1n });
    await world.base.sandbox.token.setPaused(false);
    expect(paused).toMatchObject({ code: "INVALID_REQUEST", message: expect.stringContaining("Pausable: paused") });
    expect(await tryToBuild({ priorityFee: 1n })).toMatchObject({
      code: "INVALID_REQUEST",
      message: "priorityFee: expected at least 0.00000000000002625 ETH",
    });
    expect(await tryToBuild({ priorityFee: 10n ** 18n })).toMatchObject({
      code: "INVALID_REQUEST",
      message: expect.stringMatching(/^priorityFee: expected at most 0\.02\d+ ETH$/),
    });
  });

  it("INVALID_REQUEST: a token that is not there, with those that are, for a balance too", async () => {
    const asset = { ...world.usdc, symbol: "GONE", address: privateKeyToAccount(generatePrivateKey()).address };
    const message = `expected one of ETH, USDC, PLAIN: base-sepolia has no GONE at ${asset.address}`;
    const told = { code: "INVALID_REQUEST", details: [{ path: "asset", message }] };
    expect(await tryToBuild({ asset, amount: 1n })).toMatchObject(told);
    expect(await world.transfers.balance(wallet.address, asset, within())).toMatchObject(told);
    expect(world.logged.at(-1)?.message).toBe("a token of this gateway is not on the chain of its node");
  });

  it("INVALID_REQUEST: what is there is not promised where it cannot be asked for", async () => {
    const asset = { ...world.usdc, symbol: "GONE", address: privateKeyToAccount(generatePrivateKey()).address };
    world.base.rpc.script("eth_getCode", fault.resetBefore(), 100);
    expect(await tryToBuild({ asset, amount: 1n })).toMatchObject({
      code: "INVALID_REQUEST",
      message: expect.stringMatching(/^asset: expected one of ETH: /),
    });
    world.base.rpc.clear();
  });

  it("UNAVAILABLE: the chain cannot be asked; its address stands in the log alone", async () => {
    world.base.rpc.script("*", fault.resetBefore(), 100);
    const refused = await tryToBuild();
    expect(refused).toMatchObject({
      code: "UNAVAILABLE",
      message: "base-sepolia cannot be asked now; nothing was done",
    });
    expect(JSON.stringify(world.logged)).toContain("127.0.0.1");
    for (const ask of [
      world.transfers.nextNonce(wallet.address, within()),
      world.transfers.balance(wallet.address, world.usdc, within()),
    ]) {
      expect(await ask).toMatchObject({ code: "UNAVAILABLE" });
    }
  });

  it("UNAVAILABLE: whoever asked has gone", async () => {
    const { seller } = world.base.sandbox;
    const transfer = { from: wallet.address, to: seller, asset: world.native, amount: 1n };
    expect(await world.transfers.build(transfer, { signal: AbortSignal.abort() })).toMatchObject({
      code: "UNAVAILABLE",
    });
  });
});
