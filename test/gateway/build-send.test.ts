// POST /transaction/send: what is built, for whom, and that it is exactly what the caller wanted to sign.
import { createHash } from "node:crypto";
import { Keypair, SystemProgram, VersionedTransaction } from "@solana/web3.js";
import { type Hex, parseTransaction } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { estimatedConfirmation } from "../../src/gateway/build/send.js";
import type { BuildAnswer, BuildSendRequest } from "../../src/gateway/schemas/index.js";
import { findNetwork } from "../../src/networks.js";
import { createSandbox, createSolanaSandbox, type Sandbox, type SolanaSandbox } from "../../src/testing/index.js";
import {
  answerOf,
  bytesOf,
  DATABASES,
  faultOf,
  idempotencyOf,
  openWatching,
  reasonAgainst,
  stopPostgres,
} from "./watching.js";

let evm: Sandbox;
let solana: SolanaSandbox;
beforeAll(async () => {
  [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
});
afterAll(async () => {
  await Promise.all([evm.close(), solana.close(), stopPostgres()]);
});

const RECIPIENT = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";

async function evmRequest(more: Partial<BuildSendRequest> = {}): Promise<BuildSendRequest> {
  const buyer = await evm.newBuyer();
  await evm.native.setBalances([buyer.address], 10n ** 18n);
  return { walletAddress: buyer.address, recipientAddress: RECIPIENT, amount: 0.01, ...more };
}

async function solanaRequest(more: Partial<BuildSendRequest> = {}): Promise<BuildSendRequest> {
  const buyer = await solana.newBuyer();
  return { walletAddress: buyer.publicKey.toBase58(), recipientAddress: solana.seller, amount: 0.25, ...more };
}

const parse = (answer: BuildAnswer) => parseTransaction(`0x${bytesOf(answer).toString("hex")}` as Hex);
const referenceOf = ({ secret }: BuildAnswer) =>
  createHash("sha256")
    .update(Buffer.from((secret ?? "").slice(2), "hex"))
    .digest("hex");

describe.each(DATABASES)("POST /transaction/send on %s", (database) => {
  const skip = () => reasonAgainst(database) !== undefined;

  it.skipIf(skip())("EVM: the serialized unsigned EIP-1559 transfer, its reference in the calldata", async () => {
    const world = await openWatching({ database, evm });
    const request = await evmRequest({ resource: "https://shop.example/a", metadata: { order: 7 } });
    const answer = answerOf(await world.buildSend(world.caller(), request));
    const transaction = parse(answer);
    expect(transaction).toMatchObject({
      type: "eip1559",
      chainId: 84532,
      to: RECIPIENT.toLowerCase(),
      value: 10n ** 16n,
      data: `0x${referenceOf(answer)}`,
    });
    expect([transaction.r, transaction.s]).toEqual([undefined, undefined]);
    expect(answer).toMatchObject({
      success: true,
      status: "created",
      signatureRequired: true,
      network: "eip155:84532",
      asset: "ETH",
      amount: 0.01,
      amountAtomic: "10000000000000000",
      sender: request.walletAddress,
      recipient: RECIPIENT,
    });
    expect(answer.paymentId).toMatch(/^pay_[1-9A-HJ-NP-Za-km-z]{22}$/);
    const payment = await world.payment(answer.paymentId);
    expect(payment).toMatchObject({
      account: world.account,
      mode: "test",
      type: "sent",
      flow: "build_send",
      resource: "https://shop.example/a",
      metadata: { order: 7 },
      wallet: null,
      sealed: null,
      // What it may cost at most is not what the chain took.
      fee: null,
    });
  });

  it.skipIf(skip())(
    "Solana: a v0 message without signatures, with compute budget and the reference as memo",
    async () => {
      const world = await openWatching({ database, solana });
      const request = await solanaRequest();
      const answer = answerOf(await world.buildSend(world.caller(), request));
      const { message, signatures } = VersionedTransaction.deserialize(bytesOf(answer));
      expect(message.version).toBe(0);
      expect(signatures.map((one) => [...one].every((byte) => byte === 0))).toEqual([true]);
      const programs = message.compiledInstructions.map(({ programIdIndex }) =>
        message.staticAccountKeys[programIdIndex]?.toBase58(),
      );
      expect(programs).toContain(SystemProgram.programId.toBase58());
      expect(programs.filter((program) => program?.startsWith("ComputeBudget"))).toHaveLength(2);
      const memo = message.compiledInstructions[programs.findIndex((program) => program?.startsWith("Memo"))];
      expect(Buffer.from(memo?.data ?? []).toString()).toContain(referenceOf(answer));
      expect(answer).toMatchObject({ asset: "SOL", amount: 0.25, amountAtomic: "250000000", signatureRequired: true });
    },
  );
});

describe("the unsigned transaction", () => {
  it("lastValidBlockHeight: on EVM the current block and what 60 seconds hold", async () => {
    const world = await openWatching({ evm });
    const height = Number(await evm.chain.rpc("eth_blockNumber"));
    const answer = answerOf(await world.buildSend(world.caller(), await evmRequest()));
    expect(answer.lastValidBlockHeight).toBe(height + 30);
  });

  it("lastValidBlockHeight: on Solana that of its blockhash", async () => {
    const world = await openWatching({ solana });
    const before = await solana.connection().getLatestBlockhash();
    const answer = answerOf(await world.buildSend(world.caller(), await solanaRequest()));
    expect(answer.lastValidBlockHeight).toBeGreaterThanOrEqual(before.lastValidBlockHeight);
    expect(answer.lastValidBlockHeight).toBeLessThanOrEqual(before.lastValidBlockHeight + 150);
  });

  it.each(["evm", "solana"] as const)("expiresAt: Unix seconds, 60 seconds after it is built (%s)", async (family) => {
    const world = await openWatching(family === "evm" ? { evm } : { solana });
    const began = Math.floor(Date.now() / 1000);
    const request = family === "evm" ? await evmRequest() : await solanaRequest();
    const { expiresAt } = answerOf(await world.buildSend(world.caller(), request));
    expect(expiresAt).toBeGreaterThanOrEqual(began + 55);
    expect(expiresAt).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000) + 60);
  });

  it("secret: 32 random bytes, another one each time", async () => {
    const world = await openWatching({ evm });
    const request = await evmRequest();
    const answers = await Promise.all([1, 2].map(async () => answerOf(await world.buildSend(world.caller(), request))));
    for (const { secret } of answers) expect(secret).toMatch(/^0x[0-9a-f]{64}$/);
    expect(answers[0]?.secret).not.toBe(answers[1]?.secret);
  });

  it("moves a token where the request names one", async () => {
    const world = await openWatching({ evm, solana });
    const answer = answerOf(await world.buildSend(world.caller(), await evmRequest({ asset: "USDC", amount: "1.25" })));
    expect(answer).toMatchObject({ asset: evm.token.address, amount: 1.25, amountAtomic: "1250000" });
    expect(parse(answer).to).toBe(evm.token.address.toLowerCase());
    const spl = answerOf(await world.buildSend(world.caller(), await solanaRequest({ asset: "USDC", amount: 1.25 })));
    expect(spl).toMatchObject({ asset: solana.usdc, amountAtomic: "1250000" });
  });
});

