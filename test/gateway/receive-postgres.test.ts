// What several instances share on a real PostgreSQL: proofs, idempotent requests and the day's budget hold across them.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createSandbox,
  createSolanaSandbox,
  eip3009Payer,
  type Sandbox,
  type SolanaSandbox,
} from "../../src/testing/index.js";
import { noPostgres } from "../support/postgres.js";
import { bodyOf, settle, wordOf } from "./facilitating.js";
import { type Kind, onEvm, onSolana, receive, sign, verdictOf } from "./receiving.js";
import { createGatewayWorld, type GatewayWorld, type Instance } from "./world.js";

const skipped = noPostgres();

describe.skipIf(skipped)("three instances on one PostgreSQL", () => {
  let evm: Sandbox;
  let solana: SolanaSandbox;
  let world: GatewayWorld;
  let instances: readonly Pick<Instance, "call">[];

  beforeAll(async () => {
    [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
    world = await createGatewayWorld({
      database: "postgres",
      chains: { evm, solana },
      options: { sponsored: { perAccount: 40, perPayer: 3 } },
    });
    instances = [world, await world.another(), await world.another()];
  });
  afterAll(async () => {
    await world?.close();
    await Promise.all([evm?.close(), solana?.close()]);
  });

  const at = (index: number): Pick<Instance, "call"> => instances[index % instances.length] ?? world;

  it.each([
    ["USDC on EVM", () => onEvm(evm, "usdc", 2)],
    ["ETH", () => onEvm(evm, "eth", 1)],
    ["USDC on Solana", () => onSolana(solana, "usdc", 1)],
    ["SOL", () => onSolana(solana, "sol", 2)],
  ] as const satisfies readonly (readonly [string, () => Kind])[])(
    "grant a proof in %s once of twenty copies",
    async (_name, kindOf) => {
      const kind = kindOf();
      const payTo = await kind.newPayee();
      const proof = await sign(kind, payTo);
      const answers = await Promise.all(Array.from({ length: 20 }, (_, copy) => receive(at(copy), kind, payTo, proof)));
      const verdicts = answers.map(verdictOf);
      expect(verdicts.filter((verdict) => verdict === "confirmed")).toHaveLength(1);
      expect(verdicts.filter((verdict) => verdict === "400 INVALID_PAYMENT_PROOF already_used")).toHaveLength(19);
      expect(await kind.received(payTo)).toEqual([kind.units]);
    },
  );

  it("give one idempotent request one answer, wherever its copies arrive", async () => {
    const kind = onEvm(evm, "usdc", 2);
    const payTo = await kind.newPayee();
    const proof = await sign(kind, payTo);
    const options = { headers: { "Idempotency-Key": "one-request-of-many" } };
    const answers = await Promise.all(
      Array.from({ length: 9 }, (_, copy) => receive(at(copy), kind, payTo, proof, { options })),
    );
    for (const answer of answers) expect(["confirmed", "409 CONFLICT"]).toContain(verdictOf(answer));
    const later = await Promise.all([0, 1, 2].map((index) => receive(at(index), kind, payTo, proof, { options })));
    expect(new Set(later.map(({ body }) => body.paymentId)).size).toBe(1);
    expect(later.map(verdictOf)).toEqual(["confirmed", "confirmed", "confirmed"]);
    expect(await kind.received(payTo)).toEqual([kind.units]);
  });

  it("settle a seller's payment once, and pay for no more of one payer's than the day allows", async () => {
    const kind = onEvm(evm, "usdc", 2);
    const payTo = await kind.newPayee();
    const body = await bodyOf(kind, payTo);
    const words = (await Promise.all(Array.from({ length: 9 }, (_, copy) => settle(at(copy), body)))).map(wordOf);
    expect(words.filter((word) => word === "settled")).toHaveLength(1);
    const payer = eip3009Payer(await evm.newBuyer());
    const proofs = await Promise.all(Array.from({ length: 6 }, () => sign(kind, payTo, { payer })));
    const verdicts = (await Promise.all(proofs.map((proof, index) => receive(at(index), kind, payTo, proof)))).map(
      verdictOf,
    );
    expect([...verdicts].sort()).toEqual([...Array(3).fill("429 RATE_LIMIT sponsored"), ...Array(3).fill("confirmed")]);
    expect(verdicts.filter((verdict) => verdict === "429 RATE_LIMIT sponsored")).toHaveLength(3);
    expect(await kind.received(payTo)).toHaveLength(4);
  });
});
