// What a node can do to a hosted wallet that takes a payment and says that something went wrong; and amounts at the edges.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { fault, startScriptedRpc } from "../support/scripted-rpc.js";
import { faultOf, openSending, until } from "./sending.js";

let evm: Sandbox;
beforeAll(async () => {
  evm = await createSandbox();
});
afterAll(() => evm.close());

describe("a node that takes a transaction and answers with an error of its own", () => {
  it.each([
    [-32603, "Internal error"],
    [-32000, "request timed out"],
    [-32000, "upstream connect error or disconnect before headers"],
    [-32002, "resource unavailable"],
  ])("proves nothing by %i %s: the payment is not given up, and is paid once", async (code, message) => {
    const rpc = await startScriptedRpc(evm.rpcUrl);
    try {
      const world = await openSending({ evm, rpcUrl: rpc.url });
      const wallet = await world.newWallet("evm");
      const payee = await world.newPayee("evm");
      rpc.script("eth_sendRawTransaction", fault.error(code, message, { forward: true }));
      // Another node of the same service, which is a moment behind.
      rpc.script("eth_getTransactionByHash", fault.lie(null));
      rpc.script("eth_getTransactionReceipt", fault.lie(null));
      const asked = { walletAddress: wallet.address, recipientAddress: payee, amount: 0.001 };
      const outcome = await world.send(asked, { idempotencyKey: "one" });
      const debits = () => world.debits(world.network("evm"), wallet.address);
      await until("it has landed", async () => (await debits()).length === 1);
      const [payment] = await world.payments(wallet.address);
      expect([faultOf(outcome), payment?.status]).not.toContain("failed");
      expect(faultOf(await world.send(asked, { idempotencyKey: "one" }))).toBe("ok");
      expect(await debits()).toHaveLength(1);
    } finally {
      await rpc.close();
    }
  });
});

describe("amounts at the edges", () => {
  it.each([
    ["1e+21"],
    ["100.0000000000000000000001"],
    ["0.0009999999999999999999"],
    [2 ** 53],
    [1e-7],
    [100.00000000000001],
  ])("%s is not sent", async (amount) => {
    const { sendRequest } = await import("../../src/gateway/schemas/index.js");
    const parsed = sendRequest.safeParse({ walletAddress: `0x${"1".repeat(40)}`, recipientAddress: "x", amount });
    expect(parsed.success).toBe(false);
  });
});
