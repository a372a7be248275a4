// One payer, many payments at once, and money that is gone before they land: what that can cost the settler is bounded.
import { encodeFunctionData, parseAbi } from "viem";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { makeProof, REQUIREMENT, RESOURCE } from "../support/bound-proof.js";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createSandbox();
});
afterAll(() => sandbox?.close());

it("A35: sends no more than sixteen settlements of one payer at once, and judges the rest again when their turn comes", async () => {
  const receiver = sandbox.receive();
  const account = await sandbox.newBuyer();
  await sandbox.native.setBalances([account.address], 10n ** 18n);
  const requirement = { ...REQUIREMENT, payTo: sandbox.seller };
  const proofs = await Promise.all(Array.from({ length: 40 }, () => makeProof({ account, requirement })));
  const sent: string[] = [];
  await sandbox.chain.setAutomine(false);
  const settled = Promise.all(
    proofs.map((proof, i) =>
      receiver.settle(proof, {
        settlementId: proof.id,
        resource: RESOURCE,
        // One that failed looks for another's transaction until its time is over; those who wait have more of it.
        deadlineAt: Date.now() + (i < 16 ? 8_000 : 20_000),
        sending: async (id) => {
          sent.push(id);
        },
      }),
    ),
  );
  const pending = async () => Number(((await sandbox.chain.rpc("txpool_status")) as { pending: string }).pending);
  await expect.poll(pending, { timeout: 10_000 }).toBe(16);

  const abi = parseAbi(["function transfer(address,uint256) returns (bool)"]);
  const data = encodeFunctionData({ abi, args: ["0x00000000000000000000000000000000000000bb", 1_000_000_000n] });
  const fees = { gas: 100_000n, maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 11n };
  const to = sandbox.domain.verifyingContract;
  const emptied = await account.signTransaction({ type: "eip1559", chainId: 84532, nonce: 0, to, data, ...fees });
  await sandbox.chain.rpc("eth_sendRawTransaction", [emptied]);
  await sandbox.chain.setAutomine(true);
  await sandbox.chain.mine();
  const outcomes = (await settled).map((one) => one.outcome);
  expect(sent).toHaveLength(16);
  expect(outcomes.filter((outcome) => outcome === "unknown")).toHaveLength(16);
  expect(outcomes.filter((outcome) => outcome === "refused")).toHaveLength(24);
  await receiver.close();
});
