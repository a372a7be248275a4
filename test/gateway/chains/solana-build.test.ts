// Building transfers on the real chain: the bytes are what their sender may sign, cost what is said, and are refused in
// words where the chain would refuse them.
import { Keypair, VersionedTransaction } from "@solana/web3.js";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { readComputeLimit, readComputePrice } from "../../../src/chains/solana/instructions.js";
import { readNativeLayout } from "../../../src/chains/solana/native-layout.js";
import { decodeTransaction } from "../../../src/chains/solana/transaction.js";
import type { BuiltTransfer } from "../../../src/gateway/chain.js";
import { fault } from "../../support/scripted-rpc.js";
import {
  addressOf,
  built,
  createSolanaWorld,
  faultOf,
  RENT,
  referenceOf,
  type SolanaWorld,
  signerOf,
  solana,
  soon,
} from "./solana-world.js";

let world: SolanaWorld;
beforeAll(async () => {
  world = await createSolanaWorld();
  world.sandbox.chain.airdrop(world.sandbox.payTo, RENT);
});
afterEach(() => world.rpc.clear());
afterAll(() => world.close());

const decode = ({ unsigned }: BuiltTransfer) => {
  const decoded = decodeTransaction(Buffer.from(unsigned).toString("base64"));
  if (!decoded.ok) throw new Error(decoded.problem);
  return decoded.transaction;
};
const budgetOf = (made: BuiltTransfer) => {
  const [limit, price] = decode(made).instructions;
  return { units: readComputeLimit(limit!.data)!, unitPrice: readComputePrice(price!.data)! };
};

/** Signed by web3.js and sent past the gateway; resolves when it is in a block. */
async function pay(made: BuiltTransfer, wallet: Keypair) {
  const transaction = VersionedTransaction.deserialize(made.unsigned);
  transaction.sign([wallet]);
  const connection = world.sandbox.connection();
  const id = await connection.sendRawTransaction(transaction.serialize());
  await expect.poll(async () => (await connection.getSignatureStatus(id)).value?.confirmationStatus).toBe("confirmed");
  return id;
}

describe("a transfer of SOL", () => {
  it("is an unsigned v0 transaction that moves the amount with its memo, and costs what was said", async () => {
    const payer = await world.sandbox.newBuyer();
    const reference = referenceOf("a");
    const made = built(await world.build(payer, { reference }));
    const transaction = decode(made);
    expect(transaction).toMatchObject({ version: 0, signatures: [new Uint8Array(64)], lookups: [] });
    const layout = readNativeLayout(transaction);
    if (!layout.ok) throw new Error(layout.reason);
    expect(layout.lamports).toBe(500_000_000n);
    expect(layout.memos.map((memo) => new TextDecoder().decode(memo))).toEqual([reference.slice(2)]);
    const before = await world.sandbox.balances(addressOf(payer));
    const received = (await world.sandbox.balances(world.sandbox.payTo)).lamports;
    await pay(made, payer);
    const after = await world.sandbox.balances(addressOf(payer));
    expect(before.lamports - after.lamports).toBe(500_000_000n + made.fee);
    expect((await world.sandbox.balances(world.sandbox.payTo)).lamports - received).toBe(500_000_000n);
  });

  it("is never twice the same transaction, also without a reference", async () => {
    const payer = await world.sandbox.newBuyer();
    const [one, two] = [built(await world.build(payer)), built(await world.build(payer))];
    expect(solana(one).reference).toMatch(/^[0-9a-f]{32}$/);
    expect(solana(one).reference).not.toBe(solana(two).reference);
    await pay(one, payer);
    await pay(two, payer);
    expect(await world.sandbox.native.transfers({ from: addressOf(payer) })).toHaveLength(2);
  });

  it("says what bounds its life and by what it is found again", async () => {
    const payer = await world.sandbox.newBuyer();
    const asked = Date.now();
    const made = built(await world.build(payer, { reference: referenceOf("b") }));
    const height = await world.sandbox.connection().getBlockHeight("confirmed");
    expect(made.lastValidBlockHeight).toBeGreaterThan(height + 100);
    expect(made.lastValidBlockHeight).toBeLessThanOrEqual(height + 150);
    expect(made.expiresAt).toBeGreaterThan(asked + 40_000);
    expect(made.expiresAt).toBeLessThanOrEqual(Date.now() + 60_000);
    expect(made.pursuit).toEqual({
      kind: "solana",
      sender: addressOf(payer),
      reference: referenceOf("b").slice(2),
      moves: { to: world.sandbox.payTo, asset: "native", amount: "500000000" },
      wire: null,
      slot: expect.any(Number),
      lastValidBlockHeight: made.lastValidBlockHeight,
    });
  });

  it("expires with its last block where that comes before 60 seconds are over", async () => {
    const payer = await world.sandbox.newBuyer();
    world.rpc.script("getEpochInfo", fault.lie({ epoch: 0, blockHeight: 10_000_000 }));
    const made = built(await world.build(payer));
    expect(made.expiresAt).toBeLessThanOrEqual(Date.now());
  });
});

