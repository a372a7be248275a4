// A transaction without a reference is whoever's who is first to show it, as long as it is new. Strangers who have seen it in
// the pool, before the seller's own node has, must not be first: what somebody else has sent is nobody's.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { OpenedChain } from "../../../src/chains/chain.js";
import type { TransactionProof } from "../../../src/proof.js";
import { NATIVE } from "../../../src/requirement.js";
import { type Fault, fault, type ScriptedRpc, startScriptedRpc } from "../../support/scripted-rpc.js";
import { createTransfers, newSecret, type Signed, TOKEN, type Transfers } from "./transfers.js";
import { settleContext, verifyContext } from "./world.js";

let world: Transfers;
let second: ScriptedRpc;
beforeAll(async () => {
  world = await createTransfers();
  second = await startScriptedRpc(world.sandbox.rpcUrl);
});
afterAll(async () => {
  await second.close();
  await world.close();
});
afterEach(async () => {
  world.rpc.clear();
  second.clear();
  await world.sandbox.chain.setAutomine(true);
});

const required = { code: "payment_unreferenced" };

async function make(
  asset: string,
  owned = false,
): Promise<{ readonly proof: TransactionProof; readonly signed: Signed }> {
  const { secret, reference } = await newSecret();
  const requirement = world.requirement(asset);
  const signed = await world.sign(await world.buyer(), requirement, owned ? { reference } : {});
  return { signed, proof: await world.prove(signed, requirement, owned ? { secret } : {}) };
}

/** The node sees nothing of a transaction until it is handed it. */
function blind(rpc: ScriptedRpc): void {
  const truth: Fault = fault.pass();
  const early: Fault = (context) => (context.call.params[1] === "pending" ? fault.lie("0x0")(context) : truth(context));
  rpc.script("eth_getTransactionByHash", fault.lie(null));
  rpc.script("eth_getTransactionCount", early, 2);
}

describe.each([
  ["native currency", NATIVE],
  ["a token", TOKEN],
])("a transfer of %s that carries no reference and waits in the pool", (_, asset) => {
  it("pays nothing for whoever copied it, where the seller's node hears of it only when it is to send it", async () => {
    const { proof, signed } = await make(asset);
    await world.sandbox.chain.setAutomine(false);
    await world.submit(signed);
    blind(world.rpc);
    expect(await world.chain.verify(proof, verifyContext())).toMatchObject({ outcome: "valid" });
    blind(world.rpc);
    expect(await world.chain.settle(proof, settleContext())).toMatchObject({ outcome: "refused", ...required });
  });

  it("pays nothing for him either where a block takes it between the judgement and the sending", async () => {
    const { proof, signed } = await make(asset);
    const sending = () => world.broadcast(signed);
    const settlement = await world.chain.settle(proof, { ...settleContext(), sending });
    expect(settlement).toMatchObject({ outcome: "refused", ...required });
  });

  it("pays for its buyer, who shows the secret of its reference, in both cases", async () => {
    const mined = await make(asset, true);
    const sending = () => world.broadcast(mined.signed);
    expect(await world.chain.settle(mined.proof, { ...settleContext(), sending })).toMatchObject({
      outcome: "settled",
    });
    const { proof, signed } = await make(asset, true);
    await world.sandbox.chain.setAutomine(false);
    await world.submit(signed);
    blind(world.rpc);
    const sent = world.rpc.count("eth_sendRawTransaction");
    const settling = world.chain.settle(proof, settleContext());
    await world.rpc.reached("eth_sendRawTransaction", sent + 1);
    await world.sandbox.chain.mine();
    expect(await settling).toMatchObject({ outcome: "settled" });
  });
});

describe("with several URLs", () => {
  const open = (): Promise<OpenedChain> => world.open({ urls: [world.rpc.url, second.url] });

  it("a transfer without a reference is new only where none of the nodes knows it", async () => {
    const chain = await open();
    const { proof, signed } = await make(NATIVE);
    expect(await chain.verify(proof, verifyContext())).toMatchObject({ outcome: "valid" });
    await world.sandbox.chain.setAutomine(false);
    await world.submit(signed);
    const blindly = () => {
      blind(world.rpc);
      world.rpc.script("eth_getTransactionByHash", fault.lie(null));
    };
    blindly();
    expect(await chain.verify(proof, verifyContext())).toMatchObject({ outcome: "invalid", ...required });
    blindly();
    const context = settleContext();
    expect(await chain.settle(proof, context)).toMatchObject({ outcome: "refused", ...required });
    expect(context.announced).toEqual([]);
  });

  it.each<[string, Fault]>([
    ["is down", fault.resetBefore()],
    ["hangs", fault.hang()],
    ["is on another chain", fault.wrongChain(1)],
  ])("it is sold all the same where one of the nodes %s", async (_, next) => {
    const chain = await open();
    const { proof } = await make(NATIVE);
    second.script("eth_chainId", next, 1_000);
    expect(await chain.settle(proof, settleContext())).toMatchObject({ outcome: "settled" });
  });

  it("it may be known to the second node by our own bytes, where the first one took them and lost its answer", async () => {
    const chain = await open();
    const { proof } = await make(NATIVE);
    await world.sandbox.chain.setAutomine(false);
    world.rpc.script("eth_sendRawTransaction", fault.resetAfter());
    const settling = chain.settle(proof, settleContext());
    await second.reached("eth_sendRawTransaction");
    await world.sandbox.chain.mine();
    expect(await settling).toMatchObject({ outcome: "settled" });
  });
});
