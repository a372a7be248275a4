// A token that the configuration lists and the chain does not have, as on a local chain that was started bare: whoever asks to move it
// is told for good, with what can be moved there.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import type { Answer } from "./call.js";
import { newEvmAddress, onEvm } from "./receiving.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

let evm: Sandbox;
let world: GatewayWorld;
let wallet: Awaited<ReturnType<GatewayWorld["newWallet"]>>;
beforeAll(async () => {
  evm = await createSandbox();
  world = await createGatewayWorld({ chains: { evm } });
  wallet = await world.newWallet({ family: "evm" });
  await evm.chain.rpc("anvil_setCode", [evm.token.address, "0x"]);
});
afterAll(async () => {
  await world.close();
  await evm.close();
});

const post = (path: string, more: object = {}): Promise<Answer> => {
  const body = { walletAddress: wallet.address, recipientAddress: newEvmAddress(), amount: "0.01", ...more };
  return world.call("POST", path, body, { key: wallet.apiKey });
};

/** A seller's offer of USDC, and what pays it. */
function offered() {
  const kind = onEvm(evm, "usdc", 2);
  const recipientAddress = newEvmAddress();
  return { recipientAddress, amount: kind.amount, requirements: kind.offer(recipientAddress) };
}

describe("USDC where it has no contract", () => {
  it.each([
    ["is not sent", () => post("/payment/send", { asset: "USDC" })],
    ["is not built", () => post("/transaction/send", { asset: "USDC" })],
    ["is not signed for a seller", () => post("/payment/send", offered())],
  ])("%s, and the answer names the assets that are there", async (_, ask) => {
    const { status, body } = await ask();
    const message = `expected one of ETH: base-sepolia has no USDC at ${evm.token.address}`;
    expect([status, body.error]).toMatchObject([
      400,
      { code: "INVALID_REQUEST", retryable: false, details: [{ path: "asset", message }] },
    ]);
  });

  it("does not keep the chain's own currency from being sent", async () => {
    expect(await post("/payment/send")).toMatchObject({ status: 200, body: { status: "confirmed" } });
  });
});