describe("a transfer of a token", () => {
  it("moves it between the token accounts of sender and recipient, and costs the fee in SOL", async () => {
    const payer = await world.sandbox.newBuyer();
    const made = built(await world.build(payer, { asset: world.usdc, amount: 2_500_000n }));
    const before = await world.sandbox.balances(addressOf(payer));
    const received = await world.sandbox.token.balanceOf(world.sandbox.payTo);
    await pay(made, payer);
    const after = await world.sandbox.balances(addressOf(payer));
    expect(before.lamports - after.lamports).toBe(made.fee);
    expect(before.usdc - after.usdc).toBe(2_500_000n);
    expect((await world.sandbox.token.balanceOf(world.sandbox.payTo)) - received).toBe(2_500_000n);
  });

  it("of Token-2022 moves it as well", async () => {
    const { chain, payTo } = world.sandbox;
    const mint = chain.createMint({ decimals: 2, token2022: true });
    const payer = await world.sandbox.newBuyer();
    chain.mintTo(mint, addressOf(payer), 1_000n);
    chain.mintTo(mint, payTo, 0n);
    const tokenProgram = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb";
    const asset = { address: mint, symbol: "T22", decimals: 2, tokenProgram, minimum: 0n };
    await pay(built(await world.build(payer, { asset, amount: 300n, reference: referenceOf("c") })), payer);
    expect(chain.tokens(mint, payTo)).toBe(300n);
  });
});

describe("the fee", () => {
  it("asks for what the simulation took and little more", async () => {
    const payer = await world.sandbox.newBuyer();
    for (const parts of [{}, { reference: referenceOf("d") }, { asset: world.usdc, amount: 1n }]) {
      const made = built(await world.build(payer, parts));
      const { value } = await world.sandbox
        .connection()
        .simulateTransaction(VersionedTransaction.deserialize(made.unsigned), { sigVerify: false });
      const { units } = budgetOf(made);
      expect(units).toBeGreaterThan(value.unitsConsumed!);
      expect(units).toBeLessThan(value.unitsConsumed! * 1.2 + 1_000);
    }
  });

  it("is the priority fee that was named, in all and never more, and 5,000 lamports", async () => {
    const payer = await world.sandbox.newBuyer();
    for (const priorityFee of [0n, 1n, 10_000n, 10_000_000n]) {
      const made = built(await world.build(payer, { priorityFee }));
      expect(made.fee).toBeLessThanOrEqual(5_000n + priorityFee);
      expect(made.fee).toBeGreaterThan(5_000n + priorityFee - 2n);
      const { units, unitPrice } = budgetOf(made);
      expect(unitPrice).toBe((priorityFee * 1_000_000n) / BigInt(units));
    }
  });

  it("follows what others paid lately, within bounds that no node can pass", async () => {
    const payer = await world.sandbox.newBuyer();
    const paid = async (...fees: unknown[]) => {
      world.rpc.script(
        "getRecentPrioritizationFees",
        fault.lie(fees.map((fee) => ({ slot: 1, prioritizationFee: fee }))),
      );
      return budgetOf(built(await world.build(payer))).unitPrice;
    };
    expect(await paid()).toBe(10_000n);
    expect(await paid(0, 0, 0)).toBe(10_000n);
    expect(await paid(20_000, 30_000, 40_000, 50_000, 900_000)).toBe(50_000n);
    expect(await paid(1e19, 1e19)).toBe(1_000_000n);
    expect(await paid(-1)).toBe(10_000n);
    world.rpc.script("getRecentPrioritizationFees", fault.error(-32601, "Method not found"));
    expect(budgetOf(built(await world.build(payer))).unitPrice).toBe(10_000n);
  });
});

