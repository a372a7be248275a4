// Money on the Solana sandbox moves as on the real chain, seen through web3.js: SOL and tokens, to the lamport.
import {
  createAssociatedTokenAccountInstruction,
  getAssociatedTokenAddressSync,
  getMint,
  getTransferFeeConfig,
  TOKEN_2022_PROGRAM_ID,
} from "@solana/spl-token";
import { ComputeBudgetProgram, Keypair, PublicKey, type TokenBalance, VersionedTransaction } from "@solana/web3.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSolanaSandbox, DEVNET_USDC, type SolanaSandbox } from "../../../src/testing/solana/sandbox.js";
import { isFullySigned, readTransaction } from "../../../src/testing/solana/wire.js";
import { hash, memo, signed, sol, stranger, tokens } from "./transactions.js";
import { vector } from "./vector.js";

let sandbox: SolanaSandbox;
beforeAll(async () => {
  sandbox = await createSolanaSandbox();
});
afterAll(() => sandbox.close());

describe("the Solana sandbox", () => {
  it("answers as devnet, with USDC at its real address", async () => {
    const connection = sandbox.connection();
    expect(await connection.getGenesisHash()).toBe("EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG");
    expect(sandbox.caip2).toBe("solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1");
    await sandbox.newBuyers(3);
    const mint = await getMint(connection, new PublicKey(DEVNET_USDC));
    expect(mint).toMatchObject({ decimals: 6, isInitialized: true, supply: 3_000_000_000n });
  });

  it("moves SOL by exactly the amount and takes 5,000 lamports from the payer", async () => {
    const connection = sandbox.connection();
    const [buyer, to] = [await sandbox.newBuyer(), stranger()];
    const id = await connection.sendTransaction(signed(await hash(connection), [buyer], sol(buyer, to, 1_000_000n)));
    expect(await connection.getBalance(to, "processed")).toBe(1_000_000);
    expect(await connection.getBalance(buyer.publicKey, "processed")).toBe(10_000_000_000 - 1_000_000 - 5_000);
    expect((await connection.getSignatureStatus(id)).value).toMatchObject({ err: null });
  });

  it("moves USDC by TransferChecked, with a fee payer who loses the fees of both signatures and nothing else", async () => {
    const connection = sandbox.connection();
    const [buyer, { feePayer }] = [await sandbox.newBuyer(), sandbox];
    const before = await sandbox.balances(feePayer.publicKey.toBase58());
    const seller = new PublicKey(sandbox.seller);
    const transaction = signed(
      await hash(connection),
      [feePayer, buyer],
      ComputeBudgetProgram.setComputeUnitLimit({ units: 20_000 }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_000_000 }),
      tokens(sandbox, buyer.publicKey, seller, 10_000n),
      memo("00112233445566778899aabbccddeeff"),
    );
    const { value: quoted } = await connection.getFeeForMessage(transaction.message);
    await connection.sendTransaction(transaction);
    expect(quoted).toBe(2 * 5_000 + 20_000);
    expect(await sandbox.balances(sandbox.seller)).toEqual({ lamports: 0n, usdc: 10_000n });
    expect(await sandbox.balances(buyer.publicKey.toBase58())).toEqual({ lamports: 10n ** 10n, usdc: 999_990_000n });
    expect((await sandbox.balances(feePayer.publicKey.toBase58())).lamports).toBe(before.lamports - 30_000n);
  });

  it("tells a landed payment with its balances before and after, its memo and its logs", async () => {
    const connection = sandbox.connection();
    const [buyer, payee] = [await sandbox.newBuyer(), await sandbox.newBuyer({ balance: 5n })];
    const transfer = tokens(sandbox, buyer.publicKey, payee.publicKey, 250n);
    const transaction = signed(await hash(connection), [buyer], transfer, memo("hello"));
    const id = await connection.sendTransaction(transaction);
    sandbox.chain.advanceSlots(1);
    const told = await connection.getTransaction(id, { maxSupportedTransactionVersion: 0 });
    const amounts = (balances: TokenBalance[] | null | undefined) =>
      balances?.map(({ owner, uiTokenAmount }) => [owner, uiTokenAmount.amount]).sort();
    const [of, to] = [buyer.publicKey.toBase58(), payee.publicKey.toBase58()];
    expect(amounts(told!.meta?.preTokenBalances)).toEqual(
      [
        [of, "1000000000"],
        [to, "5"],
      ].sort(),
    );
    expect(amounts(told!.meta?.postTokenBalances)).toEqual(
      [
        [of, "999999750"],
        [to, "255"],
      ].sort(),
    );
    expect(told!.meta).toMatchObject({ err: null, fee: 5_000 });
    expect(told!.meta?.logMessages?.join("\n")).toMatch(/Tokenkeg\w+ success\n.*\nProgram log: Memo \(len 5\)/);
    expect(told!.transaction.signatures).toEqual([id]);

    const parsed = await connection.getParsedTransaction(id, { maxSupportedTransactionVersion: 0 });
    expect(parsed!.transaction.message.instructions[0]).toMatchObject({
      program: "spl-token",
      parsed: { type: "transferChecked", info: { mint: DEVNET_USDC, tokenAmount: { amount: "250", decimals: 6 } } },
    });
    const [newest] = await connection.getSignaturesForAddress(transfer.keys[2]!.pubkey);
    expect(newest).toMatchObject({ signature: id, memo: "[5] hello", err: null, confirmationStatus: "confirmed" });
  });

  it("shows the calls of a program among the inner instructions", async () => {
    const connection = sandbox.connection();
    const buyer = await sandbox.newBuyer();
    const [owner, mint] = [stranger(), new PublicKey(DEVNET_USDC)];
    const account = getAssociatedTokenAddressSync(mint, owner);
    const create = createAssociatedTokenAccountInstruction(buyer.publicKey, account, owner, mint);
    const id = await connection.sendTransaction(signed(await hash(connection), [buyer], create));
    sandbox.chain.advanceSlots(1);
    const told = await connection.getTransaction(id, { maxSupportedTransactionVersion: 0 });
    expect(told!.meta?.innerInstructions?.map(({ index }) => index)).toEqual([0]);
    expect(told!.meta?.innerInstructions?.[0]?.instructions.length).toBeGreaterThan(2);
    const held = await connection.getTokenAccountsByOwner(owner, { mint });
    expect(held.value.map(({ pubkey }) => pubkey.toBase58())).toEqual([account.toBase58()]);
    expect((await connection.getTokenAccountBalance(account)).value).toMatchObject({ amount: "0", decimals: 6 });
  });

  it("keeps the fee of a Token-2022 mint back from the receiver", async () => {
    const connection = sandbox.connection();
    const mint = sandbox.chain.createMint({ token2022: true, transferFeeBps: 100 });
    const [buyer, payee] = [await sandbox.newBuyer(), stranger()];
    sandbox.chain.mintTo(mint, buyer.publicKey.toBase58(), 1_000_000n);
    sandbox.chain.mintTo(mint, payee.toBase58(), 0n);
    const read = await getMint(connection, new PublicKey(mint), "confirmed", TOKEN_2022_PROGRAM_ID);
    expect(getTransferFeeConfig(read)?.newerTransferFee.transferFeeBasisPoints).toBe(100);
    const transfer = tokens({ usdc: mint }, buyer.publicKey, payee, 10_000n, TOKEN_2022_PROGRAM_ID);
    await connection.sendTransaction(signed(await hash(connection), [buyer], transfer));
    expect(sandbox.chain.tokens(mint, payee.toBase58())).toBe(9_900n);
    expect(sandbox.chain.tokens(mint, buyer.publicKey.toBase58())).toBe(990_000n);
  });

  it("reads the partially signed payment of the protocol's vector and gives it the vector's id", async () => {
    const bytes = Buffer.from(vector.transaction, "base64");
    const partial = readTransaction(new Uint8Array(bytes))!;
    expect(bytes.length).toBe(496);
    expect(partial.messageHash).toBe(vector.messageHash);
    expect(partial.signers).toEqual([vector.feePayer, vector.payer]);
    expect(isFullySigned(partial)).toBe(false);
    const transaction = VersionedTransaction.deserialize(bytes);
    transaction.sign([Keypair.fromSeed(new Uint8Array(32).fill(2))]);
    const complete = readTransaction(transaction.serialize())!;
    expect(complete.id).toBe(vector.signature);
    expect(isFullySigned(complete)).toBe(true);
  });
});
