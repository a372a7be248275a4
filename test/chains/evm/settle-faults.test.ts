import { type Hex, parseEther } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { AuthorizationProof } from "../../../src/proof.js";
import type { Receiver } from "../../../src/receive/receiver.js";
import { traceOf } from "../../support/bound-proof.js";
import { startScriptedRpc } from "../../support/scripted-rpc.js";
import { createWorld, fault, settleContext, unixNow, type World } from "./world.js";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());
afterEach(async () => {
  world.rpc.clear();
  await world.sandbox.chain.setAutomine(true);
});

const settle = (proof: AuthorizationProof, context = settleContext(), receiver: Receiver = world.receiver) =>
  receiver.settle(proof, context);
const debits = async (proof: AuthorizationProof) =>
  (await world.sandbox.token.transfers({ from: proof.authorization.from, to: world.sandbox.seller })).length;
const lookup = (proof: AuthorizationProof, transaction: string | null = null) =>
  world.receiver.lookup(traceOf(proof, transaction), new AbortController().signal);
const funded = async (): Promise<Hex> => {
  const key = generatePrivateKey();
  const { address } = privateKeyToAccount(key);
  await world.sandbox.chain.rpc("anvil_setBalance", [address, `0x${parseEther("10").toString(16)}`]);
  return key;
};

describe("a settlement is refused, and nothing is sent", () => {
  afterEach(() => expect(world.rpc.count("eth_sendRawTransaction")).toBe(sent));
  let sent = 0;
  const prepare = () => {
    sent = world.rpc.count("eth_sendRawTransaction");
  };

  it("when the balance moved away since the verification", async () => {
    prepare();
    const account = await world.sandbox.newBuyer();
    const proof = await world.proof({ account });
    await world.sandbox.token.setBalances([account.address], 0n);
    expect(await settle(proof)).toEqual({
      outcome: "refused",
      code: "insufficient_funds",
      reason: "insufficient_funds",
    });
  });

  it("when the payer has withdrawn the authorization", async () => {
    prepare();
    const account = await world.sandbox.newBuyer();
    const proof = await world.proof({ account });
    await cancel(account, proof);
    expect(await settle(proof)).toEqual({
      outcome: "refused",
      code: "settlement_refused",
      reason: "invalid_transaction_state",
    });
  });

  it("when it would expire before a block", async () => {
    prepare();
    const proof = await world.proof({ overrides: { validBefore: unixNow() + 2n } });
    expect(await settle(proof)).toMatchObject({ outcome: "refused", code: "payment_expired" });
  });

  it("when the token is paused", async () => {
    prepare();
    await world.sandbox.token.setPaused(true);
    const settlement = await settle(await world.proof());
    await world.sandbox.token.setPaused(false);
    expect(settlement).toMatchObject({ outcome: "refused", code: "simulation_failed" });
  });
});

describe("a settlement is unavailable, and nothing is sent", () => {
  it("when the announcement fails; the nonce is used by the next one", async () => {
    const proof = await world.proof();
    const sent = world.rpc.count("eth_sendRawTransaction");
    const lost = { ...settleContext(), sending: () => Promise.reject(new Error("the fence is lost")) };
    expect(await settle(proof, lost)).toMatchObject({ outcome: "unavailable" });
    expect(world.rpc.count("eth_sendRawTransaction")).toBe(sent);
    expect(await debits(proof)).toBe(0);
    expect(await settle(proof)).toMatchObject({ outcome: "settled" });
  });

  it("when no settler has gas", async () => {
    const errors: string[] = [];
    const logger = { debug() {}, info() {}, warn() {}, error: (message: string) => void errors.push(message) };
    const { local } = await import("../../../src/receive/local.js");
    const entry = { rpcUrl: world.rpc.url, settler: generatePrivateKey() };
    const receiver = local({ networks: { "base-sepolia": entry }, logger });
    expect(await settle(await world.proof(), settleContext(), receiver)).toMatchObject({ outcome: "unavailable" });
    expect(errors).toEqual([expect.stringContaining("not enough gas")]);
    await receiver.close();
  });

  it.each([
    ["breaks the connection", fault.resetBefore()],
    ["hangs", fault.hang()],
    ["answers HTML", fault.html()],
    ["is on another chain", fault.wrongChain(1)],
  ])("when the chain %s before", async (_, next) => {
    const proof = await world.proof();
    world.rpc.script("eth_chainId", next);
    expect(await settle(proof)).toMatchObject({ outcome: "unavailable" });
    expect(await debits(proof)).toBe(0);
    expect(await settle(proof)).toMatchObject({ outcome: "settled" });
  });

  it("when gas costs more than the cap", async () => {
    const receiver = world.open({ maxFeePerGas: 1n });
    expect(await settle(await world.proof(), settleContext(), receiver)).toMatchObject({ outcome: "unavailable" });
  });

  it("when its time is over before it began", async () => {
    expect(await settle(await world.proof(), settleContext(-1))).toMatchObject({ outcome: "unavailable" });
  });
});

