// What the seller says of a transfer of SOL before he takes it: new, public, too late or too poor. Nothing here moves money
// but the transfers that a test sends itself.
import { PublicKey } from "@solana/web3.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call, LIGHTHOUSE, memo, secretOf, transfer } from "./native-payment.js";
import { createNativeWorld, emptyWallet, type NativeWorld, PRICE, RENT } from "./native-world.js";
import { fault, verifyContext } from "./world.js";

let world: NativeWorld;
beforeAll(async () => {
  world = await createNativeWorld();
  // Later tests are about other things than the rent of an empty address.
  world.sandbox.chain.airdrop(world.sandbox.payTo, RENT);
});
afterAll(() => world.close());

const verify = async (...args: Parameters<NativeWorld["prove"]>) =>
  world.chain.verify(await world.prove(...args), verifyContext());

describe("a transfer that nobody has seen", () => {
  it.each([1, 2] as const)("is good in protocol v%s, with what its payer can still spend", async (version) => {
    const payer = await world.sandbox.newBuyer();
    const address = payer.publicKey.toBase58();
    const [paid, sent] = [world.received(), world.rpc.count("sendTransaction")];
    const proof = await world.prove(await world.transfer(payer), { version });
    expect(proof).toMatchObject({ payer: address, kind: "transaction" });
    // 10 SOL less the network fee of one signature.
    const expected = { outcome: "valid", payer: address, balance: 10n ** 10n - 5_000n };
    expect(await world.chain.verify(proof, verifyContext())).toEqual(expected);
    expect([world.received(), world.rpc.count("sendTransaction")]).toEqual([paid, sent]);
  });

  it("is good with a reference when the secret is shown, and not without it: only its maker can know it", async () => {
    const { secret, reference } = secretOf("unseen");
    const signed = await world.transfer(await world.sandbox.newBuyer(), { secret: "unseen" });
    expect(await verify(signed, { secret })).toMatchObject({ outcome: "valid" });
    const refused = { outcome: "invalid", code: "payment_secret_required" };
    expect(await verify(signed)).toMatchObject({
      ...refused,
      expected: expect.stringContaining(reference),
      got: "none",
    });
    expect(await verify(signed, { secret: secretOf("a thief's").secret })).toMatchObject({
      ...refused,
      got: "another one",
    });
  });

  it.each([
    ["more", PRICE + 1n],
    ["less", PRICE - 1n],
  ])("is refused when it moves %s than the price", async (_, lamports) => {
    const signed = await world.transfer(await world.sandbox.newBuyer(), { lamports });
    expect(await verify(signed)).toEqual({
      outcome: "invalid",
      code: "amount_mismatch",
      reason: "invalid_exact_svm_payload_amount_mismatch",
      expected: `${PRICE}`,
      got: `${lamports}`,
    });
  });

  it("is refused in the words of v1 for a buyer of v1", async () => {
    const signed = await world.transfer(await world.sandbox.newBuyer(), { to: emptyWallet().publicKey.toBase58() });
    const verdict = await verify(signed, { version: 1 });
    const reason = "invalid_exact_svm_payload_transaction_transfer_to_incorrect_ata";
    expect(verdict).toMatchObject({ outcome: "invalid", code: "recipient_mismatch", reason });
  });

  it("is refused when its blockhash is over", async () => {
    const signed = await world.transfer(await world.sandbox.newBuyer());
    expect(await verify(signed)).toMatchObject({ outcome: "valid" });
    world.sandbox.chain.advanceSlots(151);
    expect(await verify(signed)).toMatchObject({ outcome: "invalid", code: "payment_expired" });
    const word = { reason: "settle_exact_svm_block_height_exceeded" };
    expect(await verify(signed, { version: 1 })).toMatchObject({ code: "payment_expired", ...word });
  });

  it("is refused when its assertion would not hold, with the chain's own words", async () => {
    const payer = await world.sandbox.newBuyer();
    const move = transfer(payer.publicKey, new PublicKey(world.sandbox.payTo), PRICE);
    const signed = await world.sign(payer, [move, call(LIGHTHOUSE, Uint8Array.of(255))]);
    const verdict = await verify(signed);
    expect(verdict).toMatchObject({ outcome: "invalid", code: "simulation_failed" });
    expect(verdict).toHaveProperty("got");
  });
});

describe("a payer", () => {
  const poor = async (lamports: bigint) => {
    const payer = emptyWallet();
    if (lamports > 0n) world.sandbox.chain.airdrop(payer.publicKey.toBase58(), lamports);
    return verify(await world.transfer(payer));
  };

  it("who holds nothing, or a lamport less than price and fee, has too little", async () => {
    for (const held of [0n, PRICE - 1n, PRICE, PRICE + 4_999n]) {
      const expected = expect.stringContaining(`${PRICE} lamports and the network fee`);
      const verdict = { outcome: "invalid", code: "insufficient_funds", expected, got: `${held} lamports` };
      expect(await poor(held), `${held}`).toMatchObject(verdict);
    }
  });

  it("who holds exactly price and fee can pay, and so can one who keeps his rent", async () => {
    expect(await poor(PRICE + 5_000n)).toMatchObject({ outcome: "valid", balance: PRICE });
    expect(await poor(PRICE + 5_000n + RENT)).toMatchObject({ outcome: "valid" });
  });

  it("who would keep less than his rent cannot, and is told so", async () => {
    expect(await poor(PRICE + 5_000n + RENT - 1n)).toMatchObject({
      code: "insufficient_funds",
      expected: `${PRICE} lamports and the network fee, and then nothing or at least ${RENT} lamports left`,
    });
  });
});

