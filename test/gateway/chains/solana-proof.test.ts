// What is built here is a payment elsewhere: a signed SOL transfer with its secret is taken by a receiver on the real chain,
// before it is broadcast and afterwards, and a stranger who copied it has nothing.
import { Keypair, VersionedTransaction } from "@solana/web3.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSolanaTransfers } from "../../../src/gateway/chains/solana.js";
import { findNetwork } from "../../../src/networks.js";
import { secretOf } from "../../chains/solana/native-payment.js";
import { createNativeWorld, type NativeWorld, PRICE } from "../../chains/solana/native-world.js";
import { settleContext, verifyContext } from "../../chains/solana/world.js";
import { addressOf, built, RENT, SOL, signerOf, soon } from "./solana-world.js";

let world: NativeWorld;
let transfers: ReturnType<typeof openSolanaTransfers>;
beforeAll(async () => {
  world = await createNativeWorld();
  world.sandbox.chain.airdrop(world.sandbox.payTo, RENT);
  const network = findNetwork(world.sandbox.caip2)!;
  const logger = { warn: () => {}, error: () => {} };
  transfers = openSolanaTransfers({ network, options: { rpcUrl: world.sandbox.rpcUrl }, assets: [] }, { logger });
});
afterAll(async () => {
  transfers.close();
  await world.close();
});

/** A transfer of the price whose reference the secret of the label opens, signed by its sender. */
async function signed(label: string, parts: { readonly priorityFee?: bigint } = {}) {
  const wallet = await world.sandbox.newBuyer();
  const reference = `0x${secretOf(label).reference}` as const;
  const transfer = { from: addressOf(wallet), to: world.sandbox.payTo, asset: SOL, amount: PRICE, reference, ...parts };
  const done = await transfers.sign(built(await transfers.build(transfer, { signal: soon() })), signerOf(wallet));
  return { ...done, transaction: VersionedTransaction.deserialize(done.bytes), secret: secretOf(label).secret };
}

describe("a SOL transfer that was built here", () => {
  it("is settled by a receiver with its secret, whatever priority fee it has", async () => {
    for (const [label, parts] of Object.entries({ usual: {}, dear: { priorityFee: 10_000_000n } })) {
      const { transaction, secret, signature } = await signed(label, parts);
      const proof = await world.prove(transaction, { secret });
      expect(await world.chain.verify(proof, verifyContext())).toMatchObject({ outcome: "valid" });
      const before = world.received();
      expect(await world.chain.settle(proof, settleContext())).toMatchObject({
        outcome: "settled",
        transaction: signature,
      });
      expect(world.received() - before).toBe(PRICE);
    }
  });

  it("pays with its secret once it is on the chain too, and never without", async () => {
    const { transaction, secret, signature, pursuit } = await signed("public");
    expect(await transfers.broadcast(pursuit, soon())).toMatchObject({ outcome: "sent" });
    await expect.poll(() => transfers.standing(pursuit, soon())).toMatchObject({ state: "mined", level: "confirmed" });
    const stolen = await world.prove(transaction, { secret: secretOf("another").secret });
    expect(await world.chain.verify(stolen, verifyContext())).toMatchObject({ code: "payment_secret_required" });
    const before = world.received();
    const proof = await world.prove(transaction, { secret });
    expect(await world.chain.settle(proof, settleContext())).toMatchObject({
      outcome: "settled",
      transaction: signature,
    });
    expect(world.received()).toBe(before);
  });

  it("without a reference is a payment as long as nobody has seen it", async () => {
    const wallet = await world.sandbox.newBuyer();
    const transfer = { from: addressOf(wallet), to: world.sandbox.payTo, asset: SOL, amount: PRICE };
    const made = built(await transfers.build(transfer, { signal: soon() }));
    const { bytes } = await transfers.sign(made, signerOf(wallet));
    const proof = await world.prove(VersionedTransaction.deserialize(bytes));
    expect(await world.chain.verify(proof, verifyContext())).toMatchObject({
      outcome: "valid",
      payer: addressOf(wallet),
    });
  });

  it("is nobody's to sign but its sender's", async () => {
    const wallet = await world.sandbox.newBuyer();
    const transfer = { from: addressOf(wallet), to: world.sandbox.payTo, asset: SOL, amount: PRICE };
    const made = built(await transfers.build(transfer, { signal: soon() }));
    await expect(transfers.sign(made, signerOf(Keypair.generate()))).rejects.toThrow(/expected a signature of/);
  });
});
