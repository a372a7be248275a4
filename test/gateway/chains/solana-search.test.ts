// Transfers that their sender signs elsewhere, found again on the real chain by their memo, and told from everything that merely
// bears it.
import { createTransferCheckedInstruction } from "@solana/spl-token";
import type { Keypair } from "@solana/web3.js";
import { ComputeBudgetProgram, PublicKey, VersionedTransaction } from "@solana/web3.js";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { encodeBase58 } from "../../../src/chains/solana/base58.js";
import type { SolanaPursuit } from "../../../src/gateway/payment.js";
import { latestBlockhash } from "../../../src/testing/solana/wallet-node.js";
import { call, limit, memo, price, sign, transfer } from "../../chains/solana/native-payment.js";
import { ata, MINT } from "../../chains/solana/payment.js";
import { fault } from "../../support/scripted-rpc.js";
import { built, createSolanaWorld, RENT, referenceOf, type SolanaWorld, solana, soon } from "./solana-world.js";

/** Time stands still but for transactions. */
const world: SolanaWorld = await createSolanaWorld({ slotTimeMs: 0 });
world.sandbox.chain.airdrop(world.sandbox.payTo, RENT);
let payer: Keypair;
let label = 0;
beforeEach(async () => {
  payer = await world.sandbox.newBuyer();
  label += 1;
});
afterEach(() => world.rpc.clear());
afterAll(() => world.close());

const standing = (pursuit: SolanaPursuit) => world.transfers.standing(pursuit, soon());

