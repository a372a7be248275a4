// What a crash has cut off is taken up again: settlements whose record stands and whose bytes never left, and payments of hosted
// wallets that were written and not sent. The money moves once, whoever is at work.
import { randomUUID } from "node:crypto";
import { type Hex, hexToBytes } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { NewPayment } from "../../src/gateway/database/database.js";
import type { Payment } from "../../src/gateway/payment.js";
import { createPursuit } from "../../src/gateway/receive/pursuit.js";
import { resumeSettlement } from "../../src/gateway/watch/settlement.js";
import { createWatcher } from "../../src/gateway/watch/watcher.js";
import type { BoundProof } from "../../src/proof.js";
import type { Eip3009Requirement } from "../../src/requirement.js";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { makeProof, REQUIREMENT } from "../support/bound-proof.js";
import { answerOf, openWatching, stopPostgres, type Watching } from "./watching.js";

let evm: Sandbox;
beforeAll(async () => {
  evm = await createSandbox();
});
afterAll(async () => {
  await Promise.all([evm.close(), stopPostgres()]);
});

const payees = new Set<string>();

/** A signed authorization to a payee of its own. */
async function proofFor(more: { readonly balance?: bigint } = {}): Promise<BoundProof> {
  const payTo = privateKeyToAccount(`0x${String(payees.size + 1).padStart(64, "7")}`).address;
  payees.add(payTo);
  const requirement: Eip3009Requirement = { ...REQUIREMENT, payTo };
  return makeProof({ account: await evm.newBuyer(more.balance), requirement });
}

const received = async ({ requirement }: BoundProof): Promise<number> =>
  (await evm.token.transfers({ to: requirement.payTo as Hex })).length;

/** As `POST /payment/receive` has written it before anything was sent. */
async function insertReceived(world: Watching, proof: BoundProof, more: Partial<NewPayment> = {}): Promise<Payment> {
  const { requirement, payer } = proof;
  const inserted = await world.parts.database.payments.insert({
    account: world.account,
    mode: "test",
    type: "received",
    flow: "receive",
    status: "created",
    network: requirement.network,
    asset: requirement.asset,
    amount: requirement.amount,
    sender: payer,
    recipient: requirement.payTo,
    signature: null,
    fee: null,
    resource: null,
    metadata: null,
    expiresAt: proof.validBefore * 1000,
    proofId: proof.id,
    wallet: null,
    idempotency: null,
    sealed: null,
    pursuit: createPursuit(proof, randomUUID()),
    dueAt: 1,
    ...more,
  });
  if (inserted.outcome !== "ok") throw new Error(inserted.outcome);
  return inserted.payment;
}

describe("a settlement that a crash cut off before anything was sent", () => {
  it("is taken up by the watcher, and settled once", async () => {
    const world = await openWatching({ evm });
    const proof = await proofFor();
    const { id } = await insertReceived(world, proof);
    world.watcher.start();
    await expect.poll(async () => (await world.payment(id)).status, { timeout: 15_000 }).toBe("confirmed");
    expect(await received(proof)).toBe(1);
    const { signature, fee, blockHeight } = await world.payment(id);
    expect(signature).toMatch(/^0x[0-9a-f]{64}$/);
    expect([typeof fee, typeof blockHeight]).toEqual(["bigint", "number"]);
    await evm.chain.mine(3);
    await expect.poll(async () => (await world.payment(id)).status, { timeout: 15_000 }).toBe("finalized");
  });

  it("is settled once when many take it up at the same time", async () => {
    const world = await openWatching({ evm });
    const proof = await proofFor();
    const payment = await insertReceived(world, proof, { dueAt: null });
    const parts = [world.parts, await world.another()];
    await Promise.all(Array.from({ length: 6 }, (_, n) => resumeSettlement(parts[n % 2]!, payment)));
    expect(await received(proof)).toBe(1);
    const signed = world.log.filter((line) => line.startsWith("a settlement is taken up again"));
    expect(signed).toHaveLength(1);
  });

  it("is not sent by whoever looks without its lease: a status request moves no money", async () => {
    const world = await openWatching({ evm });
    const proof = await proofFor();
    const { id } = await insertReceived(world, proof);
    expect((await world.look(id)).status).toBe("created");
    expect(await received(proof)).toBe(0);
  });

  it("has failed when the payment is refused now, and nothing was ever sent", async () => {
    const world = await openWatching({ evm });
    const proof = await proofFor({ balance: 0n });
    const payment = await insertReceived(world, proof);
    const after = await resumeSettlement(world.parts, payment);
    expect(after).toMatchObject({ status: "failed", error: { code: "INVALID_PAYMENT_PROOF" }, dueAt: null });
    // It lets go of its proof, which can be shown again.
    expect(await world.parts.database.payments.byProof(proof.id)).toBeUndefined();
  });

  it("is found settled where somebody else has submitted the authorization meanwhile", async () => {
    const world = await openWatching({ evm });
    const proof = await proofFor();
    const { id } = await insertReceived(world, proof, { dueAt: Date.now() + 60_000 });
    await evm.receive().settle(proof, {
      settlementId: "another's",
      resource: { url: "https://shop.example", description: "", mimeType: "text/plain" },
      deadlineAt: Date.now() + 10_000,
      sending: async () => {},
    });
    const record = await world.until(id, ({ status }) => status === "confirmed");
    expect(record.signature).toMatch(/^0x[0-9a-f]{64}$/);
    expect(await received(proof)).toBe(1);
  });

  it("is left alone where a foreign facilitator has the proof", async () => {
    const world = await openWatching({ evm });
    const proof = await proofFor();
    const pursuit = createPursuit(proof, randomUUID(), "https://facilitator.example");
    const payment = await insertReceived(world, proof, { pursuit });
    expect(await resumeSettlement(world.parts, payment)).toEqual(payment);
    expect(await received(proof)).toBe(0);
  });
});

