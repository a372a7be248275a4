import { keccak256, parseEther, parseSignature, toHex } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { fromBytes } from "../../../src/chains/evm/hex.js";
import { readBase64 } from "../../../src/chains/evm/identity.js";
import { writeTransaction } from "../../../src/chains/evm/transaction.js";
import type { TransactionProof } from "../../../src/proof.js";
import { NATIVE } from "../../../src/requirement.js";
import { createTransfers, newSecret, PRICE, signedOf, TOKEN, type Transfers } from "./transfers.js";
import { fault, verifyContext } from "./world.js";

let world: Transfers;
beforeAll(async () => {
  world = await createTransfers();
});
afterAll(() => world.close());
afterEach(async () => {
  world.rpc.clear();
  await world.sandbox.chain.setAutomine(true);
});

const verify = (proof: TransactionProof) => world.chain.verify(proof, verifyContext());
const nowhere = "0x1111111111111111111111111111111111111111";

describe.each([
  ["native currency", NATIVE],
  ["a token without EIP-3009", TOKEN],
])("a transfer of %s that the chain does not know", (_, asset) => {
  const make = async (
    parts: Parameters<Transfers["sign"]>[2] = {},
    shown: Parameters<Transfers["prove"]>[2] = {},
  ): Promise<TransactionProof> => {
    const requirement = world.requirement(asset);
    return world.prove(await world.sign(await world.buyer(), requirement, parts), requirement, shown);
  };

  it("is valid, without a reference and with one whose secret is shown, in both versions", async () => {
    const { secret, reference } = await newSecret();
    for (const version of [1, 2] as const) {
      const plain = await make({}, { version });
      expect(await verify(plain)).toMatchObject({ outcome: "valid", payer: plain.payer });
      expect(await verify(await make({ reference }, { secret, version }))).toMatchObject({ outcome: "valid" });
    }
  });

  it("costs one request to the node", async () => {
    const proof = await make();
    const before = world.rpc.count("eth_chainId");
    await verify(proof);
    expect(world.rpc.count("eth_chainId")).toBe(before + 1);
  });

  it("says what its payer holds, for the limit on open claims", async () => {
    const verification = await verify(await make());
    expect(verification).toMatchObject({ balance: asset === NATIVE ? parseEther("1") : 1_000_000n });
  });

  it("pays nothing with a reference but without its secret, or with another one", async () => {
    const [{ reference }, { secret }] = [await newSecret(), await newSecret()];
    for (const shown of [{}, { secret }]) {
      const verification = await verify(await make({ reference }, shown));
      expect(verification).toMatchObject({ outcome: "invalid", code: "payment_secret_required" });
    }
  });

  it.each([
    ["too little", -1n],
    ["too much", 1n],
  ])("is refused with %s, in the words of its version", async (_, more) => {
    const parts = { amount: PRICE + more };
    const facts = { outcome: "invalid", code: "amount_mismatch", expected: `${PRICE}`, got: `${PRICE + more}` };
    expect(await verify(await make(parts))).toMatchObject(facts);
    const reason = "invalid_exact_evm_payload_authorization_value";
    expect(await verify(await make(parts, { version: 1 }))).toMatchObject({ ...facts, reason });
  });

  it("is refused where it pays somebody else", async () => {
    const requirement = world.requirement(asset);
    const signed = await world.sign(await world.buyer(), { ...requirement, payTo: nowhere });
    expect(await verify(await world.prove(signed, requirement))).toMatchObject({
      outcome: "invalid",
      code: "recipient_mismatch",
      expected: requirement.payTo,
      got: nowhere,
    });
  });

  it("is refused where it moves the other asset, more than one transfer's worth, or calls something else", async () => {
    const requirement = world.requirement(asset);
    const other = world.requirement(asset === NATIVE ? TOKEN : NATIVE);
    const call = await world.sign(await world.buyer(), requirement);
    const wrong = [
      await world.sign(await world.buyer(), other),
      await world.sign(await world.buyer(), requirement, { data: "0x00" }),
      await world.sign(await world.buyer(), requirement, { data: `0x${"00".repeat(68)}` }),
      await world.sign(await world.buyer(), world.requirement(TOKEN), { value: 1n }),
      await world.sign(await world.buyer(), world.requirement(TOKEN), { reference: `0x${"11".repeat(33)}` }),
    ];
    for (const signed of wrong) {
      const verification = await verify(await world.prove(signed, requirement));
      expect(verification).toMatchObject({ outcome: "invalid", code: "offer_mismatch" });
    }
    expect(await verify(await world.prove(call, requirement))).toMatchObject({ outcome: "valid" });
  });

  it("is refused where it is for another chain", async () => {
    expect(await verify(await make({ chainId: 1 }))).toMatchObject({
      outcome: "invalid",
      code: "offer_mismatch",
      expected: "chain id 84532",
      got: "chain id 1",
    });
  });

  it("is refused where its nonce leaves a gap, and the next nonce is said", async () => {
    expect(await verify(await make({ nonce: 2 }))).toMatchObject({
      outcome: "invalid",
      code: "payment_rejected",
      expected: "nonce 0 (the sender's next one)",
      got: "nonce 2",
    });
  });

  it("is refused where another transaction has used its nonce, or waits with it, or before it", async () => {
    const account = await world.buyer();
    const requirement = world.requirement(asset);
    const proof = await world.prove(await world.sign(account, requirement), requirement);
    const rejected = { outcome: "invalid", code: "payment_rejected" };
    const rival = await world.sign(account, requirement, { maxPriorityFeePerGas: 1_000_000_001n });
    await world.sandbox.chain.setAutomine(false);
    await world.submit(rival);
    expect(await verify(proof)).toMatchObject({ ...rejected, got: "nonce 0, with which another transaction waits" });
    const later = await world.prove(await world.sign(account, requirement, { nonce: 1 }), requirement);
    expect(await verify(later)).toMatchObject({ ...rejected, got: "nonce 1 while 1 earlier transactions wait" });
    await world.sandbox.chain.mine();
    const used = { expected: "nonce 1 (the sender's next one)", got: "nonce 0, which another transaction has used" };
    expect(await verify(proof)).toMatchObject({ ...rejected, ...used });
    expect(await verify(later)).toMatchObject({ outcome: "valid" });
  });

  it("is refused where its fee would not outlast the base fee, or its tip is higher than its fee", async () => {
    const head = await world.sandbox.chain.rpc("eth_getBlockByNumber", ["latest", false]);
    const baseFee = BigInt((head as { baseFeePerGas: string }).baseFeePerGas);
    const fees = { maxPriorityFeePerGas: baseFee, maxFeePerGas: baseFee * 2n - 1n };
    expect(await verify(await make(fees))).toMatchObject({
      outcome: "invalid",
      code: "payment_rejected",
      expected: `maxFeePerGas from ${baseFee * 2n} (twice the base fee)`,
    });
    expect(await verify(await make({ ...fees, maxFeePerGas: baseFee * 2n }))).toMatchObject({ outcome: "valid" });
    const proof = await make({});
    const lie = fault.twist((block) => ({ ...(block as object), baseFeePerGas: toHex(baseFee * 100n) }));
    world.rpc.script("eth_getBlockByNumber", lie);
    expect(await verify(proof)).toMatchObject({ outcome: "invalid", code: "payment_rejected" });
  });

  it("is refused with a tip that no block would take, by what the node itself suggests", async () => {
    const rejected = { outcome: "invalid", code: "payment_rejected" };
    for (const [suggested, least] of [
      [3_000_000_001n, 30_000_001n],
      [1n, 1n],
    ] as const) {
      const low = await make({ maxPriorityFeePerGas: least - 1n });
      const enough = await make({ maxPriorityFeePerGas: least });
      world.rpc.script("eth_maxPriorityFeePerGas", fault.lie(toHex(suggested)), 2);
      const expected = `maxPriorityFeePerGas from ${least} (1 % of the usual tip)`;
      expect(await verify(low)).toMatchObject({ ...rejected, expected, got: `${least - 1n}` });
      expect(await verify(enough)).toMatchObject({ outcome: "valid" });
    }
    world.rpc.script("eth_maxPriorityFeePerGas", fault.lie("0x0"));
    expect(await verify(await make({ maxPriorityFeePerGas: 0n }))).toMatchObject({ outcome: "valid" });
  });

  it("is judged by the node's price where the node suggests no tip, and by nobody where it has none", async () => {
    const silent = fault.error(-32601, "the method does not exist");
    const proof = await make({ maxPriorityFeePerGas: 1_000n });
    world.rpc.script("eth_maxPriorityFeePerGas", silent, 3);
    world.rpc.script("eth_gasPrice", fault.lie(toHex(10n ** 12n)));
    expect(await verify(proof)).toMatchObject({ outcome: "invalid", code: "payment_rejected", got: "1000" });
    world.rpc.script("eth_gasPrice", fault.lie("0x1"));
    expect(await verify(proof)).toMatchObject({ outcome: "valid" });
    world.rpc.script("eth_gasPrice", silent);
    expect(await verify(proof)).toMatchObject({ outcome: "unavailable", code: "receiver_bad_response" });
  });

  it("is refused with a tip above its whole fee, which no chain takes", async () => {
    const requirement = world.requirement(asset);
    const account = await world.buyer();
    const { base64 } = await world.sign(account, requirement);
    const read = await readBase64(base64);
    if (!read.ok) throw new Error(read.code);
    const fields = { ...read.transaction, maxPriorityFeePerGas: read.transaction.maxFeePerGas + 1n };
    const { r, s, yParity } = parseSignature(await account.sign({ hash: keccak256(writeTransaction(fields)) }));
    const raw = fromBytes(writeTransaction(fields, { r: BigInt(r), s: BigInt(s), yParity: BigInt(yParity) }));
    expect(await verify(await world.prove(signedOf(raw, 0), requirement))).toMatchObject({
      outcome: "invalid",
      code: "payment_rejected",
      expected: "maxPriorityFeePerGas up to maxFeePerGas",
    });
  });

  it("is refused where its payer cannot pay for the value and all the gas", async () => {
    const account = await world.buyer();
    const requirement = world.requirement(asset);
    const proof = await world.prove(await world.sign(account, requirement), requirement);
    await world.sandbox.chain.rpc("anvil_setBalance", [account.address, toHex(PRICE)]);
    expect(await verify(proof)).toMatchObject({ outcome: "invalid", code: "insufficient_funds" });
  });

  it("is refused where its gas is too little", async () => {
    for (const gas of [20_999n, ...(asset === NATIVE ? [] : [25_000n])]) {
      const rejected = { outcome: "invalid", code: "payment_rejected", got: `${gas}` };
      expect(await verify(await make({ gas }))).toMatchObject(rejected);
    }
    const { secret, reference } = await newSecret();
    const short = await make({ gas: 21_100n, reference }, { secret });
    expect(await verify(short)).toMatchObject({ outcome: "invalid", code: "payment_rejected" });
  });

  it("is nobody's fault where the node fails, lies, or cannot be reached", async () => {
    const proof = await make();
    const bad = { outcome: "unavailable", code: "receiver_bad_response" };
    const lies: readonly [method: string, lie: unknown][] = [
      ["eth_getTransactionByHash", "0x"],
      ["eth_getTransactionByHash", { hash: `0x${"11".repeat(32)}`, type: "0x2" }],
      ["eth_getTransactionCount", null],
      ["eth_maxPriorityFeePerGas", "a little"],
      ["eth_getBlockByNumber", { number: "0x1", timestamp: "0x1" }],
      ["eth_getBalance", "much"],
      ["eth_estimateGas", "0x"],
      ["eth_call", null],
    ];
    for (const [method, lie] of lies) {
      world.rpc.script(method, fault.lie(lie));
      world.rpc.script("eth_gasPrice", fault.lie(null));
      expect(await verify(proof), method).toMatchObject(bad);
    }
    world.rpc.script("eth_call", fault.error(-32000, "the state is pruned"));
    expect(await verify(proof)).toMatchObject(bad);
    world.rpc.script("eth_chainId", fault.resetBefore());
    expect(await verify(proof)).toMatchObject({ outcome: "unavailable", code: "receiver_unreachable" });
    world.rpc.script("eth_chainId", fault.wrongChain(1));
    expect(await verify(proof)).toMatchObject(bad);
    expect(await verify(proof)).toMatchObject({ outcome: "valid" });
  });
});

