// `/settle` where the outcome is not known in time, or its answer got lost: said to be pending with the transaction, and told once
// to the very same payment sent again. Source: protocol §6.4, F10, F18, F21.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Caller } from "../../src/gateway/caller.js";
import type { Engine } from "../../src/gateway/engine.js";
import { createFacilitatorEndpoints } from "../../src/gateway/receive/facilitator.js";
import { claimAnswer } from "../../src/gateway/receive/facilitator-claim.js";
import { createSandbox, eip3009Payer, type Sandbox } from "../../src/testing/index.js";
import { facilitatorRequestBody } from "../../src/wire/facilitator.js";
import { fault, type ScriptedRpc, startScriptedRpc } from "../support/scripted-rpc.js";
import { bodyOf, type FacilitatorBody, settle, verify, wordOf } from "./facilitating.js";
import { onEvm } from "./receiving.js";
import { createGatewayWorld, type GatewayWorld } from "./world.js";

let evm: Sandbox;
let rpc: ScriptedRpc;
let world: GatewayWorld;
/** The same gateway, with less patience. */
let hasty: Pick<Engine, "verify" | "settle">;
/** With all that it has. */
let patient: typeof hasty;
let caller: Caller;

beforeAll(async () => {
  evm = await createSandbox();
  rpc = await startScriptedRpc(evm.rpcUrl);
  const networks = { "base-sepolia": { rpcUrl: rpc.url, settler: evm.settlerKey } };
  world = await createGatewayWorld({ chains: { evm }, options: { networks } });
  hasty = createFacilitatorEndpoints(world.gateway.parts, { settleMs: 4_000 });
  patient = createFacilitatorEndpoints(world.gateway.parts);
  const [key] = await world.gateway.database.keys.list(world.account);
  if (!key) throw new Error("the account has no key");
  caller = { key, requestId: "test", signal: new AbortController().signal };
});
afterEach(async () => {
  rpc.clear();
  await evm.chain.setAutomine(true);
  await evm.chain.mine();
});
afterAll(async () => {
  await world.close();
  await Promise.all([evm.close(), rpc.close()]);
});

/** `request`: the name of an idempotent one. */
const settleBy = async (endpoints: typeof hasty, body: FacilitatorBody, request?: string) => {
  const idempotency = request !== undefined && { id: request, seal: String, open: String };
  const asking = idempotency ? { ...caller, idempotency } : caller;
  const outcome = await endpoints.settle(asking, facilitatorRequestBody.parse(body));
  return outcome.ok ? outcome.value : { fault: outcome.code, status: outcome.status, paymentId: outcome.paymentId };
};
const settleHastily = (body: FacilitatorBody) => settleBy(hasty, body);

const newPayment = async (version: 1 | 2 = 2) => {
  const kind = onEvm(evm, "usdc", version);
  const payTo = await kind.newPayee();
  return { kind, payTo, body: await bodyOf(kind, payTo) };
};

