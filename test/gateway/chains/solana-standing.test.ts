import type { Keypair } from "@solana/web3.js";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { encodeBase58 } from "../../../src/chains/solana/base58.js";
import type { SolanaPursuit } from "../../../src/gateway/payment.js";
import { fault } from "../../support/scripted-rpc.js";
import {
  built,
  createSolanaWorld,
  RENT,
  referenceOf,
  type SolanaWorld,
  signerOf,
  solana,
  soon,
} from "./solana-world.js";

/** Time stands still but for transactions. */
const world: SolanaWorld = await createSolanaWorld({ slotTimeMs: 0 });
const { chain } = world.sandbox;
chain.airdrop(world.sandbox.payTo, RENT);
let payer: Keypair;
let label = 0;
beforeEach(async () => {
  payer = await world.sandbox.newBuyer();
  label += 1;
});
afterEach(() => world.rpc.clear());
afterAll(() => world.close());

const standing = (pursuit: SolanaPursuit, transfers = world.transfers) => transfers.standing(pursuit, soon());
const LIFE = 151;
const FINALITY = 33;

async function signed(parts: Parameters<SolanaWorld["build"]>[1] = {}) {
  const made = built(await world.build(payer, { reference: referenceOf(`${label}`), ...parts }));
  const done = await world.transfers.sign(made, signerOf(payer));
  return { ...done, made, pursuit: solana(done) };
}

/** What is known of one that its sender signs elsewhere. */
const unsigned = async () => solana(built(await world.build(payer, { reference: referenceOf(`${label}`) })));

describe("a transfer that was signed here", () => {
  it("is unseen, then included, confirmed and finalized, with what it cost and where it stands", async () => {
    const { pursuit, signature, made } = await signed();
    expect(await standing(pursuit)).toEqual({ state: "unseen" });
    expect(await world.transfers.broadcast(pursuit, soon())).toEqual({ outcome: "sent", message: "a node has it" });
    await world.confirm(signature);
    const height = (slot: bigint) => Number(slot) - 200;
    const landed = chain.slot() - 1n;
    expect(await standing(pursuit)).toEqual({
      state: "mined",
      signature,
      succeeded: true,
      blockHeight: height(landed),
      fee: made.fee,
      confirmations: 1,
      level: "confirmed",
    });
    chain.advanceSlots(9);
    expect(await standing(pursuit)).toMatchObject({ confirmations: 10, level: "confirmed" });
    chain.advanceSlots(FINALITY);
    expect(await standing(pursuit)).toMatchObject({
      state: "mined",
      level: "finalized",
      confirmations: 32,
      blockHeight: height(landed),
    });
  });

  it("is included while its block may still vanish", async () => {
    const { pursuit, signature, made } = await signed();
    const status = { slot: Number(chain.slot()), err: null, confirmations: 0, confirmationStatus: "processed" };
    world.rpc.script("getSignatureStatuses", fault.lie({ context: { slot: status.slot }, value: [status] }), 9);
    expect(await standing(pursuit)).toMatchObject({
      state: "mined",
      level: "included",
      succeeded: true,
      fee: made.fee,
      blockHeight: status.slot - 200,
      confirmations: 0,
    });
    expect(await world.transfers.standingOf(signature, soon())).toEqual({ state: "waiting", signature });
  });

  it("that failed on the chain is told with the reason and its fee", async () => {
    const { pursuit, signature } = await signed({ amount: 9_000_000_000n });
    const rival = await signed({ amount: 9_000_000_000n, reference: referenceOf("rival") });
    await world.send(rival.bytes);
    await world.send(Buffer.from(pursuit.wire!, "base64"));
    await world.confirm(signature);
    expect(await standing(pursuit)).toMatchObject({
      state: "mined",
      succeeded: false,
      level: "confirmed",
      reason: '{"InstructionError":[2,{"Custom":1}]}',
    });
  });

  it("is found by an earlier version's id as well, and a success counts before a failure", async () => {
    const first = await signed();
    await world.send(first.bytes);
    await world.confirm(first.signature);
    const second = await signed({ reference: referenceOf("second") });
    const pursuit = { ...second.pursuit, earlier: [first.signature] };
    expect(await standing(pursuit)).toMatchObject({ state: "mined", signature: first.signature });
  });

  it("counts as succeeded where an earlier version of it failed, however final that is", async () => {
    const [rival, failed] = [
      await signed({ amount: 9_000_000_000n, reference: referenceOf("r") }),
      await signed({ amount: 9_000_000_000n }),
    ];
    for (const { bytes, signature } of [rival, failed]) {
      await world.send(bytes);
      await world.confirm(signature);
    }
    chain.advanceSlots(FINALITY);
    const again = await signed();
    const pursuit = { ...again.pursuit, earlier: [failed.signature] };
    expect(await standing(pursuit)).toMatchObject({
      succeeded: false,
      level: "finalized",
      signature: failed.signature,
    });
    await world.send(again.bytes);
    await world.confirm(again.signature);
    expect(await standing(pursuit)).toMatchObject({ succeeded: true, level: "confirmed", signature: again.signature });
  });

  it("stands by its id alone too, and another text is no id", async () => {
    const { bytes, signature } = await signed();
    expect(await world.transfers.standingOf(signature, soon())).toEqual({ state: "unseen" });
    await world.send(bytes);
    await world.confirm(signature);
    expect(await world.transfers.standingOf(signature, soon())).toMatchObject({ state: "mined", level: "confirmed" });
    expect(await world.transfers.standingOf("0xabc", soon())).toMatchObject({ state: "unreadable" });
  });
});

