// The published clients of a facilitator, which published servers verify and settle with, understand every answer of this gateway.
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eip3009Payer } from "../../src/testing/index.js";
import { runNode } from "../support/process.js";
import { reasonToSkip } from "../support/published.js";
import { bodyOf } from "./facilitating.js";
import { onEvm, onSolana } from "./receiving.js";
import { type BothWorld, createBothWorld } from "./world.js";

const skipped = reasonToSkip();
const script = fileURLToPath(new URL("../interop/facilitator-clients.mjs", import.meta.url));

describe.skipIf(skipped)("the published clients of a facilitator", () => {
  let world: BothWorld;

  beforeAll(async () => {
    world = await createBothWorld();
  });
  afterAll(() => world?.close());

  it("verify and settle through this gateway, on both chains and in both versions, and read its refusals", async () => {
    const kinds = [
      onEvm(world.evm, "usdc", 1),
      onEvm(world.evm, "usdc", 2),
      onSolana(world.solana, "usdc", 1),
      onSolana(world.solana, "usdc", 2),
    ];
    const payees = await Promise.all(kinds.map((kind) => kind.newPayee()));
    const bodies = await Promise.all(kinds.map((kind, index) => bodyOf(kind, payees[index] ?? "")));
    const poor = eip3009Payer(await world.evm.newBuyer(0n));
    const refused = await Promise.all(
      [1, 2].map((version) =>
        bodyOf(onEvm(world.evm, "usdc", version === 1 ? 1 : 2), world.evm.seller, { payer: poor }),
      ),
    );
    const orders = [...bodies, ...refused].map(({ x402Version, ...rest }) => ({ version: x402Version, ...rest }));
    const { code, stdout, stderr } = await runNode(
      [script, world.url],
      { API_KEY: world.apiKey },
      JSON.stringify(orders),
    );
    expect([code, stderr]).toEqual([0, ""]);
    const { supported, results } = JSON.parse(stdout) as {
      readonly supported: Readonly<Record<1 | 2, { readonly kinds: readonly unknown[] }>>;
      readonly results: readonly { readonly verify: object; readonly settle: object }[];
    };
    for (const result of results.slice(0, 4)) {
      expect(result).toMatchObject({
        verify: { isValid: true },
        settle: { success: true, transaction: expect.stringMatching(/./) },
      });
    }
    for (const result of results.slice(4)) {
      const reason = "insufficient_funds";
      expect(result).toMatchObject({
        verify: { isValid: false, invalidReason: reason },
        settle: { success: false, errorReason: reason },
      });
    }
    expect(supported[1].kinds).toHaveLength(4);
    expect(supported[2].kinds).toHaveLength(4);
    for (const [index, kind] of kinds.entries()) expect(await kind.received(payees[index] ?? "")).toEqual([kind.units]);
  }, 90_000);
});
