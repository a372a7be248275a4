// Token payments for a seller's offer on the real chain: they pass our own static rules and our own receiver, settle once,
// and are not made where the offer or the wallet cannot carry them.
import { Keypair, PublicKey } from "@solana/web3.js";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { identifyTransaction } from "../../../src/chains/solana/identity.js";
import { lookupOnSolana } from "../../../src/chains/solana/lookup.js";
import { createSolanaRpc, type SolanaRpc } from "../../../src/chains/solana/rpc.js";
import { DEFAULT_CAPS } from "../../../src/chains/solana/terms.js";
import { createTokenPayment, type TokenOffer } from "../../../src/chains/solana/token-payment.js";
import { decodeTransaction } from "../../../src/chains/solana/transaction.js";
import { createSolanaSigner } from "../../../src/chains/solana/transfer-signer.js";
import { verifyStatic } from "../../../src/chains/solana/verify-static.js";
import { isTransaction } from "../../../src/identify.js";
import { bindTransaction, decodeProof } from "../../../src/proof.js";
import type { Trace } from "../../../src/receive/receiver.js";
import { toBase58 } from "../../../src/testing/solana/encoding.js";
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../../src/testing/solana/programs.js";
import { createWorld, fault, PRICE, settleContext, verifyContext, type World } from "./world.js";

let world: World;
let rpc: SolanaRpc;
beforeAll(async () => {
  world = await createWorld();
  rpc = createSolanaRpc({ urls: [world.rpc.url], network: world.sandbox.caip2 });
});
afterEach(() => world.rpc.clear());
afterAll(async () => {
  rpc.close();
  await world.close();
});

const signerOf = (wallet: Keypair) => createSolanaSigner(toBase58(wallet.secretKey));
const offerOf = (parts: Partial<TokenOffer> = {}): TokenOffer => ({
  feePayer: world.sandbox.feePayer.publicKey.toBase58(),
  mint: world.sandbox.usdc,
  decimals: 6,
  amount: PRICE,
  payTo: world.sandbox.payTo,
  ...parts,
});
const terms = ({ memo, ...offer }: TokenOffer) => ({
  network: world.sandbox.caip2,
  ...offer,
  ...(typeof memo === "string" && { memo }),
  ourSigners: [offer.feePayer],
  ...DEFAULT_CAPS,
});

async function paid(offer = offerOf(), wallet?: Keypair) {
  const signer = signerOf(wallet ?? (await world.sandbox.newBuyer()));
  const payment = await createTokenPayment(rpc, offer, signer);
  if (!payment.ok) throw new Error(`${payment.code}: ${payment.message}`);
  return payment;
}
const codeOf = async (offer: TokenOffer, wallet?: Keypair) => {
  const payment = await createTokenPayment(rpc, offer, signerOf(wallet ?? (await world.sandbox.newBuyer())));
  return payment.ok ? "ok" : `${payment.code} ${payment.message}`;
};

/** As its seller's paywall reads it. */
async function prove(transaction: string) {
  const { requirement } = world;
  const accepted = { ...requirement, amount: `${requirement.amount}`, extra: { ...requirement.extra } };
  const value = Buffer.from(JSON.stringify({ x402Version: 2, accepted, payload: { transaction } })).toString("base64");
  const decoded = decodeProof({ v1: undefined, v2: value, idempotencyKey: undefined });
  if (!decoded.ok || !isTransaction(decoded.proof)) throw new Error("the proof cannot be read");
  const identity = await identifyTransaction({ transaction });
  if (!identity.ok) throw new Error(identity.code);
  const validBefore = Math.ceil(Date.now() / 1000) + 900;
  return { ...(await bindTransaction(decoded.proof, requirement, identity, validBefore)), requirement };
}