describe("a settlement that is not confirmed in time", () => {
  it.each([
    [1, "unexpected_settle_error"],
    [2, "settlement_pending"],
  ] as const)(
    "is pending with its transaction, and the same payment again gets the final word: v%i",
    async (version, reason) => {
      const { kind, payTo, body } = await newPayment(version);
      await evm.chain.setAutomine(false);
      const first = await settleHastily(body);
      expect(first).toMatchObject({
        success: false,
        errorReason: reason,
        transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      });
      expect(await settleHastily(body)).toMatchObject({
        errorReason: reason,
        transaction: "transaction" in first && first.transaction,
      });
      await evm.chain.setAutomine(true);
      await evm.chain.mine();
      // The buyer's retry is not refused before it can be settled.
      expect(wordOf(await verify(world, body))).toBe("valid");
      const again = await settle(world, body);
      expect(again.body).toMatchObject({ success: true, transaction: "transaction" in first && first.transaction });
      expect(wordOf(await settle(world, body))).toBe("duplicate_settlement");
      expect(wordOf(await verify(world, body))).toBe("duplicate_settlement");
      expect(await kind.received(payTo)).toHaveLength(1);
    },
  );

  it("is told once where many ask for it again", async () => {
    const { kind, payTo, body } = await newPayment();
    await evm.chain.setAutomine(false);
    await settleHastily(body);
    await evm.chain.setAutomine(true);
    await evm.chain.mine();
    const others = await Promise.all([world.another(), world.another(), world.another()]);
    const words = (await Promise.all([world, ...others].map((one) => settle(one, body)))).map(wordOf);
    expect(words.filter((word) => word === "settled")).toHaveLength(1);
    expect(words.filter((word) => word === "duplicate_settlement")).toHaveLength(3);
    expect(await kind.received(payTo)).toHaveLength(1);
  });

  it("is told once where two have read that nobody was told so far", async () => {
    const { body } = await newPayment();
    await evm.chain.setAutomine(false);
    const pending = await settleHastily(body);
    await evm.chain.setAutomine(true);
    await evm.chain.mine();
    const { parts } = world.gateway;
    const transaction = "transaction" in pending ? pending.transaction : "";
    const read = async () => (await parts.database.payments.bySignature(world.account, transaction))[0];
    await expect.poll(async () => (await read())?.status, { timeout: 20_000 }).toMatch(/^(?:confirmed|finalized)$/);
    const both = await read();
    if (!both) throw new Error("the record is gone");
    expect([await claimAnswer(parts, null, both), await claimAnswer(parts, null, both)]).toEqual([true, false]);
  });

  it("is told to nobody who shows another signature or another account's key", async () => {
    const { body } = await newPayment();
    await evm.chain.setAutomine(false);
    await settleHastily(body);
    await evm.chain.setAutomine(true);
    await evm.chain.mine();
    const payload = body.paymentPayload.payload as { signature: string };
    const forged = {
      ...body,
      paymentPayload: { ...body.paymentPayload, payload: { ...payload, signature: `0x${"11".repeat(65)}` } },
    };
    const key = await world.newKey({ account: await world.newAccount() });
    expect(wordOf(await settle(world, forged))).toBe("duplicate_settlement");
    expect(wordOf(await verify(world, forged))).toBe("duplicate_settlement");
    expect(wordOf(await settle(world, body, { key }))).toBe("duplicate_settlement");
    expect(wordOf(await settle(world, body))).toBe("settled");
  });

  it("is told to nobody who shows the same transaction for less", async () => {
    const kind = onEvm(evm, "eth", 1);
    const payTo = await kind.newPayee();
    const body = await bodyOf(kind, payTo);
    await evm.chain.setAutomine(false);
    expect(await settleHastily(body)).toMatchObject({ errorReason: "unexpected_settle_error" });
    await evm.chain.setAutomine(true);
    await evm.chain.mine();
    const less = { ...body.paymentRequirements, maxAmountRequired: `${kind.units / 2n}` };
    const cheaper = { ...body, paymentRequirements: less };
    expect(wordOf(await verify(world, cheaper))).toBe("duplicate_settlement");
    expect(wordOf(await settle(world, cheaper))).toBe("duplicate_settlement");
    expect(wordOf(await settle(world, body))).toBe("settled");
  });

  it("is not waited for by a copy that comes meanwhile", async () => {
    const { kind, payTo, body } = await newPayment();
    await evm.chain.setAutomine(false);
    const first = settleHastily(body);
    expect(await settleHastily(body)).toMatchObject({ errorReason: "duplicate_settlement", transaction: "" });
    expect(await first).toMatchObject({ errorReason: "settlement_pending" });
    await evm.chain.setAutomine(true);
    await evm.chain.mine();
    expect(wordOf(await settle(world, body))).toBe("settled");
    expect(await kind.received(payTo)).toHaveLength(1);
  });

  it("is no failure either where nothing has been sent so far", async () => {
    const { kind, payTo, body } = await newPayment();
    const method = "eth_maxPriorityFeePerGas";
    rpc.script(method, fault.hang(), 20);
    const held = rpc.called(method, rpc.count(method) + 1);
    const first = settle(world, body);
    await held;
    const fault504 = { fault: "PAYMENT_VERIFICATION_FAILED", status: 504, paymentId: expect.any(String) };
    // Asked and answered while the node's own time, three seconds, is not over.
    const brief = createFacilitatorEndpoints(world.gateway.parts, { settleMs: 500 });
    expect(await settleBy(brief, body)).toEqual(fault504);
    rpc.clear();
    await first;
    const arrived = async () => {
      await settle(world, body);
      return kind.received(payTo);
    };
    await expect.poll(arrived, { timeout: 20_000 }).toHaveLength(1);
    expect(wordOf(await settle(world, body))).toBe("duplicate_settlement");
  });
});

describe("a success whose answer was not kept", () => {
  it("is told again to the request that had it, and to no other", async () => {
    const { kind, payTo, body } = await newPayment();
    const first = await settleBy(patient, body, "one");
    expect(first).toMatchObject({ success: true });
    expect(await settleBy(patient, body, "one")).toEqual(first);
    for (const other of ["another", undefined]) {
      expect(await settleBy(patient, body, other)).toMatchObject({ errorReason: "duplicate_settlement" });
    }
    expect(await settleBy(patient, body, "one")).toEqual(first);
    expect(await kind.received(payTo)).toHaveLength(1);
  });
});

describe("a settlement that could not be sent", () => {
  it("is no verdict, and the payment is settled when it comes again", async () => {
    const { kind, payTo, body } = await newPayment();
    rpc.script("eth_maxPriorityFeePerGas", fault.resetBefore(), 20);
    expect(wordOf(await settle(world, body))).toBe("503 UNAVAILABLE");
    expect(await kind.received(payTo)).toEqual([]);
    rpc.clear();
    expect(wordOf(await settle(world, body))).toBe("settled");
  });

  it("is a refusal in the protocol's words where the payer is at fault", async () => {
    const kind = onEvm(evm, "usdc", 2);
    const payTo = await kind.newPayee();
    const body = await bodyOf(kind, payTo, { payer: eip3009Payer(await evm.newBuyer(0n)) });
    const refused = await settle(world, body);
    expect(refused.body).toMatchObject({
      success: false,
      errorReason: "insufficient_funds",
      transaction: "",
      payer: expect.any(String),
    });
  });
});

describe("one authorization in both versions", () => {
  it("is one payment", async () => {
    const { kind, payTo, body } = await newPayment(2);
    const one = onEvm(evm, "usdc", 1);
    const { payload } = body.paymentPayload;
    const inV1 = await bodyOf(one, payTo);
    const twin = { ...inV1, paymentPayload: { ...inV1.paymentPayload, payload } };
    expect(wordOf(await verify(world, twin))).toBe("valid");
    expect(wordOf(await settle(world, twin))).toBe("settled");
    expect(wordOf(await settle(world, body))).toBe("duplicate_settlement");
    expect(await kind.received(payTo)).toHaveLength(1);
  });
});