describe("a settlement whose bytes have left", () => {
  it.each([
    ["lost with the connection", fault.resetAfter()],
    ["never given", fault.hangAfter()],
    ["an HTML page", fault.status(200, {}, { forward: true })],
  ])("is settled by its receipt when the node's answer is %s", async (_, next) => {
    world.rpc.script("eth_sendRawTransaction", next);
    const proof = await world.proof();
    expect(await settle(proof)).toMatchObject({ outcome: "settled" });
    expect(await debits(proof)).toBe(1);
  });

  it("is sent again, the same bytes, when the connection broke before the node saw them", async () => {
    world.rpc.script("eth_sendRawTransaction", fault.resetBefore());
    const proof = await world.proof();
    const context = settleContext();
    expect(await settle(proof, context)).toMatchObject({ outcome: "settled", transaction: context.announced[0] });
    expect(context.announced.length).toBe(1);
    expect(await debits(proof)).toBe(1);
  });

  it("is unknown with its transaction when nothing is heard in time, and found by the lookup later", async () => {
    await world.sandbox.chain.setAutomine(false);
    const proof = await world.proof();
    const context = settleContext(3_000);
    const settlement = await settle(proof, context);
    const transaction = context.announced[0] ?? null;
    expect(settlement).toMatchObject({ outcome: "unknown", transaction });
    expect(await lookup(proof, transaction)).toMatchObject({ outcome: "unknown" });
    await world.sandbox.chain.mine();
    expect(await lookup(proof, transaction)).toEqual({ outcome: "settled", transaction, height: expect.any(Number) });
    expect(await lookup(proof)).toEqual({ outcome: "settled", transaction, height: expect.any(Number) });
  });

  it("is unknown, never refused, when the node refuses the transaction", async () => {
    world.rpc.script("eth_sendRawTransaction", fault.error(-32000, "insufficient funds for gas * price + value"));
    const proof = await world.proof();
    expect(await settle(proof)).toMatchObject({ outcome: "unknown", transaction: expect.any(String) });
    expect(await settle(proof)).toMatchObject({ outcome: "settled" });
  });

  it("is signed anew when another transaction took its nonce", async () => {
    const key = await funded();
    const receiver = world.open({ settler: key });
    const account = privateKeyToAccount(key);
    const proof = await world.proof();
    const context = settleContext();
    const settlement = await settle(
      proof,
      {
        ...context,
        async sending(transaction) {
          if (context.announced.length === 0) await spendNonce(account);
          await context.sending(transaction);
        },
      },
      receiver,
    );
    expect(context.announced.length).toBe(2);
    expect(settlement).toMatchObject({ outcome: "settled", transaction: context.announced[1] });
    expect(await debits(proof)).toBe(1);
  });

  it("does not block the ones after it when its own nonce is given back", async () => {
    const receiver = world.open({ settler: await funded() });
    let announced = () => {};
    let release = () => {};
    const [first, others] = [
      new Promise<void>((resolve) => (announced = resolve)),
      new Promise<void>((resolve) => (release = resolve)),
    ];
    const lost = settle(
      await world.proof(),
      {
        ...settleContext(),
        async sending() {
          announced();
          await others;
          throw new Error("the fence is lost");
        },
      },
      receiver,
    );
    // The first holds the lowest nonce while the second takes the next one, and then gives its own back.
    await first;
    const context = settleContext();
    const second = settle(
      await world.proof(),
      {
        ...context,
        async sending(transaction) {
          await context.sending(transaction);
          release();
        },
      },
      receiver,
    );
    expect(await lost).toMatchObject({ outcome: "unavailable" });
    expect(await second).toMatchObject({ outcome: "settled", transaction: context.announced[0] });
  });

  it("is not judged by a node that refuses it after another one took it and lost its answer", async () => {
    const other = await startScriptedRpc(world.sandbox.rpcUrl);
    other.script("eth_sendRawTransaction", fault.error(-32000, "insufficient funds for gas * price + value"), 9);
    world.rpc.script("eth_sendRawTransaction", fault.resetAfter());
    const receiver = world.open({ rpcUrl: [world.rpc.url, other.url] });
    expect(await settle(await world.proof(), settleContext(), receiver)).toMatchObject({ outcome: "settled" });
    await other.close();
  });
});

/** Uses the account's next nonce behind the receiver's back. */
async function spendNonce(account: ReturnType<typeof privateKeyToAccount>): Promise<void> {
  const count = await world.sandbox.chain.rpc("eth_getTransactionCount", [account.address, "latest"]);
  const gas = { gas: 21_000n, maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 10n ** 10n };
  const shared = { type: "eip1559", chainId: 84532, nonce: Number(count), to: account.address } as const;
  await world.sandbox.chain.rpc("eth_sendRawTransaction", [await account.signTransaction({ ...shared, ...gas })]);
}

async function cancel(
  account: Awaited<ReturnType<World["sandbox"]["newBuyer"]>>,
  proof: AuthorizationProof,
): Promise<void> {
  const { encodeFunctionData, parseAbi } = await import("viem");
  const { nonce } = proof.authorization;
  const signature = await world.sandbox.signCancellation(account, nonce);
  const abi = parseAbi(["function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)"]);
  const data = encodeFunctionData({
    abi,
    functionName: "cancelAuthorization",
    args: [account.address, nonce, signature],
  });
  const accounts = await world.sandbox.chain.rpc("eth_accounts");
  const from = Array.isArray(accounts) ? accounts[2] : undefined;
  await world.sandbox.chain.rpc("eth_sendTransaction", [{ from, to: proof.requirement.asset, data }]);
}