describe("a token's own transfer", () => {
  it("is refused where its payer holds too few, or the token answers false instead of reverting", async () => {
    const requirement = world.requirement(TOKEN);
    const account = await world.buyer();
    const proof = await world.prove(await world.sign(account, requirement), requirement);
    await world.setTokenMode("answers-false");
    const verification = await verify(proof);
    await world.setTokenMode("plain");
    expect(verification).toMatchObject({ code: "simulation_failed", got: expect.stringContaining("false") });
    await world.setTokenBalance(account.address, PRICE - 1n);
    expect(await verify(proof)).toMatchObject({
      code: "insufficient_funds",
      expected: `${PRICE}`,
      got: `${PRICE - 1n}`,
    });
  });

  it("is refused with the token's own words where it would revert", async () => {
    const { token } = world.sandbox;
    const requirement = world.requirement(token.address);
    const account = await world.buyer();
    await token.setBalances([account.address], PRICE);
    const proof = await world.prove(await world.sign(account, requirement), requirement);
    expect(await verify(proof)).toMatchObject({ outcome: "valid" });
    await token.setPaused(true);
    const verification = await verify(proof);
    await token.setPaused(false);
    expect(verification).toMatchObject({ outcome: "invalid", code: "simulation_failed", got: "Pausable: paused" });
  });
});

describe("native currency for a payee that is a contract", () => {
  it("is refused where the contract does not take it", async () => {
    const payTo = "0x2222222222222222222222222222222222222222";
    await world.sandbox.chain.rpc("anvil_setCode", [payTo, "0x60006000fd"]);
    const requirement = world.requirement(NATIVE, { payTo });
    const proof = await world.prove(await world.sign(await world.buyer(), requirement), requirement);
    expect(await verify(proof)).toMatchObject({ outcome: "invalid", code: "simulation_failed" });
  });
});

describe("a proof for another chain or method than this one", () => {
  it("is the seller's mistake", async () => {
    const requirement = world.requirement();
    const proof = await world.prove(await world.sign(await world.buyer(), requirement), requirement);
    const elsewhere = { ...proof, requirement: { ...requirement, network: "eip155:1" } };
    expect(await verify(elsewhere)).toMatchObject({ outcome: "unavailable", code: "misconfigured" });
  });
});
