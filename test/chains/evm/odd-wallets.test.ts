// A wallet contract that breaks while it is asked for its word has refused, however the node words it: it condemns its own payment
// and not the node, so that nobody shuts a receiver for other buyers by such a wallet.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { readSimulation } from "../../../src/chains/evm/revert.js";
import { createFailover } from "../../../src/receive/failover.js";
import { handClock } from "../../support/hand-clock.js";
import { createWorld, fault, verifyContext, type World } from "./world.js";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());
afterEach(() => world.rpc.clear());

/** What stands at the payer's address, and what it does. */
const CODES = {
  "reads return data that is not there": "0x6001600060003e00",
  "runs into an unknown instruction": "0xfe",
  "takes from an empty stack": "0x50",
  "jumps to nowhere": "0x60ff56",
  "runs for ever": "0x5b600056",
  "asks for more memory than there is": `0x7f${"ff".repeat(32)}5100`,
  "answers with one byte": "0x60016000f3",
  "answers with nothing": "0x00",
} as const;

const ADDRESS = "0x00000000000000000000000000000000000e0111";

async function oddProof(code: string) {
  await world.sandbox.chain.rpc("anvil_setCode", [ADDRESS, code]);
  await world.sandbox.token.setBalances([ADDRESS], 1_000_000n);
  return world.proof({ overrides: { from: ADDRESS }, signature: `0x${"22".repeat(100)}` });
}

describe("a payment of a wallet contract", () => {
  it.each(Object.entries(CODES))("is refused where it %s", async (_what, code) => {
    const verdict = await world.receiver.verify(await oddProof(code), verifyContext(false));
    expect(verdict).toMatchObject({ outcome: "invalid", code: "signature_invalid" });
  });

  it.each([
    [-32603, "EVM error: a halt that nobody has heard of"],
    [-32000, "gas uint64 overflow"],
    [-32015, "Status 0x1f"],
  ])("is refused where the node has an error %i for the wallet's own call alone", async (code, message) => {
    const wallet = await oddProof(CODES["answers with nothing"]);
    world.rpc.script("eth_call", fault.pass(), 3);
    world.rpc.script("eth_call", fault.error(code, message));
    const verdict = await world.receiver.verify(wallet, verifyContext(false));
    expect(verdict).toMatchObject({ outcome: "invalid", code: "signature_invalid" });
  });

  it("is not refused where the node has that error for all calls, or an answer that is none", async () => {
    const wallet = await oddProof(CODES["answers with nothing"]);
    world.rpc.script("eth_call", fault.error(-32000, "header not found"), 4);
    expect(await world.receiver.verify(wallet, verifyContext(false))).toMatchObject({ outcome: "unavailable" });
    world.rpc.script("eth_call", fault.pass(), 3);
    world.rpc.script("eth_call", fault.lie(7));
    expect(await world.receiver.verify(wallet, verifyContext(false))).toMatchObject({ outcome: "unavailable" });
  });

  it("is not refused for an error of the wallet's own call where the token took its word in the simulation", async () => {
    const wallet = await oddProof(CODES["answers with nothing"]);
    world.rpc.script("eth_call", fault.lie("0x"));
    world.rpc.script("eth_call", fault.pass(), 2);
    world.rpc.script("eth_call", fault.error(-32603, "Internal error"));
    expect(await world.receiver.verify(wallet, verifyContext(false))).toMatchObject({ outcome: "unavailable" });
  });

  it("shuts failover() for nobody", async () => {
    const logger = { debug() {}, info() {}, warn() {}, error() {} };
    const both = createFailover([world.open(), world.open()], { logger }, handClock(Date.now()));
    for (const code of Object.values(CODES)) {
      await both.verify(await oddProof(code), verifyContext(false));
    }
    expect(await both.verify(await world.proof(), verifyContext(false))).toMatchObject({ outcome: "valid" });
  });
});

it.each([
  "EVM error OutOfOffset",
  "return data out of bounds",
  "gas uint64 overflow",
  "write protection",
  "memory limit exceeded",
])('a simulation that ends with "%s" was run, and is no failure of the node', (message) => {
  const answer = { ok: false, code: -32000, message } as const;
  expect(readSimulation(answer)).toEqual({ outcome: "reverts", reason: message });
});
