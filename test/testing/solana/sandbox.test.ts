// The Solana sandbox as a test uses it: names and receiver of a paywall, buyers, and what has moved.
import { Keypair } from "@solana/web3.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addressOfSecret } from "../../../src/chains/solana/settlers.js";
import { createSolanaSandbox, type SolanaSandbox } from "../../../src/testing/index.js";
import { hash, signed, sol, tokens } from "./transactions.js";

let sandbox: SolanaSandbox;
beforeAll(async () => {
  sandbox = await createSolanaSandbox();
});
afterAll(() => sandbox?.close());

const send = async (payer: Keypair, ...instructions: Parameters<typeof signed>[2][]) => {
  const connection = sandbox.connection("processed");
  const transaction = signed(await hash(sandbox.connection()), [payer], ...instructions);
  return connection.sendTransaction(transaction, { skipPreflight: true });
};

describe("the Solana sandbox", () => {
  it("has the names that a paywall's options ask for, and a key that is its fee payer's", () => {
    expect([sandbox.network, sandbox.payTo]).toEqual(["solana-devnet", sandbox.seller]);
    expect(addressOfSecret(sandbox.settlerKey)).toBe(sandbox.feePayer.publicKey.toBase58());
    expect(sandbox.receive().networks).toEqual([sandbox.caip2]);
  });

  it("gives the same n-th buyer every time, a fresh one to each caller, and many at once", async () => {
    const [first, again, second] = await Promise.all([sandbox.buyer(), sandbox.buyer(0), sandbox.buyer(1)]);
    expect(again).toBe(first);
    expect(second.publicKey.equals(first.publicKey)).toBe(false);
    const fresh = await sandbox.newBuyers(100, { lamports: 5n, balance: 7n });
    const addresses = fresh.map(({ publicKey }) => publicKey.toBase58());
    expect(new Set([...addresses, first.publicKey.toBase58()]).size).toBe(101);
    expect(await sandbox.balances(addresses[99]!)).toEqual({ lamports: 5n, usdc: 7n });
  });

  it("tells what has moved of each asset, from whom and to whom, oldest first", async () => {
    const [buyer, other, payee] = [await sandbox.newBuyer(), await sandbox.newBuyer(), Keypair.generate()];
    const [from, to] = [buyer.publicKey.toBase58(), payee.publicKey.toBase58()];
    await sandbox.token.mint(to, 0n);
    const one = await send(buyer, tokens(sandbox, buyer.publicKey, payee.publicKey, 5n));
    const two = await send(other, tokens(sandbox, other.publicKey, payee.publicKey, 6n));
    const three = await send(buyer, sol(buyer, payee.publicKey, 1_000_000n));
    const rest = { from, to };
    expect(await sandbox.token.transfers({ to })).toMatchObject([
      { ...rest, value: 5n, transaction: one },
      { from: other.publicKey.toBase58(), to, value: 6n, transaction: two },
    ]);
    expect(await sandbox.token.transfers({ from, to })).toHaveLength(1);
    expect(await sandbox.native.transfers({ to })).toMatchObject([{ ...rest, value: 1_000_000n, transaction: three }]);
    expect([await sandbox.token.balanceOf(to), await sandbox.native.balanceOf(to)]).toEqual([11n, 1_000_000n]);
  });

  it("counts nothing that failed on the chain or never landed", async () => {
    const [buyer, payee] = [await sandbox.newBuyer({ balance: 5n }), Keypair.generate()];
    const to = payee.publicKey.toBase58();
    await sandbox.token.mint(to, 0n);
    const failed = await send(buyer, tokens(sandbox, buyer.publicKey, payee.publicKey, 6n));
    expect((await sandbox.connection().getSignatureStatus(failed)).value?.err).not.toBeNull();
    sandbox.chain.dropTransactions(1);
    await send(buyer, tokens(sandbox, buyer.publicKey, payee.publicKey, 4n));
    expect(await sandbox.token.transfers({ to })).toEqual([]);
  });
});
