// What becomes of a transaction on the Solana sandbox: it lands once, or fails and pays its fee, or is in no block at all;
// and the blockhash window and the commitment levels are those of the real chain.
import { type Connection, SendTransactionError, TransactionExpiredBlockheightExceededError } from "@solana/web3.js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSolanaSandbox, type SolanaSandbox } from "../../../src/testing/solana/sandbox.js";
import { hash, memo, rejection, signed, sol, stranger, unsigned } from "./transactions.js";

let sandbox: SolanaSandbox;
let connection: Connection;
// Slots stand still unless a test moves them or a transaction lands.
beforeEach(async () => {
  sandbox = await createSolanaSandbox({ slotTimeMs: 0 });
  connection = sandbox.connection();
});
afterEach(() => sandbox.close());

const raw = { skipPreflight: true };
const statusOf = async (id: string, searchTransactionHistory = false) =>
  (await connection.getSignatureStatuses([id], { searchTransactionHistory })).value[0];

describe("a transaction on the Solana sandbox", () => {
  it("is refused with -32003 when its signature is false, and is accepted and lost without preflight", async () => {
    const [buyer, to] = [await sandbox.newBuyer(), stranger()];
    const transaction = signed(await hash(connection), [buyer], sol(buyer, to, 1_000_000n));
    transaction.signatures[0]![5]! ^= 1;
    expect(await rejection(connection.sendTransaction(transaction))).toMatchObject({
      transactionError: { message: "Transaction signature verification failure" },
    });
    const id = await connection.sendTransaction(transaction, raw);
    sandbox.chain.advanceSlots(40);
    expect(await statusOf(id, true)).toBeNull();
    expect(sandbox.chain.lost(id)).toBe("signature_false");
    expect(await connection.getBalance(to)).toBe(0);
  });

  it("is refused by preflight with the program's logs when it would fail, and is not sent", async () => {
    const [buyer, to] = [await sandbox.newBuyer(), stranger()];
    const transaction = signed(await hash(connection), [buyer], sol(buyer, to, 10n ** 12n));
    const error = await rejection(connection.sendTransaction(transaction));
    expect(error).toBeInstanceOf(SendTransactionError);
    expect(String(error)).toContain("Error processing Instruction 0: custom program error: 0x1");
    expect((error as SendTransactionError).logs?.join("\n")).toContain("insufficient lamports");
    expect((await sandbox.balances(buyer.publicKey.toBase58())).lamports).toBe(10n ** 10n);
  });

  it("fails in a block and pays its fee when it is sent without preflight", async () => {
    const buyer = await sandbox.newBuyer();
    const transaction = signed(await hash(connection), [buyer], sol(buyer, stranger(), 10n ** 12n));
    const id = await connection.sendTransaction(transaction, raw);
    expect(await statusOf(id)).toMatchObject({ err: { InstructionError: [0, { Custom: 1 }] } });
    expect((await sandbox.balances(buyer.publicKey.toBase58())).lamports).toBe(10n ** 10n - 5_000n);
  });

  it("fails when it would leave an account below rent", async () => {
    const buyer = await sandbox.newBuyer();
    const at = await hash(connection);
    const below = await rejection(connection.sendTransaction(signed(at, [buyer], sol(buyer, stranger(), 890_879n))));
    expect(String(below)).toContain('InsufficientFundsForRent {"account_index":1}');
    await connection.sendTransaction(signed(at, [buyer], sol(buyer, stranger(), 890_880n)));
    expect(await connection.getMinimumBalanceForRentExemption(0)).toBe(890_880);
  });

  it("is in no block when its payer has nothing", async () => {
    const [poor, to] = [await sandbox.newBuyer({ lamports: 0n, balance: 0n }), stranger()];
    const id = await connection.sendTransaction(signed(await hash(connection), [poor], sol(poor, to, 1n)), raw);
    expect(await statusOf(id, true)).toBeNull();
    expect(sandbox.chain.lost(id)).toBe("fee_not_paid");
  });

  it("runs once: equal transfers with one blockhash are one transaction, and a memo tells them apart", async () => {
    const [buyer, to] = [await sandbox.newBuyer(), stranger()];
    const at = await hash(connection);
    const pay = () => signed(at, [buyer], sol(buyer, to, 1_000_000n));
    const [first, second] = [await connection.sendTransaction(pay()), await connection.sendTransaction(pay(), raw)];
    expect(second).toBe(first);
    expect(sandbox.chain.lost(first)).toBeUndefined();
    expect(await connection.getBalance(to, "processed")).toBe(1_000_000);
    expect(String(await rejection(connection.sendTransaction(pay())))).toContain("already been processed");
    await connection.sendTransaction(signed(at, [buyer], sol(buyer, to, 1_000_000n), memo("another")));
    expect(await connection.getBalance(to, "processed")).toBe(2_000_000);
  });

  it("is accepted through the 150th block after its blockhash and no later", async () => {
    const [buyer, to] = [await sandbox.newBuyer(), stranger()];
    const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash();
    const pay = (text: string) => signed(blockhash, [buyer], sol(buyer, to, 1_000_000n), memo(text));
    const slot = await connection.getSlot("processed");
    expect(slot, "slots are no block heights").toBeGreaterThan(await connection.getBlockHeight("processed"));
    sandbox.chain.advanceSlots(lastValidBlockHeight - (await connection.getBlockHeight("processed")));
    // Asked before anything lands: soon after that its slot ends.
    expect((await connection.isBlockhashValid(blockhash, { commitment: "processed" })).value).toBe(true);
    await connection.sendTransaction(pay("last"), { preflightCommitment: "processed" });

    sandbox.chain.advanceSlots(1);
    expect((await connection.isBlockhashValid(blockhash, { commitment: "processed" })).value).toBe(false);
    const refused = connection.sendTransaction(pay("late"), { preflightCommitment: "processed" });
    expect(String(await rejection(refused))).toContain("Blockhash not found");
    const id = await connection.sendTransaction(pay("late"), raw);
    expect(sandbox.chain.lost(id)).toBe("blockhash_unknown");
    expect(await connection.getBalance(to, "processed")).toBe(1_000_000);
  });

  it("is refused at a level that does not know its blockhash yet", async () => {
    const buyer = await sandbox.newBuyer();
    const newest = await connection.getLatestBlockhash("confirmed");
    const pay = signed(newest.blockhash, [buyer], sol(buyer, stranger(), 1_000_000n));
    const early = connection.sendTransaction(pay, { preflightCommitment: "finalized" });
    expect(String(await rejection(early))).toContain("Blockhash not found");
    const older = await connection.getLatestBlockhash("finalized");
    expect(newest.lastValidBlockHeight - older.lastValidBlockHeight).toBe(31);
  });

  it("is accepted and never lands when the network drops it, until its blockhash expires", async () => {
    const [buyer, to] = [await sandbox.newBuyer(), stranger()];
    const latest = await connection.getLatestBlockhash();
    const pay = signed(latest.blockhash, [buyer], sol(buyer, to, 1_000_000n));
    sandbox.chain.dropTransactions(1);
    const signature = await connection.sendTransaction(pay);
    const confirmation = connection.confirmTransaction({ signature, ...latest });
    sandbox.chain.advanceSlots(152);
    expect(await rejection(confirmation)).toBeInstanceOf(TransactionExpiredBlockheightExceededError);
    expect(await statusOf(signature, true)).toBeNull();
    expect(sandbox.chain.lost(signature)).toBe("dropped");
  });

  it("lands when it is sent again after a drop", async () => {
    const buyer = await sandbox.newBuyer();
    const pay = signed(await hash(connection), [buyer], sol(buyer, stranger(), 1_000_000n));
    sandbox.chain.dropTransactions(1);
    const id = await connection.sendTransaction(pay);
    expect(await statusOf(id)).toBeNull();
    expect(await connection.sendTransaction(pay)).toBe(id);
    expect(await statusOf(id)).toMatchObject({ err: null });
    expect(sandbox.chain.lost(id)).toBeUndefined();
  });

  it("waits while the chain stands still", async () => {
    const [buyer, to] = [await sandbox.newBuyer(), stranger()];
    sandbox.chain.pause();
    const id = await connection.sendTransaction(signed(await hash(connection), [buyer], sol(buyer, to, 1_000_000n)));
    expect(await statusOf(id)).toBeNull();
    sandbox.chain.resume();
    expect(await statusOf(id)).toMatchObject({ err: null });
    expect(await connection.getBalance(to, "processed")).toBe(1_000_000);
  });

  it("is processed at once, confirmed a slot later and finalized 32 slots later, and balances follow", async () => {
    const [buyer, to] = [await sandbox.newBuyer(), stranger()];
    sandbox.chain.pause();
    const id = await connection.sendTransaction(signed(await hash(connection), [buyer], sol(buyer, to, 1_000_000n)));
    sandbox.chain.resume();
    sandbox.chain.pause();
    const balances = async () => [
      await connection.getBalance(to, "processed"),
      await connection.getBalance(to, "confirmed"),
      await connection.getBalance(to, "finalized"),
    ];
    expect(await statusOf(id)).toMatchObject({ confirmationStatus: "processed", confirmations: 0 });
    expect(await balances()).toEqual([1_000_000, 0, 0]);
    expect(await connection.getTransaction(id, { maxSupportedTransactionVersion: 0 })).toBeNull();

    sandbox.chain.advanceSlots(1);
    expect(await statusOf(id)).toMatchObject({ confirmationStatus: "confirmed", confirmations: 1 });
    expect(await balances()).toEqual([1_000_000, 1_000_000, 0]);
    sandbox.chain.advanceSlots(30);
    expect(await statusOf(id)).toMatchObject({ confirmationStatus: "confirmed", confirmations: 31 });
    sandbox.chain.advanceSlots(1);
    expect(await statusOf(id)).toMatchObject({ confirmationStatus: "finalized", confirmations: null });
    expect(await balances()).toEqual([1_000_000, 1_000_000, 1_000_000]);

    sandbox.chain.advanceSlots(270);
    expect(await statusOf(id)).toBeNull();
    expect(await statusOf(id, true)).toMatchObject({ confirmationStatus: "finalized" });
  });

  it("is simulated unsigned, with a fresh blockhash, and leaves nothing behind", async () => {
    const [buyer, to] = [await sandbox.newBuyer(), stranger()];
    const transaction = unsigned(stranger().toBase58(), buyer, sol(buyer, to, 1_000_000n));
    const plain = await connection.simulateTransaction(transaction);
    expect(plain.value).toMatchObject({ err: "BlockhashNotFound", logs: [] });
    const accounts = { encoding: "base64" as const, addresses: [to.toBase58()] };
    const { value } = await connection.simulateTransaction(transaction, { replaceRecentBlockhash: true, accounts });
    expect(value).toMatchObject({ err: null, unitsConsumed: 150 });
    expect(value.accounts?.[0]?.lamports).toBe(1_000_000);
    const strict = rejection(connection.simulateTransaction(transaction, { sigVerify: true }));
    expect(String(await strict)).toContain("signature verification failure");
    const failing = unsigned(await hash(connection), buyer, sol(buyer, to, 10n ** 12n));
    const held = { ...accounts, addresses: [buyer.publicKey.toBase58()] };
    expect((await connection.simulateTransaction(failing, { accounts: held })).value).toMatchObject({
      err: { InstructionError: [0, { Custom: 1 }] },
      accounts: [null],
    });
    expect(await sandbox.balances(buyer.publicKey.toBase58())).toEqual({ lamports: 10n ** 10n, usdc: 10n ** 9n });
  });
});