describe("the send-payment request", () => {
  it("walletAddress: must be an address of its chain, with a correct checksum", async () => {
    const world = await openWatching({ evm, solana });
    const wrong = RECIPIENT.replace("3C44", "3c44");
    const outcome = await world.buildSend(world.caller(), await evmRequest({ walletAddress: wrong }));
    expect(faultOf(outcome)).toBe("INVALID_REQUEST walletAddress");
  });

  it.each([
    ["malformed", "0x123"],
    ["of another chain family", Keypair.generate().publicKey.toBase58()],
    ["of nobody", `0x${"0".repeat(40)}`],
    ["with a wrong checksum", RECIPIENT.replace("3C44", "3c44")],
  ])("recipientAddress: one that is %s is INVALID_RECIPIENT", async (_, recipientAddress) => {
    const world = await openWatching({ evm });
    const outcome = await world.buildSend(world.caller(), await evmRequest({ recipientAddress }));
    expect(faultOf(outcome)).toBe("INVALID_RECIPIENT recipientAddress");
  });

  it("recipientAddress: one of 41 digits is told its length, not its checksum", async () => {
    const world = await openWatching({ evm });
    const outcome = await world.buildSend(world.caller(), await evmRequest({ recipientAddress: `${RECIPIENT}0` }));
    expect(outcome).toMatchObject({ message: expect.stringMatching(/0x and 40 hex digits, got 41 of them/) });
    expect(outcome).toMatchObject({ message: expect.not.stringContaining("checksum") });
  });

  it("recipientAddress: the token's own address, and the sender's, receive nothing", async () => {
    const world = await openWatching({ evm });
    const request = await evmRequest({ asset: "USDC" });
    for (const recipientAddress of [evm.token.address, request.walletAddress]) {
      const outcome = await world.buildSend(world.caller(), { ...request, recipientAddress });
      expect(faultOf(outcome)).toBe("INVALID_RECIPIENT recipientAddress");
    }
  });

  it("amount: has no bounds here, and is exact in atomic units", async () => {
    const world = await openWatching({ evm });
    const buyer = await evm.newBuyer();
    await evm.native.setBalances([buyer.address], 1_000n * 10n ** 18n);
    for (const [amount, atomic] of [
      [1e-18, "1"],
      ["250.000000000000000001", "250000000000000000001"],
    ] as const) {
      const request = { walletAddress: buyer.address, recipientAddress: RECIPIENT, amount };
      expect(answerOf(await world.buildSend(world.caller(), request)).amountAtomic).toBe(atomic);
    }
  });

  it("amount: with more decimals than the asset has is refused, never rounded", async () => {
    const world = await openWatching({ evm });
    const outcome = await world.buildSend(world.caller(), await evmRequest({ asset: "USDC", amount: 0.0000001 }));
    expect(faultOf(outcome)).toBe("INVALID_REQUEST amount");
  });

  it("amount: above what the wallet holds with fees is INSUFFICIENT_BALANCE", async () => {
    const world = await openWatching({ evm, solana });
    const outcomes = [
      await world.buildSend(world.caller(), await evmRequest({ amount: 1 })),
      await world.buildSend(world.caller(), await solanaRequest({ amount: 10 })),
    ];
    expect(outcomes.map((one) => (one.ok ? "ok" : one.code))).toEqual(["INSUFFICIENT_BALANCE", "INSUFFICIENT_BALANCE"]);
  });

  it("priorityFee: is the total extra fee, also where it is text", async () => {
    const world = await openWatching({ evm });
    const request = await evmRequest({ priorityFee: "0.001" });
    const { gas = 0n, maxPriorityFeePerGas = 0n } = parse(answerOf(await world.buildSend(world.caller(), request)));
    expect(gas * maxPriorityFeePerGas).toBeLessThanOrEqual(10n ** 15n);
    expect((gas + 1n) * (maxPriorityFeePerGas + 1n)).toBeGreaterThan(10n ** 15n);
  });

  it("network: a live key reaches no test network", async () => {
    const world = await openWatching({ evm });
    const outcome = await world.buildSend(
      world.caller({ mode: "live" }),
      await evmRequest({ network: "base-sepolia" }),
    );
    expect(faultOf(outcome)).toBe("FORBIDDEN");
  });
});

