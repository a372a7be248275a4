// Transfers that the chain would refuse, or that would reach nobody: each is told in words and numbers before anything is
// signed. The chain itself is asked whether it would have refused, where it can be.
import { getAssociatedTokenAddressSync } from "@solana/spl-token";
import { Keypair, PublicKey } from "@solana/web3.js";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Asset } from "../../../src/gateway/chain.js";
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../../src/testing/solana/programs.js";
import { fault } from "../../support/scripted-rpc.js";
import { addressOf, built, createSolanaWorld, faultOf, RENT, type SolanaWorld, soon } from "./solana-world.js";

let world: SolanaWorld;
let payer: Keypair;
beforeAll(async () => {
  world = await createSolanaWorld({ slotTimeMs: 0 });
  payer = await world.sandbox.newBuyer();
  world.sandbox.chain.airdrop(world.sandbox.payTo, RENT);
});
afterEach(() => world.rpc.clear());
afterAll(() => world.close());

const fresh = () => addressOf(Keypair.generate());
const build = async (...args: Parameters<SolanaWorld["build"]>) => faultOf(await world.build(...args));
const of = (key: PublicKey) => key.toBase58();
/** An address without a key. */
const derived = () =>
  of(PublicKey.findProgramAddressSync([Buffer.from(fresh().slice(0, 32))], new PublicKey(SYSTEM_PROGRAM))[0]);

/** Rewrites a token account of the sandbox's USDC. */
async function rewrite(owner: string, change: (data: Uint8Array) => void) {
  const address = getAssociatedTokenAddressSync(new PublicKey(world.usdc.address), new PublicKey(owner), true);
  const account = await world.sandbox.connection("processed").getAccountInfo(address);
  if (!account) throw new Error("there is no account to change");
  const data = new Uint8Array(account.data);
  change(data);
  world.sandbox.chain.setAccount(of(address), { data, lamports: 10n ** 7n, owner: TOKEN_PROGRAM, executable: false });
}
const freeze = (data: Uint8Array) => data.set([2], 108);

describe("a recipient of SOL", () => {
  it.each(["", "nobody", "0x0000000000000000000000000000000000000001", "1".repeat(31)])(
    "that is no address: %s",
    async (to) => {
      expect(await build(payer, { to })).toBe(
        "INVALID_RECIPIENT recipientAddress: expected a Solana address, base58 of 32 bytes",
      );
    },
  );

  it("may not be the sender", async () => {
    expect(await build(payer, { to: addressOf(payer) })).toMatch(
      /^INVALID_RECIPIENT .* another address than the sender/,
    );
  });

  it("that nobody can hold the key of is refused, unless an account is there", async () => {
    const to = derived();
    expect(await build(payer, { to })).toMatch(/^INVALID_RECIPIENT .*no key can open one$/);
    world.sandbox.chain.airdrop(to, RENT);
    expect(await build(payer, { to })).toBe("ok");
  });

  it("that holds nothing must get the rent: one lamport less is refused with the minimum", async () => {
    const to = fresh();
    expect(await build(payer, { to, amount: RENT })).toBe("ok");
    expect(await build(payer, { to, amount: RENT - 1n })).toBe(
      `INVALID_RECIPIENT recipientAddress: ${to} holds 0 SOL and must hold at least 0.00089088 SOL to exist: ` +
        "send at least 0.00089088 SOL, got 0.000890879 SOL",
    );
    world.sandbox.chain.airdrop(to, RENT);
    expect(await build(payer, { to, amount: 1n })).toBe("ok");
  });

  it("that is a token account is told from its owner", async () => {
    const owner = world.sandbox.payTo;
    const to = of(getAssociatedTokenAddressSync(new PublicKey(world.usdc.address), new PublicKey(owner)));
    expect(await build(payer, { to })).toBe(
      `INVALID_RECIPIENT recipientAddress: ${to} is a token account: send to its owner, ${owner}`,
    );
    expect(await build(payer, { to, asset: world.usdc, amount: 1n })).toContain(`send to its owner, ${owner}`);
    expect(await build(payer, { to: world.usdc.address })).toMatch(/an account of a token program, not a wallet$/);
  });

  it("that is a program or the chain's own is refused, though the chain would take some of it for ever", async () => {
    for (const to of [TOKEN_PROGRAM, SYSTEM_PROGRAM, "SysvarC1ock11111111111111111111111111111111"]) {
      expect(await build(payer, { to }), to).toMatch(/^INVALID_RECIPIENT .* not a wallet$/);
    }
  });

  it("that the chain refuses for a reason of its own is told with it", async () => {
    const value = { err: { InstructionError: [2, "ReadonlyLamportChange"] }, logs: [], accounts: null };
    world.rpc.script("simulateTransaction", fault.lie({ context: { slot: 1 }, value }));
    expect(await build(payer)).toMatch(/^INVALID_RECIPIENT .* cannot receive SOL: .*ReadonlyLamportChange/);
  });
});

