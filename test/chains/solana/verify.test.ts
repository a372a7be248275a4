// Verification on the real chain: which payments are good, and for each refusal our code and the protocol's word in both of
// its versions. Nothing here changes the chain, and a node that cannot be asked has given no verdict.
import { createApproveInstruction } from "@solana/spl-token";
import { Keypair, SystemProgram } from "@solana/web3.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SplRequirement } from "../../../src/requirement.js";
import { associatedAccount, TOKEN_2022_PROGRAM } from "../../../src/testing/solana/programs.js";
import type { SolanaSandbox } from "../../../src/testing/solana/sandbox.js";
import { confirmed, latestBlockhash } from "../../../src/testing/solana/wallet-node.js";
import { sign } from "./native-payment.js";
import { ata, call, limit, MEMO, price } from "./payment.js";
import { createWorld, fault, PRICE, type ProofOptions, settleContext, verifyContext, type World } from "./world.js";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

const verify = async (options: ProofOptions = {}, chain = world.chain) =>
  chain.verify(await world.proof(options), verifyContext());

/** The delegate may spend of what is the owner's. */
async function approve({ rpcUrl, connection }: SolanaSandbox, owner: Keypair, { publicKey }: Keypair): Promise<void> {
  const allow = createApproveInstruction(ata(owner.publicKey), publicKey, owner.publicKey, 2n * PRICE);
  const signed = sign(owner, [allow], { blockhash: await latestBlockhash(rpcUrl) });
  const id = await connection().sendRawTransaction(signed.serialize(), { skipPreflight: true });
  await confirmed(rpcUrl, id);
}

const stranger = Keypair.generate();
const V1 = "invalid_exact_svm_payload_transaction";
const V2 = "invalid_exact_svm_payload";

/** What a dishonest or clumsy buyer sends, our code for it, and the words of v2 and v1. */
const WRONG: Record<string, readonly [ProofOptions, string, string, string]> = {
  "one unit less": [
    { move: { amount: PRICE - 1n } },
    "amount_mismatch",
    `${V2}_amount_mismatch`,
    `${V1}_amount_mismatch`,
  ],
  "one unit more": [
    { move: { amount: PRICE + 1n } },
    "amount_mismatch",
    `${V2}_amount_mismatch`,
    `${V1}_amount_mismatch`,
  ],
  "money for somebody else": [
    { move: { destination: ata(stranger.publicKey).toBase58() } },
    "recipient_mismatch",
    `${V2}_recipient_mismatch`,
    `${V1}_transfer_to_incorrect_ata`,
  ],
  "a price of 5,000,001 for each unit": [
    { unitPrice: 5_000_001n },
    "payment_rejected",
    `${V2}_transaction_instructions_compute_price_instruction_too_high`,
    `${V1}_instructions_compute_price_instruction_too_high`,
  ],
  "a limit of 200,001 units": [
    { units: 200_001 },
    "payment_rejected",
    `${V2}_transaction_instructions_compute_limit_instruction_too_high`,
    `${V1}_instructions_compute_limit_instruction`,
  ],
  "a fee above 20,000 lamports in all": [
    { units: 200_000, unitPrice: 50_001n },
    "payment_rejected",
    `${V2}_transaction_instructions_compute_price_instruction_too_high`,
    `${V1}_instructions_compute_price_instruction_too_high`,
  ],
  "no compute limit": [
    { change: ([, ...rest]) => [call(MEMO, Buffer.from("x")), ...rest] },
    "payment_rejected",
    `${V2}_transaction_instructions_compute_limit_instruction`,
    `${V1}_instructions_compute_limit_instruction`,
  ],
  "another program in fourth place": [
    { change: (built) => [...built.slice(0, 3), call(SystemProgram.programId, Buffer.from([4, 0, 0, 0]))] },
    "payment_rejected",
    `${V2}_unknown_fourth_instruction`,
    `${V1}_instructions`,
  ],
  "eight instructions": [
    { change: (built) => [...built.slice(0, 3), ...Array.from({ length: 5 }, () => call(MEMO, Buffer.from("x")))] },
    "payment_rejected",
    `${V2}_transaction_instructions_length`,
    `${V1}_instructions_length`,
  ],
  "the order of its instructions changed": [
    { change: ([one, two, ...rest]) => [two!, one!, ...rest] },
    "payment_rejected",
    `${V2}_transaction_instructions_compute_limit_instruction`,
    `${V1}_instructions_compute_limit_instruction`,
  ],
  "only compute budget": [
    { change: () => [limit(1), price(1n), limit(2)] },
    "signature_invalid",
    `${V2}_signature_invalid`,
    V1,
  ],
};