describe("a payee who holds nothing", () => {
  it("can be paid his rent, and not a lamport less: the refusal says why (below rent)", async () => {
    const payer = await world.sandbox.newBuyer();
    const to = emptyWallet().publicKey.toBase58();
    for (const [amount, good] of [
      [RENT, true],
      [RENT - 1n, false],
    ] as const) {
      const requirement = { ...world.requirement, payTo: to, amount };
      const verdict = await verify(await world.transfer(payer, { to, lamports: amount }), { requirement });
      if (good) expect(verdict).toMatchObject({ outcome: "valid" });
      else {
        expect(verdict).toEqual({
          outcome: "invalid",
          code: "simulation_failed",
          reason: "invalid_exact_svm_transaction_simulation_failed",
          expected: `at least ${RENT} lamports, because ${to} holds 0 (InsufficientFundsForRent)`,
          got: `${RENT - 1n} lamports`,
        });
      }
    }
  });
});

describe("a transfer that is on the chain already", () => {
  const paid = async (label: string, lamports = PRICE) => {
    const payer = await world.sandbox.newBuyer();
    const signed = await world.transfer(payer, { secret: label, lamports });
    await world.broadcast(signed);
    return { payer: payer.publicKey.toBase58(), signed, secret: secretOf(label).secret };
  };

  it("is good for whoever shows its secret, and says when it was mined", async () => {
    const { payer, signed, secret } = await paid("public");
    const verdict = await verify(signed, { secret });
    expect(verdict).toMatchObject({ outcome: "valid", payer });
    expect(verdict).not.toHaveProperty("balance");
    const age = Date.now() - (verdict.outcome === "valid" ? (verdict.minedAt ?? 0) : 0);
    expect(age).toBeGreaterThanOrEqual(0);
    expect(age).toBeLessThan(60_000);
  });

  it("is the same proof by its id as by its bytes", async () => {
    const { signed, secret } = await paid("by id");
    const [bytes, id] = await Promise.all([
      world.prove(signed, { secret }),
      world.prove(signed, { secret, byId: true }),
    ]);
    expect(id).toMatchObject({ id: bytes.id, transaction: bytes.transaction });
    expect(await world.chain.verify(id, verifyContext())).toMatchObject({ outcome: "valid" });
  });

  it("buys a stranger nothing: not with its bytes, not by its id, not with another secret (A18)", async () => {
    const { signed } = await paid("stolen");
    for (const secret of [undefined, secretOf("guess").secret, `0x${secretOf("stolen").reference}`]) {
      for (const byId of [false, true]) {
        const shown = { byId, ...(secret !== undefined && { secret }) };
        expect(await verify(signed, shown)).toMatchObject({ outcome: "invalid", code: "payment_secret_required" });
      }
    }
  });

  it("and carries no reference is nobody's, whatever secret is shown", async () => {
    const signed = await world.transfer(await world.sandbox.newBuyer());
    await world.broadcast(signed);
    for (const shown of [{}, { secret: secretOf("none").secret }]) {
      const expected = expect.stringContaining("a memo with the SHA-256 of the secret");
      expect(await verify(signed, shown)).toMatchObject({ code: "payment_unreferenced", expected });
    }
  });

  it("may move more than the price; for less there is nothing, and no new bill either", async () => {
    const more = await paid("generous", PRICE + 7n);
    expect(await verify(more.signed, { secret: more.secret })).toMatchObject({ outcome: "valid" });
    const less = await paid("stingy", PRICE - 1n);
    for (const byId of [false, true]) {
      expect(await verify(less.signed, { secret: less.secret, byId })).toEqual({
        outcome: "invalid",
        code: "payment_too_low",
        expected: `at least ${PRICE}`,
        got: `${PRICE - 1n}`,
      });
    }
    // Whoever is not its maker learns nothing of that.
    const bare = await world.transfer(await world.sandbox.newBuyer(), { lamports: PRICE - 1n });
    await world.broadcast(bare);
    expect(await verify(bare)).toMatchObject({ code: "payment_unreferenced" });
  });

  it("is worth nothing where it failed, with or without its secret", async () => {
    const payer = await world.sandbox.newBuyer({ lamports: 2n * PRICE });
    const signed = await world.transfer(payer, { secret: "failed", lamports: 3n * PRICE });
    await world.broadcast(signed);
    expect(await verify(signed, { secret: secretOf("failed").secret })).toMatchObject({
      outcome: "invalid",
      code: "payment_rejected",
      reason: "invalid_exact_svm_transaction_failed",
      got: expect.stringContaining("failed on the chain"),
    });
    const bare = await world.transfer(payer, { lamports: 2n * PRICE });
    await world.broadcast(bare);
    expect(await verify(bare)).toMatchObject({ code: "payment_rejected" });
  });

  it("for somebody else is refused like one that is not", async () => {
    const payer = await world.sandbox.newBuyer();
    const signed = await world.transfer(payer, { to: emptyWallet().publicKey.toBase58(), secret: "astray" });
    await world.broadcast(signed);
    expect(await verify(signed, { secret: secretOf("astray").secret })).toMatchObject({ code: "recipient_mismatch" });
  });

  it("is good for 15 minutes by its block's time, and too old after them", async () => {
    const { chain } = world.sandbox;
    const now = () => Math.floor(Date.now() / 1000);
    try {
      chain.setTime(now() - 14 * 60);
      const young = await paid("young");
      chain.setTime(now() - 15 * 60 - 1);
      const old = await paid("old");
      expect(await verify(young.signed, { secret: young.secret })).toMatchObject({ outcome: "valid" });
      expect(await verify(old.signed, { secret: old.secret })).toMatchObject({
        outcome: "invalid",
        code: "payment_too_old",
        expected: expect.stringMatching(/^mined after \d{4}-/),
      });
    } finally {
      chain.setTime(now());
    }
  });

  it("is still known when its blockhash is long over", async () => {
    const { signed, secret } = await paid("long over");
    world.sandbox.chain.advanceSlots(400);
    expect(await verify(signed, { secret })).toMatchObject({ outcome: "valid" });
    expect(await verify(signed)).toMatchObject({ code: "payment_secret_required" });
  });
});