/** The unsigned transfer signed by its sender elsewhere, and sent there. */
async function signedElsewhere(change: (transaction: VersionedTransaction) => VersionedTransaction = (same) => same) {
  const made = built(await world.build(payer, { reference: referenceOf(`${label}`) }));
  const transaction = change(VersionedTransaction.deserialize(made.unsigned));
  if (transaction.signatures[0]!.every((byte) => byte === 0)) transaction.sign([payer]);
  return { pursuit: solana(made), made, transaction, id: encodeBase58(transaction.signatures[0]!) };
}
describe("a transfer that was signed elsewhere", () => {
  it("is found by its memo among its sender's transactions", async () => {
    const { pursuit, transaction, id, made } = await signedElsewhere();
    await world.send(transaction);
    await world.confirm(id);
    expect(await standing(pursuit)).toMatchObject({
      state: "mined",
      signature: id,
      succeeded: true,
      level: "confirmed",
      fee: made.fee,
    });
  });

  it("is found where the wallet raised the priority and took a newer blockhash", async () => {
    const { pursuit } = await signedElsewhere();
    const move = transfer(payer.publicKey, new PublicKey(world.sandbox.payTo), 500_000_000n);
    const blockhash = await latestBlockhash(world.sandbox.rpcUrl);
    const instructions = [
      ComputeBudgetProgram.setComputeUnitLimit({ units: 90_000 }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 77_000 }),
      move,
      memo(pursuit.reference!),
    ];
    const transaction = sign(payer, instructions, { blockhash });
    await world.send(transaction);
    await world.confirm(encodeBase58(transaction.signatures[0]!));
    expect(await standing(pursuit)).toMatchObject({ state: "mined", succeeded: true, fee: 5_000n + 6_930n });
  });

  it("is not what bears its memo and moves less, moves it elsewhere, or is sent by another", async () => {
    const { pursuit } = await signedElsewhere();
    const blockhash = await latestBlockhash(world.sandbox.rpcUrl);
    const other = await world.sandbox.newBuyer();
    const [payee, elsewhere] = [new PublicKey(world.sandbox.payTo), other.publicKey];
    // Brings the sender's address into a transaction that is another's.
    const { programId, data } = ComputeBudgetProgram.setComputeUnitLimit({ units: 90_000 });
    const named = call(programId, data, [{ pubkey: payer.publicKey, isSigner: false, isWritable: false }]);
    const forged = [
      sign(payer, [transfer(payer.publicKey, payee, 1n), memo(pursuit.reference!)], { blockhash }),
      sign(payer, [transfer(payer.publicKey, elsewhere, 500_000_000n), memo(pursuit.reference!)], { blockhash }),
      sign(other, [named, transfer(elsewhere, payee, 500_000_000n), memo(pursuit.reference!)], { blockhash }),
      sign(payer, [transfer(payer.publicKey, payee, 500_000_000n), memo(`${pursuit.reference}0`)], { blockhash }),
    ];
    for (const one of forged) {
      await world.send(one);
      await world.confirm(encodeBase58(one.signatures[0]!));
    }
    expect(await standing(pursuit)).toEqual({ state: "unseen" });
  });

  it("of a token is found the same way, and not where a token of less is moved with its memo", async () => {
    const made = built(
      await world.build(payer, { asset: world.usdc, amount: 70n, reference: referenceOf(`${label}`) }),
    );
    const cheaper = built(
      await world.build(payer, { asset: world.usdc, amount: 7n, reference: referenceOf(`${label}`) }),
    );
    for (const [one, expected] of [
      [cheaper, { state: "unseen" }],
      [made, { state: "mined", succeeded: true, fee: made.fee }],
    ] as const) {
      const transaction = VersionedTransaction.deserialize(one.unsigned);
      transaction.sign([payer]);
      await world.send(transaction);
      await world.confirm(encodeBase58(transaction.signatures[0]!));
      expect(await standing(solana(made))).toMatchObject(expected);
    }
  });

  it("of a token is not what goes to another, or comes from another whose fee the sender pays", async () => {
    const made = built(
      await world.build(payer, { asset: world.usdc, amount: 70n, reference: referenceOf(`${label}`) }),
    );
    const other = await world.sandbox.newBuyer();
    const blockhash = await latestBlockhash(world.sandbox.rpcUrl);
    const [own, theirs, paid] = [payer.publicKey, other.publicKey, new PublicKey(world.sandbox.payTo)];
    const move = (from: PublicKey, to: PublicKey) =>
      createTransferCheckedInstruction(ata(from), MINT, ata(to), from, 70n, 6);
    for (const [from, to] of [
      [own, theirs],
      [theirs, paid],
    ] as const) {
      const instructions = [limit(90_000), price(1n), move(from, to), memo(solana(made).reference!)];
      const forged = sign(payer, instructions, { blockhash, others: from === own ? [] : [other] });
      await world.send(forged);
      await world.confirm(encodeBase58(forged.signatures[0]!));
    }
    expect(await standing(solana(made))).toEqual({ state: "unseen" });
  });

  it("has succeeded where a second attempt failed afterwards", async () => {
    payer = await world.sandbox.newBuyer({ lamports: 600_000_000n });
    const { pursuit, transaction, id } = await signedElsewhere();
    await world.send(transaction);
    await world.confirm(id);
    const move = transfer(payer.publicKey, new PublicKey(world.sandbox.payTo), 500_000_000n);
    const again = sign(payer, [move, memo(pursuit.reference!)], {
      blockhash: await latestBlockhash(world.sandbox.rpcUrl),
    });
    await world.send(again);
    await world.confirm(encodeBase58(again.signatures[0]!));
    expect(await standing(pursuit)).toMatchObject({ state: "mined", succeeded: true, signature: id });
    expect(await world.transfers.standingOf(encodeBase58(again.signatures[0]!), soon())).toMatchObject({
      succeeded: false,
    });
  });

  it("is not said to be unseen, nor given up, where the search was not complete", async () => {
    const { pursuit, transaction, id } = await signedElsewhere();
    await world.send(transaction);
    await world.confirm(id);
    world.rpc.script("getTransaction", fault.resetBefore());
    expect(await standing(pursuit)).toMatchObject({ state: "unreadable" });
    const entry = { signature: id, slot: pursuit.slot + 1, memo: null, err: null, blockTime: null };
    world.rpc.script("getSignaturesForAddress", fault.lie(Array.from({ length: 1_000 }, () => entry)));
    expect(await standing(pursuit)).toMatchObject({ state: "unreadable" });
  });

  it("is found where a node shows no memos beside the ids", async () => {
    const { pursuit, transaction, id } = await signedElsewhere();
    await world.send(transaction);
    await world.confirm(id);
    const strip = (entries: unknown) =>
      JSON.parse(JSON.stringify(entries, (key, value) => (key === "memo" ? undefined : value)));
    world.rpc.script("getSignaturesForAddress", fault.twist(strip));
    expect(await standing(pursuit)).toMatchObject({ state: "mined", signature: id });
  });
});