describe("a payment with", () => {
  it.each(Object.entries(WRONG))("%s is refused in the words of both versions", async (_, [options, code, v2, v1]) => {
    expect(await verify({ ...options, version: 2 })).toMatchObject({ outcome: "invalid", code, reason: v2 });
    expect(await verify({ ...options, version: 1 })).toMatchObject({ outcome: "invalid", code, reason: v1 });
    const settlement = await world.chain.settle(await world.proof(options), settleContext());
    expect(settlement).toMatchObject({ outcome: "refused", code });
  });

  it("another fee payer than ours is no payment for the offer", async () => {
    const feePayer = stranger.publicKey.toBase58();
    expect(await verify({ feePayer })).toMatchObject({ outcome: "invalid", code: "offer_mismatch", got: feePayer });
  });

  it("the fee payer as the one whose tokens move is refused, though he has tokens", async () => {
    const { sandbox } = world;
    const feePayer = sandbox.feePayer.publicKey;
    sandbox.chain.mintTo(sandbox.usdc, feePayer.toBase58(), PRICE);
    const move = { source: ata(feePayer).toBase58() };
    const reason = `${V2}_transaction_fee_payer_transferring_funds`;
    expect(await verify({ move })).toMatchObject({ code: "payment_rejected", reason });
    expect(await verify({ move: { ...move, authority: feePayer.toBase58() } })).toMatchObject({ outcome: "invalid" });
  });

  it("a signature of another wallet is refused before anything is asked", async () => {
    const { rpc, chain } = world;
    const proof = await world.proof();
    const bytes = Buffer.from(proof.transaction, "base64");
    bytes[70]! ^= 1;
    const asked = rpc.count();
    const bent = { ...proof, transaction: bytes.toString("base64") };
    expect(await chain.verify(bent, verifyContext())).toMatchObject({ outcome: "invalid", code: "signature_invalid" });
    expect(rpc.count()).toBe(asked);
  });

  it("a new token account at our cost is refused: 100 fresh wallets, none created, no lamport spent (A27)", async () => {
    const { sandbox, rpc } = world;
    const feePayer = sandbox.feePayer.publicKey;
    const before = sandbox.chain.lamports(feePayer.toBase58());
    const sends = rpc.count("sendTransaction");
    const wallets = await sandbox.newBuyers(100, { balance: PRICE });
    for (const wallet of wallets) {
      const owner = Keypair.generate().publicKey;
      const { createAssociatedTokenAccountInstruction: create } = await import("@solana/spl-token");
      const { PublicKey } = await import("@solana/web3.js");
      const open = create(feePayer, ata(owner), owner, new PublicKey(sandbox.usdc));
      const proof = await world.proof({ wallet, change: (built) => [...built.slice(0, 3), open] });
      const settlement = await world.chain.settle(proof, settleContext());
      expect(settlement).toMatchObject({ outcome: "refused", code: "payment_rejected" });
      expect(sandbox.chain.tokens(sandbox.usdc, owner.toBase58())).toBe(0n);
    }
    expect(rpc.count("sendTransaction")).toBe(sends);
    expect(sandbox.chain.lamports(feePayer.toBase58())).toBe(before);
  });
});