describe("the idempotent repeat", () => {
  it("gives the very same transaction and secret, and builds nothing again", async () => {
    const world = await openWatching({ evm });
    const request = await evmRequest();
    const caller = world.caller({}, idempotencyOf("once"));
    const first = answerOf(await world.buildSend(caller, request));
    expect(answerOf(await world.buildSend(caller, request))).toEqual(first);
    const history = answerOf(await world.history(caller, request.walletAddress, { type: "all", limit: 50, offset: 0 }));
    expect(history.pagination.total).toBe(1);
  });

  it("that runs at the same time in another process gives that one's answer", async () => {
    const world = await openWatching({ evm });
    const request = await evmRequest();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => world.buildSend(world.caller({}, idempotencyOf("race")), request)),
    );
    expect(new Set(answers.map((one) => JSON.stringify(answerOf(one)))).size).toBe(1);
  });

  it("keeps transaction and secret in the record only under the caller's Idempotency-Key", async () => {
    const world = await openWatching({ evm });
    const caller = world.caller({}, idempotencyOf("sealed", "the caller's key"));
    const answer = answerOf(await world.buildSend(caller, await evmRequest()));
    const { sealed } = await world.payment(answer.paymentId);
    expect(sealed).toMatch(/^the caller's key:/);
    const other = { ...caller, idempotency: idempotencyOf("sealed", "another key") };
    expect(faultOf(await world.buildSend(other, await evmRequest()))).toBe("INTERNAL_ERROR");
    expect(JSON.stringify(world.log)).not.toContain(answer.secret?.slice(2));
    expect(JSON.stringify(answerOf(await world.status(caller, answer.paymentId)))).not.toContain(
      answer.secret?.slice(2),
    );
  });
});

it("estimatedConfirmation: in words, from block time and the blocks that confirm", () => {
  const words = (name: string, confirmations: number) =>
    estimatedConfirmation({ network: findNetwork(name)!, confirmations });
  expect(words("base-sepolia", 1)).toBe("2-5 seconds");
  expect(words("solana-devnet", 1)).toBe("1-3 seconds");
  expect(words("mainnet", 2)).toBe("24-49 seconds");
  expect(words("mainnet", 64)).toBe("12-26 minutes");
});