describe("a transfer that can never land", () => {
  it("is given up once its last block is final and the node's memory is complete, not before", async () => {
    const { pursuit } = await signed();
    chain.advanceSlots(LIFE);
    expect(await standing(pursuit)).toEqual({ state: "unseen" });
    chain.advanceSlots(FINALITY);
    world.rpc.script("getFirstAvailableBlock", fault.lie(pursuit.slot + 1));
    expect(await standing(pursuit)).toEqual({ state: "unseen" });
    world.rpc.script("getSignaturesForAddress", fault.error(-32011, "Transaction history is not available"));
    expect(await standing(pursuit)).toEqual({ state: "unseen" });
    expect(await standing(pursuit)).toEqual({
      state: "impossible",
      reason: `its blockhash is over: no block after height ${pursuit.lastValidBlockHeight} takes it`,
    });
  });

  it("and was signed elsewhere is given up by the same rule, after a search by its memo", async () => {
    const pursuit = await unsigned();
    expect(await standing(pursuit)).toEqual({ state: "unseen" });
    chain.advanceSlots(LIFE + FINALITY);
    expect(await standing(pursuit)).toMatchObject({ state: "impossible" });
  });

  it("is never told of one that nothing is known of", async () => {
    const pursuit = await unsigned();
    chain.advanceSlots(LIFE + FINALITY);
    expect(await standing({ ...pursuit, reference: null })).toMatchObject({ state: "unreadable" });
    const { moves: _, ...blind } = pursuit;
    expect(await standing(blind)).toMatchObject({ state: "unreadable" });
  });

  it("is not told where the transfer landed and the node that was asked first is behind", async () => {
    const { pursuit, bytes, signature } = await signed();
    await world.send(bytes);
    await world.confirm(signature);
    chain.advanceSlots(LIFE + FINALITY);
    world.rpc.script("getSignatureStatuses", fault.lie({ context: { slot: 1 }, value: [null] }), 1);
    expect(await standing(pursuit)).toEqual({ state: "unseen" });
  });
});

describe("a chain that cannot be asked", () => {
  it("is unreadable and says nothing of the transfer", async () => {
    const { pursuit } = await signed();
    const elsewhere = await unsigned();
    chain.advanceSlots(LIFE + FINALITY);
    world.rpc.script("getSignatureStatuses", fault.resetBefore());
    expect(await standing(pursuit)).toMatchObject({ state: "unreadable" });
    world.rpc.script("getSignaturesForAddress", fault.html(502));
    expect(await standing(elsewhere)).toMatchObject({ state: "unreadable" });
    world.rpc.script("getSignatureStatuses", fault.lie({ value: "none" }));
    expect(await world.transfers.standingOf(encodeBase58(new Uint8Array(64).fill(7)), soon())).toMatchObject({
      state: "unreadable",
    });
  });

  it("but for one of two nodes is told by the other", async () => {
    const { pursuit, bytes, signature } = await signed();
    await world.send(bytes);
    await world.confirm(signature);
    const both = world.open({ rpcUrl: [world.rpc.url, world.sandbox.rpcUrl] });
    world.rpc.script("getSignatureStatuses", fault.resetBefore(), 9);
    expect(await standing(pursuit, both)).toMatchObject({ state: "mined", succeeded: true });
  });

  it("whose node shows another transaction under the id is not believed", async () => {
    const [one, two] = [await signed(), await signed({ amount: 1_000_000n })];
    for (const { bytes, signature } of [one, two]) {
      await world.send(bytes);
      await world.confirm(signature);
    }
    const config = { encoding: "base64", commitment: "confirmed", maxSupportedTransactionVersion: 0 };
    const swap: Parameters<SolanaWorld["rpc"]["script"]>[1] = async ({ ask }) => ({
      kind: "answer",
      answer: await ask("getTransaction", [two.signature, config]),
    });
    world.rpc.script("getTransaction", swap);
    expect(await standing(one.pursuit)).toMatchObject({ state: "unreadable" });
  });
});