describe("the chain says", () => {
  it("how much the payer holds", async () => {
    const wallet = await world.sandbox.newBuyer({ balance: PRICE });
    expect(await verify({ wallet })).toMatchObject({ outcome: "valid", balance: PRICE });
  });

  it("too little, with both amounts; and nothing at all where there is no account", async () => {
    const { sandbox } = world;
    const poor = await sandbox.newBuyer({ balance: PRICE - 1n });
    expect(await verify({ wallet: poor })).toEqual({
      outcome: "invalid",
      code: "insufficient_funds",
      reason: "insufficient_funds",
      expected: "10000",
      got: "9999",
    });
    const none = await verify({ wallet: Keypair.generate(), version: 1 });
    expect(none).toMatchObject({ code: "insufficient_funds", reason: `${V1}_sender_ata_not_found` });
  });

  it("that the authority has no right to the money", async () => {
    const { sandbox } = world;
    const victim = await sandbox.newBuyer();
    const thief = await sandbox.newBuyer();
    const proof = { wallet: thief, move: { source: ata(victim.publicKey).toBase58() } };
    expect(await verify(proof)).toMatchObject({
      outcome: "invalid",
      code: "simulation_failed",
      reason: "invalid_exact_svm_transaction_simulation_failed",
      got: '{"InstructionError":[2,{"Custom":4}]}',
    });
  });

  it("that all is well, and still the money must be the payer's own: delegates are refused in words of their own", async () => {
    const { sandbox, rpc } = world;
    const [owner, delegate] = [await sandbox.newBuyer(), Keypair.generate()];
    await approve(sandbox, owner, delegate);
    const proof = { wallet: delegate, move: { source: ata(owner.publicKey).toBase58() } };
    const refused = {
      code: "payment_rejected",
      expected: `an account of ${delegate.publicKey.toBase58()}, who signs`,
      got: `${ata(owner.publicKey).toBase58()}, which is ${owner.publicKey.toBase58()}'s`,
    };
    const word = `${V2}_source_not_owned`;
    expect(await verify(proof)).toEqual({ outcome: "invalid", ...refused, reason: word });
    expect(await verify({ ...proof, version: 1 })).toEqual({ outcome: "invalid", ...refused, reason: V1 });
    const sent = rpc.count("sendTransaction");
    const settlement = await world.chain.settle(await world.proof(proof), settleContext());
    expect(settlement).toEqual({ outcome: "refused", code: refused.code, reason: word });
    expect(rpc.count("sendTransaction")).toBe(sent);
  });

  it("nothing, and then there is no verdict", async () => {
    const { rpc, chain } = world;
    const proof = await world.proof();
    const result = { context: { slot: 1 }, value: { err: null, accounts: [null, null] } };
    const faults = [
      fault.resetBefore(),
      fault.hang(),
      fault.html(),
      fault.tooMany(),
      fault.status(401),
      fault.error(-32005, "Node is behind by 42 slots"),
      fault.lie(null),
      fault.lie(result),
      fault.lie({ ...result, value: { accounts: [null, null] } }),
      fault.lie({ ...result, value: { err: null, accounts: null } }),
    ];
    for (const next of faults) {
      rpc.script("simulateTransaction", next);
      expect(await chain.verify(proof, verifyContext())).toMatchObject({ outcome: "unavailable" });
      rpc.clear();
    }
    expect(await chain.verify(proof, verifyContext())).toMatchObject({ outcome: "valid" });
  });

  it("that the settler has no SOL: the seller's fault, logged with address and balance, no verdict on the payment", async () => {
    const { sandbox } = world;
    const poor = Keypair.generate();
    const address = poor.publicKey.toBase58();
    sandbox.chain.airdrop(address, 900_000n);
    const lines: unknown[] = [];
    const log = (...line: unknown[]) => void lines.push(line);
    const { toSolanaAccount } = await import("../../../src/chains/solana/settlers.js");
    const settlers = [toSolanaAccount(Buffer.from(poor.secretKey.slice(0, 32)).toString("hex"))];
    const chain = await world.open({ settlers, logger: { debug: log, info: log, warn: log, error: log } });
    const requirement = { ...world.requirement, extra: { ...world.requirement.extra, feePayer: address } };
    const proof = await world.proof({ requirement });
    expect(await chain.verify(proof, verifyContext())).toMatchObject({ code: "settlement_unavailable" });
    expect(await chain.settle(proof, settleContext())).toMatchObject({ outcome: "unavailable" });
    expect(JSON.stringify(lines)).toContain(`"settler":"${address}","balance":"900000"`);
  });

  it("that the seller's account is gone: the seller's fault", async () => {
    const payTo = Keypair.generate().publicKey.toBase58();
    const requirement = { ...world.requirement, payTo };
    expect(await verify({ requirement })).toMatchObject({
      outcome: "unavailable",
      code: "misconfigured",
      message: expect.stringMatching(/does not exist/),
    });
  });

  it("nothing about an offer whose fee payer is none of ours: that is the seller's fault", async () => {
    const extra = { ...world.requirement.extra, feePayer: stranger.publicKey.toBase58() };
    const requirement = { ...world.requirement, extra };
    expect(await verify({ requirement })).toMatchObject({ outcome: "unavailable", code: "misconfigured" });
  });
});

