// What a reorganised chain shows is one thing: its logs tell of the money that its accounts hold, however much is sent meanwhile.
import { setTimeout as after } from "node:timers/promises";
import { encodeFunctionData, parseAbi } from "viem";
import { afterEach, expect, it } from "vitest";
import * as z from "zod";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";

const PAYEE = "0x00000000000000000000000000000000000000aa";
const MINT = encodeFunctionData({
  abi: parseAbi(["function mint(address to, uint256 value)"]),
  args: [PAYEE, 1n],
});
const REORGANISATIONS = 30;

let sandbox: Sandbox | undefined;
afterEach(() => sandbox?.close());

it("stays whole when transactions are mined around each reorganisation", { timeout: 180_000 }, async () => {
  sandbox = await createSandbox();
  const { chain, token } = sandbox;
  const accounts = z.array(z.string()).parse(await chain.rpc("eth_accounts"));
  let [sent, isOver] = [0, false];
  const flood = async () => {
    for (; !isOver; sent += 1) {
      const from = accounts[sent % accounts.length];
      // Some are numbered after others that a reorganisation has taken away meanwhile.
      await chain.rpc("eth_sendTransaction", [{ from, to: token.address, data: MINT, gas: "0x30d40" }]).catch(() => {});
    }
  };
  const flooding = flood();
  for (let count = 0; count < REORGANISATIONS; count += 1) {
    await after(count % 20);
    await chain.reorg(2);
  }
  isOver = true;
  await flooding;
  await chain.mine();
  const logs = await token.transfers({ to: PAYEE });
  expect(logs.length).toBeGreaterThan(0);
  expect(await token.balanceOf(PAYEE)).toBe(BigInt(logs.length));
});

it("is not reorganised while it mines by the clock in parts of a second, which cannot be stopped for it", async () => {
  sandbox = await createSandbox({ blockTimeMs: 300 });
  await expect(sandbox.chain.reorg(1)).rejects.toThrow("reorg needs a blockTimeMs of whole seconds");
});
