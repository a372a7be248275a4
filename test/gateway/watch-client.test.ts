// The client flow of the local transactions, end to end on both chains: build, inspect, sign with the caller's own library,
// broadcast on the caller's own RPC, and see it arrive.
import { type Keypair, VersionedTransaction } from "@solana/web3.js";
import { createPublicClient, type Hex, http, parseTransaction } from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { BuildAnswer } from "../../src/gateway/schemas/index.js";
import { createWatcher } from "../../src/gateway/watch/watcher.js";
import { createSandbox, createSolanaSandbox, type Sandbox, type SolanaSandbox } from "../../src/testing/index.js";
import { handClock } from "../support/hand-clock.js";
import { answerOf, bytesOf, DATABASES, openWatching, reasonAgainst, stopPostgres, type Watching } from "./watching.js";

let evm: Sandbox;
let solana: SolanaSandbox;
beforeAll(async () => {
  [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox({ slotTimeMs: 0 })]);
});
afterAll(async () => {
  await Promise.all([evm.close(), solana.close(), stopPostgres()]);
});

const RECIPIENT = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";

async function buyerOf(chain: Sandbox): Promise<PrivateKeyAccount> {
  const buyer = await chain.newBuyer();
  await chain.native.setBalances([buyer.address], 10n ** 18n);
  return buyer;
}

async function buildOnEvm(world: Watching, { address: walletAddress }: PrivateKeyAccount): Promise<BuildAnswer> {
  const request = { walletAddress, recipientAddress: RECIPIENT, amount: "0.01" };
  return answerOf(await world.buildSend(world.caller(), request));
}

const signOnEvm = (answer: BuildAnswer, buyer: PrivateKeyAccount): Promise<Hex> => {
  const { r, s, v, yParity, ...transaction } = parseTransaction(`0x${bytesOf(answer).toString("hex")}` as Hex);
  return buyer.signTransaction(transaction as Parameters<PrivateKeyAccount["signTransaction"]>[0]);
};

/** On the caller's own RPC. */
const sendOnEvm = (chain: Sandbox, serializedTransaction: Hex): Promise<Hex> =>
  createPublicClient({ transport: http(chain.rpcUrl) }).sendRawTransaction({ serializedTransaction });

async function buildOnSolana(world: Watching, buyer: Keypair): Promise<BuildAnswer> {
  const walletAddress = buyer.publicKey.toBase58();
  return answerOf(
    await world.buildSend(world.caller(), { walletAddress, recipientAddress: solana.seller, amount: 0.25 }),
  );
}

function signOnSolana(answer: BuildAnswer, buyer: Keypair): VersionedTransaction {
  const transaction = VersionedTransaction.deserialize(bytesOf(answer));
  transaction.sign([buyer]);
  return transaction;
}

const is =
  (wanted: string) =>
  ({ status }: { readonly status: string }) =>
    status === wanted;

const statuses = ({ history }: { readonly history: readonly { readonly status: string }[] }) =>
  history.map(({ status }) => status);

describe.each(DATABASES)("the client flow on %s", (database) => {
  const skip = () => reasonAgainst(database) !== undefined;

  it.skipIf(skip())("EVM: built, signed with viem, broadcast: submitted, confirmed and finalized", async () => {
    const world = await openWatching({ database, evm, confirmations: 2 });
    const buyer = await buyerOf(evm);
    const before = await evm.native.balanceOf(RECIPIENT);
    const answer = await buildOnEvm(world, buyer);
    expect((await world.look(answer.paymentId)).status).toBe("created");

    const hash = await sendOnEvm(evm, await signOnEvm(answer, buyer));
    const seen = await world.until(answer.paymentId, ({ confirmations }) => confirmations === 1);
    expect(seen).toMatchObject({ status: "submitted", signature: hash });
    await evm.chain.mine(1);
    const confirmed = await world.look(answer.paymentId);
    expect(confirmed).toMatchObject({ status: "confirmed", confirmations: 2, blockHeight: seen.blockHeight });
    expect(confirmed.fee).toBeGreaterThan(0);
    await evm.chain.mine(3);
    const final = await world.look(answer.paymentId);
    expect(statuses(final)).toEqual(["created", "submitted", "confirmed", "finalized"]);
    expect((await world.payment(answer.paymentId)).dueAt).toBeNull();
    expect((await evm.native.balanceOf(RECIPIENT)) - before).toBe(10n ** 16n);
    // Both by its id and by the transaction's.
    expect(answerOf(await world.status(world.caller(), hash)).paymentId).toBe(answer.paymentId);
  });

  it.skipIf(skip())("Solana: built, signed with web3.js, broadcast: confirmed and finalized", async () => {
    const world = await openWatching({ database, solana });
    const buyer = await solana.newBuyer();
    const before = await solana.native.balanceOf(solana.seller);
    const answer = await buildOnSolana(world, buyer);
    const signed = signOnSolana(answer, buyer);
    const simulation = await solana.connection().simulateTransaction(signed);
    expect(simulation.value.err).toBeNull();

    const signature = await solana.connection().sendTransaction(signed);
    solana.chain.advanceSlots(3);
    const confirmed = await world.until(
      answer.paymentId,
      ({ status }) => status !== "created" && status !== "submitted",
    );
    expect(confirmed).toMatchObject({ status: "confirmed", signature });
    solana.chain.advanceSlots(40);
    const final = await world.look(answer.paymentId);
    expect(final.status).toBe("finalized");
    expect((await solana.native.balanceOf(solana.seller)) - before).toBe(250_000_000n);
    expect(answerOf(await world.status(world.caller(), signature)).paymentId).toBe(answer.paymentId);
  });
});