describe("a token of Token-2022", () => {
  function offer(mint: string): SplRequirement {
    return {
      ...world.requirement,
      asset: mint,
      extra: { ...world.requirement.extra, tokenProgram: TOKEN_2022_PROGRAM },
    };
  }

  it("is paid like any other, to the account that its own program derives", async () => {
    const { chain } = world.sandbox;
    const mint = chain.createMint({ token2022: true });
    chain.mintTo(mint, world.sandbox.payTo, 0n);
    const wallet = await world.sandbox.newBuyer();
    const payer = wallet.publicKey.toBase58();
    chain.mintTo(mint, payer, PRICE);
    const proof = await world.proof({ wallet, requirement: offer(mint) });
    expect(await world.chain.verify(proof, verifyContext())).toEqual({ outcome: "valid", payer, balance: PRICE });
    expect(await world.chain.settle(proof, settleContext())).toMatchObject({ outcome: "settled" });
    expect(chain.tokens(mint, world.sandbox.payTo)).toBe(PRICE);
  });

  it("is not paid by the classic program, nor USDC by this one", async () => {
    const classic = { tokenProgram: TOKEN_2022_PROGRAM };
    const source = (owner: Keypair) =>
      associatedAccount(owner.publicKey.toBase58(), world.sandbox.usdc, TOKEN_2022_PROGRAM);
    const wallet = await world.sandbox.newBuyer();
    const reason = `${V2}_no_transfer_instruction`;
    expect(await verify({ wallet, move: { ...classic, source: source(wallet) } })).toMatchObject({ reason });
  });

  it("that begins to keep back a fee is no longer taken, unless the seller has accepted that", async () => {
    const { chain } = world.sandbox;
    const mint = chain.createMint({ token2022: true, transferFeeBps: 100 });
    chain.mintTo(mint, world.sandbox.payTo, 0n);
    const wallet = await world.sandbox.newBuyer();
    chain.mintTo(mint, wallet.publicKey.toBase58(), PRICE);
    const paid = { wallet, requirement: offer(mint) };
    expect(await verify(paid)).toMatchObject({ outcome: "unavailable", code: "misconfigured" });
    const tokens = [{ address: mint, allow: ["transfer-fee" as const] }];
    const open = await world.open({ options: { tokens } });
    expect(await verify(paid, open)).toMatchObject({ outcome: "valid" });
  });
});