describe("a fork of the Solana sandbox", () => {
  it("takes back what has landed since; the same bytes land again, but not with a blockhash of the fork that was left", async () => {
    const [buyer, to] = [await sandbox.newBuyer(), stranger()];
    const { chain } = sandbox;
    const before = await hash(connection);
    const forkedAt = chain.slot();
    const pay = (at: string, text: string) => signed(at, [buyer], sol(buyer, to, 1_000_000n), memo(text));
    const first = await connection.sendTransaction(pay(before, "first"), raw);
    chain.advanceSlots(1);
    const left = await hash(connection);
    await connection.sendTransaction(pay(left, "second"), raw);
    chain.advanceSlots(1);
    expect(await connection.getBalance(to)).toBe(2_000_000);
    const slot = chain.slot();

    // What landed may have ended its slot by itself before the test did.
    chain.reorg(Number(slot - forkedAt));
    expect(chain.slot()).toBe(slot);
    expect([await connection.getBalance(to), await connection.getBalance(buyer.publicKey)]).toEqual([0, 10 ** 10]);
    expect([await statusOf(first, true), chain.lost(first)]).toEqual([null, "forked"]);
    expect(await connection.getSignaturesForAddress(to)).toEqual([]);
    expect(await sandbox.native.transfers({ to: to.toBase58() })).toEqual([]);
    expect(await connection.sendTransaction(pay(before, "first"))).toBe(first);
    expect(await rejection(connection.sendTransaction(pay(left, "second")))).toBeInstanceOf(SendTransactionError);
    chain.advanceSlots(1);
    expect(await connection.getBalance(to)).toBe(1_000_000);
  });

  it("begins after the finalized slot", () => {
    for (const depth of [0, 32, 40]) expect(() => sandbox.chain.reorg(depth)).toThrow(RangeError);
  });
});