describe("a recipient of a token", () => {
  const usdc = (to: string) => build(payer, { to, asset: world.usdc, amount: 1n });

  it("must have a token account, which no transfer of ours opens", async () => {
    const to = fresh();
    expect(await usdc(to)).toBe(
      `INVALID_RECIPIENT recipientAddress: ${to} has no token account for USDC (${world.usdc.address}): its owner opens one first`,
    );
    world.sandbox.chain.mintTo(world.usdc.address, to, 0n);
    expect(await usdc(to)).toBe("ok");
  });

  it("must own it still, and be able to use it", async () => {
    const [to, buyer] = [fresh(), Keypair.generate().publicKey];
    world.sandbox.chain.mintTo(world.usdc.address, to, 0n);
    await rewrite(to, (data) => data.set(buyer.toBytes(), 32));
    expect(await usdc(to)).toMatch(new RegExp(`^INVALID_RECIPIENT .* belongs to ${of(buyer)}$`));
    await rewrite(to, (data) => data.set(new PublicKey(to).toBytes(), 32));
    await rewrite(to, freeze);
    expect(await usdc(to)).toMatch(/^INVALID_RECIPIENT .* is frozen$/);
  });

  it("that takes no transfer without a memo before it is told so", async () => {
    const error = { InstructionError: [2, { Custom: 36 }] };
    const mint = world.sandbox.chain.createMint({ token2022: true });
    const asset: Asset = { address: mint, symbol: "T22", decimals: 6, tokenProgram: TOKEN_2022_PROGRAM, minimum: 0n };
    world.sandbox.chain.mintTo(mint, addressOf(payer), 5n);
    world.sandbox.chain.mintTo(mint, world.sandbox.payTo, 0n);
    expect(await build(payer, { asset, amount: 5n })).toBe("ok");
    const value = { err: error, logs: [], accounts: null, unitsConsumed: 1 };
    world.rpc.script("simulateTransaction", fault.lie({ context: { slot: 1 }, value }));
    expect(await build(payer, { asset, amount: 5n })).toMatch(/^INVALID_RECIPIENT .* without a memo before it$/);
  });
});

describe("a sender", () => {
  const PRICE = 1_000_000_000n;

  it("without SOL is told what is needed and what is there", async () => {
    expect(await build(Keypair.generate(), { amount: PRICE })).toMatch(
      /^INSUFFICIENT_BALANCE the payment needs 1\.000005 SOL \(1 SOL and 0\.000005 SOL of network fees\); \w+ holds 0 SOL$/,
    );
  });

  it("may spend all that is there to the last lamport, but not leave too little to exist", async () => {
    const wallet = await world.sandbox.newBuyer({ lamports: PRICE });
    const { fee } = built(await world.build(wallet, { amount: PRICE / 2n, priorityFee: 0n }));
    const spend = (amount: bigint) => build(wallet, { amount, priorityFee: 0n });
    expect(await spend(PRICE - fee)).toBe("ok");
    expect(await spend(PRICE - fee - RENT)).toBe("ok");
    expect(await spend(PRICE - fee - RENT + 1n)).toMatch(
      /^INSUFFICIENT_BALANCE the payment needs 1\.000000001 SOL \(.*0\.00089088 SOL that an account must keep\); \w+ holds 1 SOL$/,
    );
    expect(await spend(PRICE - fee + 1n)).toMatch(/^INSUFFICIENT_BALANCE/);
  });

  it("must have the priority fee too", async () => {
    const wallet = await world.sandbox.newBuyer({ lamports: PRICE });
    expect(await build(wallet, { amount: PRICE - 5_000n, priorityFee: 10_000n })).toMatch(
      /^INSUFFICIENT_BALANCE the payment needs 1\.0000\d+ SOL \(0\.999995 SOL and (?:0\.0000149\d+|0\.000015) SOL of network fees\)/,
    );
    expect(await build(wallet, { amount: PRICE - 5_000n, priorityFee: 0n })).toBe("ok");
  });

  it("of tokens must have them, and SOL for the fee", async () => {
    const wallet = await world.sandbox.newBuyer({ balance: 1_000_000n });
    const usdc = (amount: bigint, of = wallet) => build(of, { asset: world.usdc, amount });
    expect(await usdc(1_000_000n)).toBe("ok");
    expect(await usdc(1_000_001n)).toBe(
      `INSUFFICIENT_BALANCE the payment needs 1.000001 USDC; ${addressOf(wallet)} holds 1 USDC`,
    );
    const poor = await world.sandbox.newBuyer({ lamports: 0n, balance: 1_000_000n });
    expect(await usdc(1n, poor)).toMatch(/^INSUFFICIENT_BALANCE .*0\.000005 SOL of network fees\); \w+ holds 0 SOL$/);
    expect(await usdc(1n, Keypair.generate())).toMatch(/holds 0 USDC$/);
  });

  it("whose token account is frozen, or given away, cannot pay with it", async () => {
    const wallet = await world.sandbox.newBuyer();
    const usdc = () => build(wallet, { asset: world.usdc, amount: 1n });
    await rewrite(addressOf(wallet), freeze);
    expect(await usdc()).toMatch(/^INVALID_REQUEST walletAddress: .* is frozen$/);
    await rewrite(addressOf(wallet), (data) => data.set(Keypair.generate().publicKey.toBytes(), 32));
    expect(await usdc()).toMatch(/^INSUFFICIENT_BALANCE .* holds 0 USDC$/);
  });

  it("that is an account of a program has no key that could sign", async () => {
    const from = of(getAssociatedTokenAddressSync(new PublicKey(world.usdc.address), payer.publicKey));
    expect(await build(payer, { from })).toMatch(/^INVALID_REQUEST walletAddress: .* no wallet$/);
  });

  it("who spent it between the look and the simulation is told all the same", async () => {
    for (const err of ["InsufficientFundsForFee", { InstructionError: [2, { Custom: 1 }] }]) {
      const value = { err, logs: [], accounts: null, unitsConsumed: 1 };
      world.rpc.script("simulateTransaction", fault.lie({ context: { slot: 1 }, value }));
      expect(await build(payer)).toMatch(/^INSUFFICIENT_BALANCE/);
    }
  });
});

