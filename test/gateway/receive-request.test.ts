// The receive-payment request of the specification, row by row, over HTTP and on both databases.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { receiveRequest } from "../../src/gateway/schemas/index.js";
import { createSandbox, createSolanaSandbox, type Sandbox, type SolanaSandbox } from "../../src/testing/index.js";
import { noPostgres } from "../support/postgres.js";
import type { Answer } from "./call.js";
import { type Kind, onEvm, onSolana, receive, receiveBody, sign, verdictOf } from "./receiving.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

describe.each(["sqlite", "postgres"] as const)("the receive-payment request on %s", (database) => {
  const skipped = database === "postgres" ? noPostgres() : undefined;
  let evm: Sandbox;
  let solana: SolanaSandbox;
  let world: GatewayWorld;

  beforeAll(async () => {
    if (skipped) return;
    [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
    world = await createGatewayWorld({ database, chains: { evm, solana } });
  });
  afterAll(async () => {
    await world?.close();
    await Promise.all([evm?.close(), solana?.close()]);
  });

  const pay = async (kind: Kind, more: object = {}): Promise<Answer> => {
    const payTo = await kind.newPayee();
    return receive(world, kind, payTo, await sign(kind, payTo), { ...more });
  };

  const rows = [
    ["walletAddress: required", { walletAddress: undefined }, "walletAddress"],
    ["walletAddress: EVM or Solana format", { walletAddress: "0x12" }, "walletAddress"],
    ["paymentProof: required", { paymentProof: undefined }, "paymentProof"],
    ["expectedAmount: required", { expectedAmount: undefined }, "expectedAmount"],
    ["expectedAmount: a number", { expectedAmount: "a lot" }, "expectedAmount"],
    ["expectedAmount: more than 0", { expectedAmount: 0 }, "expectedAmount"],
    ["expectedAmount: no more decimals than the asset has", { expectedAmount: 0.0000001 }, "expectedAmount"],
    ["resource: a string", { resource: 7 }, "resource"],
    ["facilitatorUrl: permitted by the operator", { facilitatorUrl: "https://x402.org/facilitator" }, "facilitatorUrl"],
    ["timeout: at least 1 second", { timeout: 0.5 }, "timeout"],
    ["timeout: at most 300 seconds", { timeout: 301 }, "timeout"],
    ["network: one that is served", { network: "base" }, "network"],
    ["asset: one that is listed", { asset: "DOGE" }, "asset"],
  ] as const;
  it.skipIf(skipped).each(rows)("%s", async (_row, change, path) => {
    const kind = onEvm(evm, "usdc", 2);
    const payTo = await kind.newPayee();
    const body = receiveBody(kind, payTo, await sign(kind, payTo), change);
    expect(verdictOf(await world.call("POST", "/payment/receive", body))).toBe(`400 INVALID_REQUEST ${path}`);
    expect(await kind.received(payTo)).toEqual([]);
  });

  it.skipIf(skipped)("takes an amount as a number, in exponent form or as text", async () => {
    for (const expectedAmount of [0.01, 1e-2, "0.01", "0.010"]) {
      expect(verdictOf(await pay(onEvm(evm, "usdc", 2), { expectedAmount }))).toBe("confirmed");
    }
  });

  it.skipIf(skipped)(
    "is in the chain's native currency where it names no asset, on the network of its wallet's family",
    async () => {
      const eth = await pay(onEvm(evm, "eth", 2));
      expect(eth.body).toMatchObject({ asset: "ETH", network: "eip155:84532" });
      const sol = await pay(onSolana(solana, "sol", 2));
      expect(sol.body).toMatchObject({ asset: "SOL", network: solana.caip2 });
    },
  );

  it.skipIf(skipped)(
    "timeout: 30 seconds by default, on POST /payment/receive only; priorityFee on POST /transaction/receive only",
    async () => {
      const kind = onEvm(evm, "usdc", 2);
      const payTo = await kind.newPayee();
      const body = receiveBody(kind, payTo, await sign(kind, payTo));
      expect(receiveRequest.parse(body).timeout).toBe(30);
      const timed = await world.call("POST", "/transaction/receive", { ...body, timeout: 30 });
      expect(verdictOf(timed)).toBe("400 INVALID_REQUEST timeout");
      const priced = await world.call("POST", "/payment/receive", { ...body, priorityFee: 0.001 });
      expect(verdictOf(priced)).toBe("400 INVALID_REQUEST priorityFee");
    },
  );
});
