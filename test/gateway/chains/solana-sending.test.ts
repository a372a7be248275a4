// Signing and sending transfers on the real chain: a false signature never leaves, the same bytes are the same transfer however
// often they are sent, and what is said of a broadcast is what its nodes have said.
import { Keypair } from "@solana/web3.js";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { encodeBase58 } from "../../../src/chains/solana/base58.js";
import { createSolanaSigner } from "../../../src/chains/solana/transfer-signer.js";
import { fault } from "../../support/scripted-rpc.js";
import { addressOf, built, createSolanaWorld, RENT, type SolanaWorld, signerOf, solana, soon } from "./solana-world.js";

let world: SolanaWorld;
let payer: Keypair;
beforeAll(async () => {
  world = await createSolanaWorld({ slotTimeMs: 0 });
  payer = await world.sandbox.newBuyer();
  world.sandbox.chain.airdrop(world.sandbox.payTo, RENT);
});
afterEach(() => world.rpc.clear());
afterAll(() => world.close());

async function signed() {
  const made = built(await world.build(payer));
  const done = await world.transfers.sign(made, signerOf(payer));
  return { ...done, made, pursuit: solana(done) };
}
const broadcast = (pursuit: ReturnType<typeof solana>, transfers = world.transfers) =>
  transfers.broadcast(pursuit, soon());
const debits = () => world.sandbox.native.transfers({ from: addressOf(payer) });

describe("a signature", () => {
  it("completes the bytes, whose id is known before they leave", async () => {
    const { signature, bytes, pursuit, made } = await signed();
    expect(signature).toBe(encodeBase58(bytes.subarray(1, 65)));
    expect(pursuit).toEqual({ ...made.pursuit, wire: Buffer.from(bytes).toString("base64") });
    expect(bytes.subarray(65)).toEqual(made.unsigned.subarray(65));
  });

  it("of another wallet, or over something else, is refused", async () => {
    const made = built(await world.build(payer));
    const stranger = signerOf(Keypair.generate());
    await expect(world.transfers.sign(made, stranger)).rejects.toThrow(/expected a signature of/);
    const impostor = { address: addressOf(payer), sign: stranger.sign };
    await expect(world.transfers.sign(made, impostor)).rejects.toThrow(/not one of/);
    const vandal = {
      address: addressOf(payer),
      sign: (message: Uint8Array) => signerOf(payer).sign(message.fill(1)),
    };
    await expect(world.transfers.sign(made, vandal)).rejects.toThrow(/not one of/);
  });

  it("needs no account nonce: there is none on Solana", async () => {
    const made = built(await world.build(payer));
    expect(world.transfers.withNonce(made, 7)).toBe(made);
    expect(await world.transfers.nextNonce(addressOf(payer), soon())).toEqual({ ok: true, value: 0 });
  });

  it("is not made of a transfer of another chain", async () => {
    const made = built(await world.build(payer));
    const pursuit = { kind: "evm", sender: "0x", nonce: 0, reference: null, raw: null, hash: null } as const;
    const evm = { ...pursuit, block: 0, lastValidBlockHeight: 0 };
    await expect(world.transfers.sign({ ...made, pursuit: evm }, signerOf(payer))).rejects.toThrow(TypeError);
    await expect(world.transfers.broadcast(evm, soon())).rejects.toThrow(TypeError);
    await expect(world.transfers.standing(evm, soon())).rejects.toThrow(TypeError);
  });
});

describe("a signer", () => {
  it("has the address of its key, in each of its two forms, and none of another text", () => {
    const wallet = Keypair.fromSeed(new Uint8Array(32).fill(1));
    expect(signerOf(wallet).address).toBe(addressOf(wallet));
    expect(createSolanaSigner(`0x${"01".repeat(32)}`).address).toBe(addressOf(wallet));
    const secret = "02".repeat(31);
    expect(() => createSolanaSigner(secret)).toThrow(RangeError);
    expect(() => createSolanaSigner(secret)).not.toThrow(new RegExp(secret));
  });
});

describe("a broadcast", () => {
  it("sent three times moves the money once", async () => {
    const before = (await debits()).length;
    const { pursuit } = await signed();
    for (let turn = 0; turn < 3; turn++) expect(await broadcast(pursuit)).toMatchObject({ outcome: "sent" });
    expect(await debits()).toHaveLength(before + 1);
  });

  it("has a preflight, so what the chain would refuse is refused, and nobody has paid a fee", async () => {
    const poor = await world.sandbox.newBuyer({ lamports: 1_000_000_000n });
    const made = built(await world.build(poor));
    const { pursuit } = await world.transfers.sign(made, signerOf(poor));
    const rival = await world.transfers.sign(built(await world.build(poor)), signerOf(poor));
    expect(await broadcast(solana(rival))).toMatchObject({ outcome: "sent" });
    const held = (await world.sandbox.balances(addressOf(poor))).lamports;
    const answer = await broadcast(solana({ pursuit }));
    expect(answer.outcome).toBe("refused");
    expect(answer.message).toMatch(/custom program error: 0x1/);
    expect((await world.sandbox.balances(addressOf(poor))).lamports).toBe(held);
  });

  it("of a blockhash that is over is refused", async () => {
    const { pursuit } = await signed();
    world.sandbox.chain.advanceSlots(151);
    expect(await broadcast(pursuit)).toMatchObject({
      outcome: "refused",
      message: expect.stringMatching(/Blockhash not found/),
    });
  });

  it("without signed bytes is refused", async () => {
    expect(await broadcast({ ...(await signed()).pursuit, wire: null })).toMatchObject({ outcome: "refused" });
  });

  it("whose answer was lost is lost, whether or not the node has it", async () => {
    for (const lost of [
      fault.resetBefore(),
      fault.resetAfter(),
      fault.html(502),
      fault.error(-32603, "Internal error"),
    ]) {
      const { pursuit } = await signed();
      world.rpc.script("sendTransaction", lost);
      expect(await broadcast(pursuit)).toMatchObject({ outcome: "lost" });
    }
  });

  it("is sent where one of two nodes took it, lost where one did not answer, refused where both refused", async () => {
    const both = world.open({ rpcUrl: [world.rpc.url, world.sandbox.rpcUrl] });
    const { pursuit } = await signed();
    world.rpc.script("sendTransaction", fault.resetBefore());
    expect(await broadcast(pursuit, both)).toMatchObject({ outcome: "sent" });
    const late = (await signed()).pursuit;
    world.sandbox.chain.advanceSlots(151);
    world.rpc.script("sendTransaction", fault.resetBefore());
    expect(await broadcast(late, both)).toMatchObject({ outcome: "lost" });
    expect(await broadcast(late, both)).toMatchObject({ outcome: "refused" });
  });
});
