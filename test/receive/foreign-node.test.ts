// A node of the other chain family behind `rpcUrl`: the start-up check says so, and does not ask for ever.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { silentLogger } from "../../src/logger.js";
import { createPaywallCore } from "../../src/paywall.js";
import { createSandbox, createSolanaSandbox, type Sandbox, type SolanaSandbox } from "../../src/testing/index.js";

let evm: Sandbox;
let solana: SolanaSandbox;
beforeAll(async () => {
  [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
});
afterAll(() => Promise.all([evm?.close(), solana?.close()]));

describe("a node of the other chain family", () => {
  it.each([
    ["an EVM chain", () => ({ ...evm, receive: evm.receive({ rpcUrl: solana.rpcUrl }) }), "is it a node of Solana?"],
    ["Solana", () => ({ ...solana, receive: solana.receive({ rpcUrl: evm.rpcUrl }) }), "is it a node of an EVM chain?"],
  ])("behind the rpcUrl of %s is a mismatch that names the place to mend", async (_, wrong, hint) => {
    const { payTo, network, receive } = wrong();
    const core = createPaywallCore({ payTo, network, receive, logger: silentLogger }, { from: "later" }, {});
    core.priceGuard("$0.01");
    const failure = await core.ready().then(String, String);
    expect(failure).toContain(hint);
    expect(failure).toMatch(/set rpcUrl of /);
    await core.close();
  });
});