describe("a request that no chain need be asked about", () => {
  it.each([
    ["amount: ", { amount: 0n }],
    ["amount: ", { amount: 2n ** 64n }],
    ["priorityFee: ", { priorityFee: -1n }],
    ["walletAddress: ", { from: "0x0000000000000000000000000000000000000001" }],
  ])("is an INVALID_REQUEST that names %s", async (path, parts) => {
    const calls = world.rpc.count();
    const answer = faultOf(await world.build(Keypair.generate(), parts));
    expect(answer).toMatch(new RegExp(`^INVALID_REQUEST ${path}`));
    expect(world.rpc.count()).toBe(calls);
  });
});

describe("a chain that cannot be asked", () => {
  it.each([
    "getMultipleAccounts",
    "getLatestBlockhash",
    "getEpochInfo",
    "getMinimumBalanceForRentExemption",
    "simulateTransaction",
  ])("is UNAVAILABLE without its hosts, which the log has (%s)", async (method) => {
    const payer = await world.sandbox.newBuyer();
    world.rpc.script(method, fault.resetBefore());
    const answer = faultOf(await world.build(payer));
    expect(answer).toBe("UNAVAILABLE solana-devnet cannot be asked now; nothing was done");
    expect(world.log.at(-1)?.message).toBe("the chain could not be asked");
  });

  it("is UNAVAILABLE where its answer cannot be read", async () => {
    const payer = await world.sandbox.newBuyer();
    world.rpc.script("getLatestBlockhash", fault.lie({ context: { slot: 1 }, value: { blockhash: "!" } }));
    expect(faultOf(await world.build(payer))).toMatch(/^UNAVAILABLE/);
  });

  it("that does not know the blockhash of another node is UNAVAILABLE, and nobody's fault", async () => {
    const payer = await world.sandbox.newBuyer();
    const value = { err: "BlockhashNotFound", logs: [], accounts: null, unitsConsumed: 0 };
    world.rpc.script("simulateTransaction", fault.lie({ context: { slot: 1 }, value }), 2);
    expect(faultOf(await world.build(payer))).toMatch(/^UNAVAILABLE/);
  });
});

describe("what is handed out", () => {
  it("has been simulated as exactly these bytes", async () => {
    const payer = await world.sandbox.newBuyer();
    const made = built(await world.build(payer));
    expect(world.rpc.params("simulateTransaction").at(-1)?.[0]).toBe(Buffer.from(made.unsigned).toString("base64"));
  });

  it("can be signed by its sender's signer too", async () => {
    const payer = await world.sandbox.newBuyer();
    const made = built(await world.build(payer));
    const signed = await world.transfers.sign(made, signerOf(payer));
    expect(VersionedTransaction.deserialize(signed.bytes).message.serialize()).toEqual(
      VersionedTransaction.deserialize(made.unsigned).message.serialize(),
    );
    expect(await world.transfers.broadcast(signed.pursuit, soon())).toMatchObject({ outcome: "sent" });
  });
});