describe("the watcher's background", () => {
  it("follows a payment to its end without anybody asking", async () => {
    const world = await openWatching({ evm });
    const buyer = await buyerOf(evm);
    const answer = await buildOnEvm(world, buyer);
    world.watcher.start();
    await sendOnEvm(evm, await signOnEvm(answer, buyer));
    const payment = await world.payment(answer.paymentId);
    const confirmed = await world.watcher.wait(payment, Date.now() + 15_000);
    expect(confirmed.status).toBe("confirmed");
    await evm.chain.mine(3);
    await expect
      .poll(async () => (await world.payment(answer.paymentId)).status, { timeout: 15_000 })
      .toBe("finalized");
  });

  it("wakes who waits when another path of the process writes the payment", async () => {
    const world = await openWatching({ evm });
    const answer = await buildOnEvm(world, await buyerOf(evm));
    const payment = await world.payment(answer.paymentId);
    // Time stands still for this one: nothing but the write can wake it.
    const clock = handClock();
    const watcher = createWatcher(world.parts, { onChange: world.onChange, clock });
    const waiting = watcher.wait(payment, clock.now() + 60_000);
    await expect.poll(() => clock.pending).toEqual([1_000]);
    await world.parts.database.payments.change(payment, "failed", { dueAt: null });
    expect((await waiting).status).toBe("failed");
    await watcher.close();
  });

  it("gives the record as it is when the time of who waits is over", async () => {
    const world = await openWatching({ evm });
    const answer = await buildOnEvm(world, await buyerOf(evm));
    const waited = await world.watcher.wait(await world.payment(answer.paymentId), Date.now() + 50);
    expect(waited.status).toBe("created");
  });
});

describe("a built payment that nobody broadcasts", () => {
  it("expires on EVM with its time, and is watched on", async () => {
    const world = await openWatching({ evm, behindMs: 120_000 });
    const { paymentId } = await buildOnEvm(world, await buyerOf(evm));
    const expired = await world.look(paymentId);
    expect(statuses(expired)).toEqual(["created", "expired"]);
    expect((await world.payment(paymentId)).dueAt).not.toBeNull();
  });

  it("that arrives late on EVM is confirmed after all, and says so", async () => {
    const world = await openWatching({ evm, behindMs: 120_000 });
    const buyer = await buyerOf(evm);
    const answer = await buildOnEvm(world, buyer);
    expect((await world.look(answer.paymentId)).status).toBe("expired");
    await sendOnEvm(evm, await signOnEvm(answer, buyer));
    const late = await world.until(answer.paymentId, is("confirmed"));
    expect(late.late).toBe(true);
    await evm.chain.mine(3);
    expect(statuses(await world.look(answer.paymentId))).toEqual(["created", "expired", "confirmed", "finalized"]);
  });

  it("is over on EVM when another transaction has taken its nonce for good", async () => {
    const world = await openWatching({ evm, behindMs: 120_000 });
    const buyer = await buyerOf(evm);
    const [first, second] = [await buildOnEvm(world, buyer), await buildOnEvm(world, buyer)];
    await sendOnEvm(evm, await signOnEvm(second, buyer));
    expect((await world.look(first.paymentId)).status).toBe("expired");
    expect((await world.payment(first.paymentId)).dueAt).not.toBeNull();
    await evm.chain.mine(3);
    const over = await world.look(first.paymentId);
    expect(over.status).toBe("expired");
    expect(over.error?.message).toContain("another transaction");
    expect((await world.payment(first.paymentId)).dueAt).toBeNull();
    expect((await world.look(second.paymentId)).status).toBe("finalized");
  });

  it("expires on Solana when its blockhash is finally over, and not by the clock", async () => {
    const world = await openWatching({ solana, behindMs: 120_000 });
    const answer = await buildOnSolana(world, await solana.newBuyer());
    expect((await world.look(answer.paymentId)).status).toBe("created");
    solana.chain.advanceSlots(151);
    expect((await world.look(answer.paymentId)).status).toBe("created");
    solana.chain.advanceSlots(40);
    const expired = await world.look(answer.paymentId);
    expect(statuses(expired)).toEqual(["created", "expired"]);
    expect((await world.payment(answer.paymentId)).dueAt).toBeNull();
  });
});

describe("a reorganisation", () => {
  it("takes a confirmed payment back, and confirms it again where it lands again", async () => {
    const world = await openWatching({ evm });
    const buyer = await buyerOf(evm);
    const answer = await buildOnEvm(world, buyer);
    const signed = await signOnEvm(answer, buyer);
    await sendOnEvm(evm, signed);
    await world.until(answer.paymentId, is("confirmed"));

    await evm.chain.reorg(1);
    expect(await world.look(answer.paymentId)).toMatchObject({ status: "confirmed", confirmations: 0 });
    expect((await world.look(answer.paymentId)).status).toBe("submitted");
    await sendOnEvm(evm, signed);
    const again = await world.until(answer.paymentId, is("confirmed"));
    expect(statuses(again)).toEqual(["created", "confirmed", "submitted", "confirmed"]);
  });
});