describe("a token of the operator's", () => {
  const feeToken = () => {
    const { chain, payTo } = world.sandbox;
    const mint = chain.createMint({ token2022: true, transferFeeBps: 100 });
    chain.mintTo(mint, addressOf(payer), 1_000n);
    chain.mintTo(mint, payTo, 0n);
    return { address: mint, symbol: "FEE", decimals: 6, tokenProgram: TOKEN_2022_PROGRAM, minimum: 0n } satisfies Asset;
  };

  it("of which less would arrive is not sent, unless the operator allows that", async () => {
    const asset = feeToken();
    expect(await build(payer, { asset, amount: 100n })).toBe(
      "UNAVAILABLE FEE cannot be sent on solana-devnet now; nothing was done",
    );
    expect(JSON.stringify(world.log.at(-1)?.facts)).toContain("a transfer fee of 1 %");
    const allowed = world.open({ tokens: [{ address: asset.address, allow: ["transfer-fee"] }] });
    const answer = await allowed.build(world.transfer(payer, { asset, amount: 100n }), { signal: soon() });
    expect(faultOf(answer)).toBe("ok");
  });

  it("that is configured wrongly is the operator's affair, and never moved", async () => {
    for (const wrong of [{ decimals: 9 }, { tokenProgram: TOKEN_2022_PROGRAM }]) {
      expect(await build(payer, { asset: { ...world.usdc, ...wrong }, amount: 1n })).toMatch(/^UNAVAILABLE USDC/);
    }
  });

  it("that is not there is told so, with those that are: to ask again helps nobody", async () => {
    const asset = { ...world.usdc, symbol: "GONE", address: fresh() };
    expect(await build(payer, { asset, amount: 1n })).toBe(
      `INVALID_REQUEST asset: expected one of SOL, USDC: solana-devnet has no GONE at ${asset.address}`,
    );
    expect(world.log.at(-1)?.message).toBe("a token of this gateway is not on the chain of its node");
  });
});

describe("a balance", () => {
  it("is what the address holds, of SOL and of tokens", async () => {
    const wallet = await world.sandbox.newBuyer({ lamports: 7_000_000n, balance: 42n });
    const of = (asset: Asset, address = addressOf(wallet)) => world.transfers.balance(address, asset, soon());
    const SOL = world.transfer(wallet).asset;
    expect(await of(SOL)).toEqual({ ok: true, value: 7_000_000n });
    expect(await of(world.usdc)).toEqual({ ok: true, value: 42n });
    expect(await of(SOL, fresh())).toEqual({ ok: true, value: 0n });
    expect(await of(world.usdc, fresh())).toEqual({ ok: true, value: 0n });
    world.rpc.script("getMultipleAccounts", fault.resetBefore());
    expect(await of(SOL)).toMatchObject({ ok: false, code: "UNAVAILABLE" });
  });
});