describe("a token payment", () => {
  it("keeps every static rule, has its seller's slot empty and is known by what it says", async () => {
    const offer = offerOf();
    const payment = await paid(offer);
    expect(await verifyStatic(payment.transaction, terms(offer))).toMatchObject({
      ok: true,
      payer: payment.payer,
      amount: PRICE,
      messageHash: payment.messageHash,
      feeLamports: 10_001n,
    });
    const decoded = decodeTransaction(payment.transaction);
    expect(decoded.ok && decoded.transaction.signatures[0]).toEqual(new Uint8Array(64));
    expect(await identifyTransaction({ transaction: payment.transaction })).toMatchObject({
      ok: true,
      key: payment.messageHash,
      payer: payment.payer,
    });
  });

  it("moves nothing until its seller settles it, and then the price, once; its trace finds it", async () => {
    const wallet = await world.sandbox.newBuyer();
    const payment = await paid(offerOf(), wallet);
    const trace: Trace = {
      proofId: "",
      network: world.sandbox.caip2,
      asset: world.sandbox.usdc,
      payer: payment.payer,
      payTo: world.sandbox.payTo,
      amount: `${PRICE}`,
      method: "spl",
      nonce: payment.messageHash,
      validBefore: Math.ceil(Date.now() / 1000) + 60,
      transaction: null,
      expiry: payment.expiry,
      received: null,
    };
    const look = () => lookupOnSolana({ rpc }, trace, AbortSignal.timeout(5_000));
    expect(await look()).toMatchObject({ outcome: "unknown" });
    const proof = await prove(payment.transaction);
    expect(await world.chain.verify(proof, verifyContext())).toMatchObject({ outcome: "valid", payer: payment.payer });
    const settled = await world.chain.settle(proof, settleContext());
    expect(settled).toMatchObject({ outcome: "settled", payer: payment.payer });
    expect(await world.sandbox.token.transfers({ from: payment.payer })).toHaveLength(1);
    expect(await look()).toMatchObject({
      outcome: "settled",
      transaction: settled.outcome === "settled" && settled.transaction,
    });
  });

  it("carries the seller's memo as it stands, up to 256 bytes, and pays for the units that takes", async () => {
    for (const memo of ["order 7", "ünïcode ☃", "m".repeat(256)]) {
      const offer = offerOf({ memo });
      const { transaction } = await paid(offer);
      expect(await verifyStatic(transaction, terms(offer)), memo).toMatchObject({ ok: true });
    }
    expect(await codeOf(offerOf({ memo: "m".repeat(257) }))).toMatch(/^offer_invalid .*256 bytes, got 257/);
  });

  it("is another one each time, also for the same offer", async () => {
    const wallet = await world.sandbox.newBuyer();
    const [one, two] = [await paid(offerOf(), wallet), await paid(offerOf(), wallet)];
    expect(one.messageHash).not.toBe(two.messageHash);
  });

  it("has three instructions and no memo where facilitators of x402 1.x are to take it, and is another one each time all the same", async () => {
    const [wallet, offer] = [await world.sandbox.newBuyer(), offerOf({ memo: null })];
    const payments: Awaited<ReturnType<typeof paid>>[] = [];
    // Ten at a time: the chain works in this process, and a node is not waited for longer than three seconds.
    while (payments.length < 100) {
      payments.push(...(await Promise.all(Array.from({ length: 10 }, () => paid(offer, wallet)))));
    }
    expect(new Set(payments.map(({ messageHash }) => messageHash)).size).toBe(100);
    for (const { transaction } of payments) {
      const decoded = decodeTransaction(transaction);
      expect(decoded.ok && decoded.transaction.instructions).toHaveLength(3);
      expect(await verifyStatic(transaction, terms(offer))).toMatchObject({ ok: true, amount: PRICE });
    }
  });

  it("of Token-2022 is made as well", async () => {
    const { chain, payTo } = world.sandbox;
    const wallet = await world.sandbox.newBuyer();
    const mint = chain.createMint({ token2022: true });
    chain.mintTo(mint, wallet.publicKey.toBase58(), PRICE);
    chain.mintTo(mint, payTo, 0n);
    const offer = offerOf({ mint, tokenProgram: TOKEN_2022_PROGRAM });
    const { transaction } = await paid(offer, wallet);
    expect(await verifyStatic(transaction, terms(offer))).toMatchObject({ ok: true, tokenProgram: TOKEN_2022_PROGRAM });
  });
});

describe("no token payment is made", () => {
  it.each([
    ["feePayer must be", { feePayer: "x" }],
    ["mint must be", { mint: "x" }],
    ["payTo must be", { payTo: "0x0000000000000000000000000000000000000001" }],
    ["one of the two token programs", { tokenProgram: "11111111111111111111111111111111" }],
    ["above 0", { amount: 0n }],
    ["64 bits", { amount: 2n ** 64n }],
    ["decimals", { decimals: 1.5 }],
  ])("for an offer that is none: %s", async (words, parts) => {
    const calls = world.rpc.count();
    expect(await codeOf(offerOf(parts))).toMatch(new RegExp(`^offer_invalid .*${words}`));
    expect(world.rpc.count()).toBe(calls);
  });

  it("where the wallet would pay itself, or the network fee of its own payment", async () => {
    const wallet = await world.sandbox.newBuyer();
    const own = wallet.publicKey.toBase58();
    expect(await codeOf(offerOf({ feePayer: own }), wallet)).toMatch(/^offer_invalid the fee payer/);
    expect(await codeOf(offerOf({ payTo: own }), wallet)).toMatch(/^offer_invalid the seller/);
  });

  it("where the wallet has too little, or the seller no account", async () => {
    const wallet = await world.sandbox.newBuyer({ balance: PRICE - 1n });
    expect(await codeOf(offerOf(), wallet)).toMatch(/^insufficient_funds expected 10000 .* holds 9999$/);
    expect(await codeOf(offerOf({ payTo: Keypair.generate().publicKey.toBase58() }))).toMatch(/^recipient_invalid/);
  });

  it("where the seller's account is frozen", async () => {
    const { chain, usdc, connection } = world.sandbox;
    const payTo = Keypair.generate().publicKey;
    const address = chain.mintTo(usdc, payTo.toBase58(), 0n);
    const account = await connection("processed").getAccountInfo(new PublicKey(address));
    const data = new Uint8Array(account!.data);
    data[108] = 2;
    chain.setAccount(address, { data, lamports: 10n ** 7n, owner: TOKEN_PROGRAM, executable: false });
    expect(await codeOf(offerOf({ payTo: payTo.toBase58() }))).toMatch(/^recipient_invalid/);
  });

  it("where the chain would refuse it: a fee payer without SOL, decimals that are others", async () => {
    const poor = Keypair.generate().publicKey.toBase58();
    expect(await codeOf(offerOf({ feePayer: poor }))).toMatch(/^offer_invalid the chain would refuse the payment/);
    expect(await codeOf(offerOf({ decimals: 9 }))).toMatch(/^offer_invalid the chain would refuse the payment/);
  });

  it("where the chain cannot be asked", async () => {
    for (const method of ["getLatestBlockhash", "getMultipleAccounts", "simulateTransaction"]) {
      world.rpc.script(method, fault.resetBefore());
      expect(await codeOf(offerOf()), method).toMatch(/^receiver_unreachable/);
      world.rpc.clear();
    }
  });

  it("by a signer that signs with another key than its address says", async () => {
    const wallet = await world.sandbox.newBuyer();
    const impostor = { ...signerOf(Keypair.generate()), address: wallet.publicKey.toBase58() };
    await expect(createTokenPayment(rpc, offerOf(), impostor)).rejects.toThrow(/not one of/);
  });
});
