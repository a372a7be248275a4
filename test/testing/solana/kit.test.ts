// The other client library of the chain at the sandbox: @solana/kit, as test/interop has it installed. It opens its
// WebSocket on the port that it is given and reads errors by their exact shape.
import { expect, it } from "vitest";
import { createSolanaSandbox } from "../../../src/testing/solana/sandbox.js";
import { confirmWithKit, reasonToSkip } from "../../support/published.js";

it.skipIf(reasonToSkip())("the Solana sandbox confirms a transaction of @solana/kit and knows it again", async () => {
  await using sandbox = await createSolanaSandbox();
  const buyer = await sandbox.newBuyer();
  const told = await confirmWithKit(sandbox.rpcUrl, sandbox.wsUrl, buyer.secretKey);
  expect(told).toMatchObject({ status: "confirmed", refusedAgain: true });
  const [newest] = await sandbox.connection().getSignaturesForAddress(buyer.publicKey);
  expect(newest).toMatchObject({ signature: told.signature, memo: "[5] hello", err: null });
  expect((await sandbox.balances(buyer.publicKey.toBase58())).lamports).toBe(10n ** 10n - 5_000n);
});
