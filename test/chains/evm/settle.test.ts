import { type Hex, parseEther } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { AuthorizationProof } from "../../../src/proof.js";
import type { Receiver, Settlement } from "../../../src/receive/receiver.js";
import { traceOf } from "../../support/bound-proof.js";
import { type Fault, fault } from "../../support/rpc-faults.js";
import { createWorld, settleContext, type World } from "./world.js";

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

/** With a block a second: Anvil's mining on demand forgets transactions of its pool when many come at once. */
async function settleByTheSecond(proofs: readonly AuthorizationProof[], receiver: Receiver): Promise<Settlement[]> {
  const { chain } = world.sandbox;
  await chain.setAutomine(false);
  await chain.rpc("evm_setIntervalMining", [1]);
  try {
    return await Promise.all(proofs.map((proof) => settle(proof, settleContext(25_000), receiver)));
  } finally {
    await chain.rpc("evm_setIntervalMining", [0]);
    await chain.setAutomine(true);
  }
}

describe("a settlement", () => {
  it("moves the money once and announces the transaction before its bytes leave", async () => {
    const proof = await world.proof();
    const context = settleContext();
    const sentBefore = world.rpc.count("eth_sendRawTransaction");
    let sentWhenAnnounced = -1;
    const settlement = await settle(proof, {
      ...context,
      async sending(transaction) {
        sentWhenAnnounced = world.rpc.count("eth_sendRawTransaction");
        await context.sending(transaction);
      },
    });
    const transaction = context.announced[0];
    expect(settlement).toEqual({
      outcome: "settled",
      transaction,
      payer: proof.authorization.from,
      height: expect.any(Number),
    });
    expect(sentWhenAnnounced).toBe(sentBefore);
    expect(await debits(proof)).toBe(1);
  });

  it("uses an EIP-1559 transaction with the gas limit of a plain account", async () => {
    const settlement = await settle(await world.proof());
    if (settlement.outcome !== "settled") throw new Error(JSON.stringify(settlement));
    const sent = await world.sandbox.chain.rpc("eth_getTransactionByHash", [settlement.transaction]);
    expect(sent).toMatchObject({ type: "0x2", gas: "0x1d4c0", value: "0x0" });
  });

  it("of a smart wallet and of a delegated account uses the bytes overload with 500,000 gas", async () => {
    const { wallets, token } = world.sandbox;
    const wallet = await wallets.deployed(await world.sandbox.newBuyer());
    await token.setBalances([wallet.address], 10_000n);
    for (const account of [wallet, await wallets.delegated(await world.sandbox.newBuyer())]) {
      const settlement = await settle(await world.proof({ account }));
      if (settlement.outcome !== "settled") throw new Error(JSON.stringify(settlement));
      const sent = await world.sandbox.chain.rpc("eth_getTransactionByHash", [settlement.transaction]);
      expect(sent).toMatchObject({ gas: "0x7a120", input: expect.stringMatching(/^0xcf092995/) });
    }
  });

  it("deploys a listed wallet and pays in one transaction, also when an outsider deploys it first", async () => {
    const { wallets, token } = world.sandbox;
    const receiver = world.open({ eip6492Factories: [wallets.factory] });
    for (const early of [false, true]) {
      const wallet = wallets.counterfactual(await world.sandbox.newBuyer());
      await token.setBalances([wallet.address], 10_000n);
      const proof = await world.proof({ account: wallet });
      if (early) await wallet.deploy();
      expect(await settle(proof, settleContext(), receiver)).toMatchObject({ outcome: "settled" });
      expect(await debits(proof)).toBe(1);
    }
  });

  it("of 200 buyers at once is 200 debits by one key", async () => {
    const buyers = await world.sandbox.newBuyers(200);
    const proofs = await Promise.all(buyers.map((account) => world.proof({ account })));
    // Without the proxy in between, which takes a call at a time.
    const receiver = world.open({ rpcUrl: world.sandbox.rpcUrl, settler: await funded() }, 10_000);
    const settlements = await settleByTheSecond(proofs, receiver);
    expect(settlements.filter(({ outcome }) => outcome !== "settled")).toEqual([]);
    const hashes = settlements.map((one) => one.outcome === "settled" && one.transaction);
    expect(new Set(hashes).size).toBe(200);
    const payers = new Set(buyers.map(({ address }) => address));
    const moved = (await world.sandbox.token.transfers({ to: world.sandbox.seller })).filter(({ from }) =>
      payers.has(from),
    );
    expect(moved.length).toBe(200);
  });

  it("spreads over several keys and passes an unfunded or a faulty one over", async () => {
    const good = [await funded(), await funded()];
    const faulty = {
      address: privateKeyToAccount(await funded()).address,
      signTransaction: () => Promise.reject(new Error("the key service is down")),
    };
    const receiver = world.open({ settler: [generatePrivateKey(), ...good, faulty] }, 10_000);
    const proofs = await Promise.all((await world.sandbox.newBuyers(40)).map((account) => world.proof({ account })));
    const settlements = await settleByTheSecond(proofs, receiver);
    expect(settlements.filter(({ outcome }) => outcome !== "settled")).toEqual([]);
    for (const key of good) {
      const count = await world.sandbox.chain.rpc("eth_getTransactionCount", [
        privateKeyToAccount(key).address,
        "latest",
      ]);
      expect(Number(count)).toBeGreaterThan(5);
    }
  });
});