describe("a node that fails or lies", () => {
  it.each([
    ["getSignatureStatuses", "hangs", () => fault.hang()],
    ["getSignatureStatuses", "answers with something else", () => fault.lie([])],
    ["simulateTransaction", "resets", () => fault.resetBefore()],
    ["simulateTransaction", "names no error at all", () => fault.lie({ context: { slot: 1 }, value: {} })],
  ])("in %s (%s) leaves the payment as good as it was", async (method, _, make) => {
    const proof = await world.prove(await world.transfer(await world.sandbox.newBuyer()));
    world.rpc.script(method, make());
    expect(await world.chain.verify(proof, verifyContext())).toMatchObject({ outcome: "unavailable" });
    expect(await world.chain.verify(proof, verifyContext())).toMatchObject({ outcome: "valid" });
  });

  it("in getTransaction or without a time for the block gives a public one no verdict", async () => {
    const signed = await world.transfer(await world.sandbox.newBuyer(), { secret: "no time" });
    await world.broadcast(signed);
    const proof = await world.prove(signed, { secret: secretOf("no time").secret });
    world.rpc.script("getTransaction", fault.resetBefore());
    expect(await world.chain.verify(proof, verifyContext())).toMatchObject({ outcome: "unavailable" });
    expect(await world.chain.verify(proof, verifyContext())).toMatchObject({ outcome: "valid" });
  });

  it("that is behind does not make a stranger of the maker, nor a maker of a stranger", async () => {
    const signed = await world.transfer(await world.sandbox.newBuyer(), { secret: "behind" });
    await world.broadcast(signed);
    const nothing = fault.lie({ context: { slot: 1 }, value: [null] });
    // Its statuses lag, and the simulation knows that the message has run.
    world.rpc.script("getSignatureStatuses", nothing, 2);
    const maker = await verify(signed, { secret: secretOf("behind").secret });
    expect(maker).toMatchObject({ outcome: "unavailable", code: "payment_not_seen" });
    // Nor is who has paid more told to pay once more.
    const more = await world.transfer(await world.sandbox.newBuyer(), { secret: "behind more", lamports: PRICE + 1n });
    await world.broadcast(more);
    world.rpc.script("getSignatureStatuses", nothing, 2);
    const generous = await verify(more, { secret: secretOf("behind more").secret });
    expect(generous).toMatchObject({ outcome: "unavailable", code: "payment_not_seen" });
    world.rpc.script("getSignatureStatuses", nothing, 2);
    const bare = await world.transfer(await world.sandbox.newBuyer());
    await world.broadcast(bare);
    expect(await verify(bare)).toMatchObject({ code: "payment_unreferenced" });
    world.rpc.clear();
  });
});

it("a proof for another network or asset is nobody's verdict", async () => {
  const signed = await world.sign(await world.sandbox.newBuyer(), [memo("x")]);
  const proof = await world.prove(signed);
  const { chain, requirement } = world;
  for (const other of [{ network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp" }, { asset: world.sandbox.usdc }]) {
    const moved = { ...proof, requirement: { ...requirement, ...other } };
    expect(await chain.verify(moved, verifyContext())).toMatchObject({ outcome: "unavailable", code: "misconfigured" });
  }
});