describe("a settlement that was announced", () => {
  it("is given time to appear, and sent again when no node has shown it", async () => {
    const world = await openWatching({ evm });
    const proof = await proofFor();
    const lost = `0x${"ab".repeat(32)}`;
    const payment = await insertReceived(world, proof, { status: "submitted", signature: lost });
    expect(await resumeSettlement(world.parts, payment)).toEqual(payment);
    expect(await received(proof)).toBe(0);
    const { database } = world.parts;
    const later = { ...world.parts, database: { ...database, now: async () => (await database.now()) + 31_000 } };
    await resumeSettlement(later, payment);
    const record = await world.until(payment.id, ({ status }) => status === "confirmed");
    expect(record.signature).not.toBe(lost);
    expect(await received(proof)).toBe(1);
  });

  it("expires when its time is finally over with the authorization unused, and keeps its proof", async () => {
    // Its own chain: time goes by on it.
    const chain = await createSandbox();
    try {
      const world = await openWatching({ evm: chain });
      const proof = await makeProof({ account: await chain.newBuyer() });
      const { id } = await insertReceived(world, proof, { status: "submitted", signature: `0x${"ab".repeat(32)}` });
      await chain.chain.setTime(proof.validBefore + 10);
      await chain.chain.mine(5);
      const record = await world.look(id);
      expect(record.status).toBe("expired");
      expect((await world.payment(id)).dueAt).toBeNull();
      expect((await world.parts.database.payments.byProof(proof.id))?.id).toBe(id);
    } finally {
      await chain.close();
    }
  });
});

describe("a payment of a hosted wallet that was written and not sent", () => {
  it("is sent by the watcher with the very bytes of its record", async () => {
    const world = await openWatching({ evm });
    const account = await evm.newBuyer();
    await evm.native.setBalances([account.address], 10n ** 18n);
    const network = world.parts.networks.find("base-sepolia")!;
    const [asset] = network.assets;
    const to = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
    const before = await evm.native.balanceOf(to);
    const signal = AbortSignal.timeout(10_000);
    const built = answerOf(await network.transfers.build({ from: account.address, to, asset, amount: 5n }, { signal }));
    const sign = async (digest: Uint8Array) => {
      const signature = await account.sign({ hash: `0x${Buffer.from(digest).toString("hex")}` });
      const bytes = hexToBytes(signature);
      return Uint8Array.from([...bytes.slice(0, 64), (bytes[64] ?? 27) - 27]);
    };
    const signed = await network.transfers.sign(built, { address: account.address, sign });
    const proof = await proofFor();
    const { id } = await insertReceived(world, proof, {
      ...{
        type: "sent",
        flow: "send",
        proofId: null,
        asset: "native",
        amount: 5n,
        sender: account.address,
        recipient: to,
      },
      ...{ pursuit: signed.pursuit, signature: signed.signature, expiresAt: null },
    });
    const watcher = createWatcher(world.parts, { intervalMs: 50 });
    watcher.start();
    await expect.poll(async () => (await world.payment(id)).status, { timeout: 15_000 }).toBe("confirmed");
    await watcher.close();
    expect((await world.payment(id)).signature).toBe(signed.signature);
    expect((await evm.native.balanceOf(to)) - before).toBe(5n);
  });
});