describe("a settlement that is overtaken by an outsider", () => {
  it("is settled by the outsider's transaction when that came first, and sends nothing", async () => {
    const proof = await world.proof();
    const transaction = await world.submit(proof);
    const sent = world.rpc.count("eth_sendRawTransaction");
    expect(await settle(proof)).toMatchObject({ outcome: "settled", transaction });
    expect(world.rpc.count("eth_sendRawTransaction")).toBe(sent);
    expect(await debits(proof)).toBe(1);
  });

  it("is refused when that was mined before the store's memory begins: it may have been used then", async () => {
    const proof = await world.proof();
    await world.submit(proof);
    const since = Date.now() + 5_000;
    const sent = world.rpc.count("eth_sendRawTransaction");
    expect(await settle(proof, { ...settleContext(), since })).toEqual({
      outcome: "refused",
      code: "payment_too_old",
      reason: "duplicate_settlement",
    });
    expect(world.rpc.count("eth_sendRawTransaction")).toBe(sent);
    expect(await settle(proof, { ...settleContext(), since: since - 60_000 })).toMatchObject({ outcome: "settled" });
  });

  it("is unknown when the age of that transaction cannot be told", async () => {
    const proof = await world.proof();
    const transaction = await world.submit(proof);
    // The search reads the first one, the look at its age the second.
    world.rpc.script("eth_getTransactionReceipt", fault.pass());
    world.rpc.script("eth_getTransactionReceipt", fault.error(-32000, "busy"));
    const settlement = await settle(proof, { ...settleContext(), since: 0 });
    // A record may not take it for one of ours, whose age nobody asks for.
    expect(settlement).toEqual({ outcome: "unknown", message: expect.stringContaining(transaction) });
  });

  it("is refused also when ours reverts on it, because the node that judged was behind", async () => {
    const proof = await world.proof();
    // As that node knows the payer, too.
    await world.sandbox.chain.mine(2);
    await world.submit(proof);
    const since = Date.now() + 5_000;
    let isBehind = true;
    const behind: Fault = (context) => {
      if (context.call.method === "eth_sendRawTransaction") isBehind = false;
      return (isBehind ? fault.stale(1) : fault.pass())(context);
    };
    world.rpc.script("*", behind, 100);
    const sent = world.rpc.count("eth_sendRawTransaction");
    const settlement = await settle(proof, { ...settleContext(20_000), since });
    expect(settlement).toMatchObject({ outcome: "refused", code: "payment_too_old" });
    expect([world.rpc.count("eth_sendRawTransaction") - sent, await debits(proof)]).toEqual([1, 1]);
  });

  it("is settled by our own transaction, however young the store's memory is", async () => {
    const proof = await world.proof();
    expect(await settle(proof, { ...settleContext(), since: Date.now() + 60_000 })).toMatchObject({
      outcome: "settled",
    });
  });

  it("is settled by it also when our own transaction was on its way and reverts", async () => {
    const proof = await world.proof();
    const context = settleContext();
    let outsider = "";
    const settlement = await settle(proof, {
      ...context,
      async sending(transaction) {
        outsider = await world.submit(proof);
        await context.sending(transaction);
      },
    });
    expect(settlement).toMatchObject({ outcome: "settled", transaction: outsider });
    expect(context.announced).not.toContain(outsider);
    expect(await debits(proof)).toBe(1);
  });

  it("is settled by it also with a token that does not revert on a used nonce", async () => {
    await world.sandbox.token.setSilentReuse(true);
    const proof = await world.proof();
    let outsider = "";
    const settlement = await settle(proof, {
      ...settleContext(),
      async sending() {
        outsider = await world.submit(proof);
      },
    });
    await world.sandbox.token.setSilentReuse(false);
    expect(settlement).toMatchObject({ outcome: "settled", transaction: outsider });
    expect(await debits(proof)).toBe(1);
  });
});

describe("a successful transaction that did not pay exactly", () => {
  it("is unknown with a fee-on-transfer token", async () => {
    await world.sandbox.token.setFeeBasisPoints(100);
    const proof = await world.proof();
    const settlement = await settle(proof, settleContext(3_000));
    await world.sandbox.token.setFeeBasisPoints(0);
    expect(settlement).toMatchObject({ outcome: "unknown", transaction: expect.any(String) });
    expect(
      await lookup(proof, settlement.outcome === "unknown" ? (settlement.transaction ?? null) : null),
    ).toMatchObject({
      outcome: "unknown",
    });
  });

  it("is unknown with a token that tells of no transfer", async () => {
    await world.sandbox.token.setMute(true);
    const settlement = await settle(await world.proof(), settleContext(3_000));
    await world.sandbox.token.setMute(false);
    expect(settlement).toMatchObject({ outcome: "unknown" });
  });
});
