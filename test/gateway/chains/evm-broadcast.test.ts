import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { fault } from "../../support/scripted-rpc.js";
import { createEvmWorld, type EvmWorld, within } from "./evm-world.js";

let world: EvmWorld;
beforeAll(async () => {
  world = await createEvmWorld();
});
afterAll(() => world.close());
afterEach(() => world.base.rpc.clear());

describe("a broadcast", () => {
  it("is sent once and known from then on, whichever node is asked", async () => {
    const signed = await world.make(await world.wallet());
    expect(await world.send(signed)).toMatchObject({ outcome: "sent" });
    expect(await world.send(signed)).toMatchObject({ outcome: "sent" });
  });

  it("is sent as soon as one of several nodes takes it", async () => {
    const signed = await world.make(await world.wallet());
    const two = world.open([world.base.rpc.url, world.base.sandbox.rpcUrl]);
    world.base.rpc.script("*", fault.html(), 10);
    expect(await world.send(signed, two)).toMatchObject({ outcome: "sent" });
    await world.inBlock(signed.signature);
    expect(await world.standing(signed, world.open([world.base.sandbox.rpcUrl]))).toMatchObject({ state: "mined" });
  });

  it("is refused in the node's words, without bytes, where every node refuses it", async () => {
    const wallet = await world.wallet();
    const signed = await world.make(wallet);
    await world.rpc("anvil_setBalance", wallet.address, "0x1");
    const sent = await world.send(signed);
    expect(sent).toMatchObject({ outcome: "refused", message: expect.stringMatching(/insufficient funds/i) });
    expect(await world.standing(signed)).toEqual({ state: "unseen" });
  });

  it("is lost, and not refused, where another transaction has its nonce: only the chain can say which", async () => {
    const wallet = await world.wallet();
    const [first, second] = [await world.make(wallet), await world.make(wallet, { amount: 7n })];
    await world.send(first);
    expect(await world.send(second)).toMatchObject({ outcome: "lost" });
    await world.base.sandbox.chain.mine(4);
    expect(await world.standing(second)).toMatchObject({ state: "impossible", replacedBy: first.signature });
  });

  it("is lost where a node's answer does not come, or it cannot be asked", async () => {
    const signed = await world.make(await world.wallet());
    world.base.rpc.script("eth_sendRawTransaction", fault.resetBefore());
    expect(await world.send(signed)).toMatchObject({ outcome: "lost" });
    expect(await world.transfers.broadcast(signed.pursuit, AbortSignal.abort())).toMatchObject({ outcome: "lost" });
    const { pursuit } = await world.build(await world.wallet());
    expect(await world.transfers.broadcast(pursuit, within())).toMatchObject({ outcome: "lost" });
    expect(await world.send(signed)).toMatchObject({ outcome: "sent" });
  });

  it("is sent where the answer was lost and the node has it", async () => {
    const signed = await world.make(await world.wallet());
    world.base.rpc.script("eth_sendRawTransaction", fault.resetAfter());
    expect(await world.send(signed)).toMatchObject({ outcome: "sent" });
  });
});
