// Payments on EVM that got lost on their way: brought back with the same bytes, given up only where nothing can move any more.
// The oracle is the number of debits on the chain.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { repairSent } from "../../src/gateway/send/repair.js";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { endsAt } from "./mortal.js";
import {
  AFTER_SENDING,
  AFTER_WRITING,
  createGate,
  openRepairing,
  type RepairingWorld,
  withTransfers,
} from "./repairing.js";
import { type Change, type SendingWorld, until, valueIn } from "./sending.js";

let evm: Sandbox;
let own: RepairingWorld;
let world: SendingWorld;

beforeAll(async () => {
  evm = await createSandbox();
});
afterAll(() => evm.close());
beforeEach(async () => {
  own = await openRepairing({ evm });
  world = own.world;
});

describe("a payment on EVM that no node knows", () => {
  it("is sent again with the same bytes, by any number of processes, and pays once", async () => {
    const { payment, wallet } = await own.abandoned("evm", AFTER_WRITING);
    await Promise.all(Array.from({ length: 5 }, () => own.repair(payment)));
    await own.repair(payment);
    expect(await own.landed("evm", wallet)).toEqual([10n ** 16n]);
    const after = await own.refreshed(payment);
    expect(after).toMatchObject({ signature: payment.signature, pursuit: payment.pursuit });
    expect(after.status).toMatch(/confirmed|finalized/);
  });

  it("is sent again where a node has dropped it", async () => {
    await evm.chain.setAutomine(false);
    const { payment, wallet } = await own.abandoned("evm", AFTER_SENDING);
    await evm.chain.rpc("anvil_dropTransaction", [payment.signature]);
    await evm.chain.setAutomine(true);
    await evm.chain.mine();
    expect(await own.debits("evm", wallet)).toEqual([]);
    expect((await own.repair(payment)).status).toBe("submitted");
    expect(await own.landed("evm", wallet)).toHaveLength(1);
  });

  it("does not fail where nodes refuse it: an earlier broadcast may have reached another one", async () => {
    const { payment, wallet } = await own.abandoned("evm", AFTER_WRITING);
    await evm.native.setBalances([wallet.address as `0x${string}`], 0n);
    expect((await own.repair(payment)).status).toBe("created");
    await evm.native.setBalances([wallet.address as `0x${string}`], 10n ** 18n);
    expect((await own.repair(payment)).status).toBe("submitted");
    expect(await own.landed("evm", wallet)).toHaveLength(1);
  });

  it("does not fail where the first broadcast is refused while somebody else sends the same bytes", async () => {
    const wallet = await world.newWallet("evm");
    const asked = { walletAddress: wallet.address, recipientAddress: await world.newPayee("evm"), amount: 0.01 };
    const [first, second] = [createGate(), createGate()];
    const slow = withTransfers("evm", () => ({
      broadcast: async () => {
        await first.pass();
        return { outcome: "refused", message: "no" };
      },
    }));
    const sending = (await world.start(slow)).send(asked);
    await first.reached;
    const [payment] = await world.payments(wallet.address);
    // A watcher that took over: its bytes have left, and it has not written so yet.
    const watching = withTransfers("evm", ({ transfers }) => ({
      async broadcast(...sent) {
        const answer = await transfers.broadcast(...sent);
        await second.pass();
        return answer;
      },
    }));
    const repairing = repairSent((await world.start(watching)).parts, await world.payment(payment!.id));
    await second.reached;
    first.open();
    expect(valueIn(await sending).status).toMatch(/confirmed|finalized/);
    second.open();
    await repairing;
    expect((await world.payment(payment!.id)).status).toMatch(/confirmed|finalized/);
    expect(await own.debits("evm", wallet)).toHaveLength(1);
  });

  it("has failed where another transaction took its nonce, but not before that one is final", async () => {
    const { payment, wallet } = await own.abandoned("evm", AFTER_WRITING);
    const payer = wallet.address as `0x${string}`;
    await evm.chain.rpc("anvil_impersonateAccount", [payer]);
    await evm.chain.rpc("eth_sendTransaction", [{ from: payer, to: evm.seller, value: "0x1" }]);
    expect((await own.repair(payment)).status).not.toBe("failed");
    await evm.chain.mine(4);
    expect(await own.repair(payment)).toMatchObject({ status: "failed", dueAt: null, error: { code: "UNAVAILABLE" } });
    expect(await own.debits("evm", wallet)).toEqual([1n]);
  });
});

describe("an account nonce that was given back while a later payment waits", () => {
  /** The first payment of a wallet is refused after the second one has left. */
  const refusedLater = async (change: Change = (parts) => parts) => {
    const wallet = await world.newWallet("evm");
    const gate = createGate();
    const broadcast = async () => {
      await gate.pass();
      return { outcome: "refused", message: "no" } as const;
    };
    const stubborn = await world.start((parts) => change(withTransfers("evm", () => ({ broadcast }))(parts)));
    const ask = async () => ({
      walletAddress: wallet.address,
      recipientAddress: await world.newPayee("evm"),
      amount: 0.01,
    });
    const first = stubborn.send(await ask());
    await gate.reached;
    const second = await own.abandoned("evm", AFTER_SENDING, wallet);
    expect(second.payment.pursuit).toMatchObject({ nonce: 1 });
    expect(await own.debits("evm", wallet)).toEqual([]);
    gate.open();
    return { wallet, first, second };
  };

  it("is filled by an empty transfer of the wallet to itself, and the later payment goes on", async () => {
    // What is refused is the first payment's own broadcast; the filling goes to the real chain.
    let count = 0;
    const real: Change = (parts) => {
      const network = parts.networks.defaultFor("evm", "test")!;
      const honest = world.network("evm").transfers;
      const broadcast: typeof honest.broadcast = (...sent) =>
        count++ === 0 ? network.transfers.broadcast(...sent) : honest.broadcast(...sent);
      const changed = { ...network, transfers: { ...network.transfers, broadcast } };
      return { ...parts, networks: { ...parts.networks, find: () => changed, defaultFor: () => changed } };
    };
    const { wallet, first, second } = await refusedLater(real);
    expect(await first).toMatchObject({ ok: false, code: "UNAVAILABLE", paymentId: expect.any(String) });
    expect(await own.landed("evm", wallet)).toEqual([10n ** 16n]);
    expect((await own.refreshed(second.payment)).status).toMatch(/confirmed|finalized/);
  });

  it("is filled by a watcher where the process that gave it back has ended", async () => {
    const { wallet, first, second } = await refusedLater(endsAt({ at: "nonces.gaps", when: "before" }).change);
    await expect(first).rejects.toThrow("the process has ended");
    expect(await own.debits("evm", wallet)).toEqual([]);
    own.later(60_000);
    const { watcher } = (await world.start()).parts;
    watcher.start();
    const status = async () => (await world.payment(second.payment.id)).status;
    await until("the later payment goes on", async () => /confirmed|finalized/.test(await status()));
    expect(await own.debits("evm", wallet)).toEqual([10n ** 16n]);
  });
});

describe("the nonce of a payment that lies still", () => {
  it("is not taken to fill a gap: the payment itself is sent, however long it lay", async () => {
    const still = await own.abandoned("evm", AFTER_WRITING);
    const { wallet } = still;
    const { nonces } = world.database;
    const free = await nonces.take("eip155:84532", wallet.address, 0);
    const waiting = await own.abandoned("evm", AFTER_SENDING, wallet);
    await nonces.giveBack("eip155:84532", wallet.address, free);
    expect([free, waiting.payment.pursuit]).toMatchObject([1, { nonce: 2 }]);
    own.later(3 * 60_000);
    await own.repair(waiting.payment);
    await own.repair(waiting.payment);
    expect(await own.debits("evm", wallet)).toEqual([]);
    await own.repair(still.payment);
    expect(await own.landed("evm", wallet, 2)).toEqual([10n ** 16n, 10n ** 16n]);
  });
});

describe("a payment that the chain does not confirm in time", () => {
  it("is answered as pending with its proof, and its repeat tells how it went", async () => {
    const wallet = await world.newWallet("evm");
    const asked = { walletAddress: wallet.address, recipientAddress: await world.newPayee("evm"), amount: 0.01 };
    await evm.chain.setAutomine(false);
    const quick = await world.start((parts) => {
      const one = parts.networks.defaultFor("evm", "test")!;
      const network = { ...one, network: { ...one.network, settleMs: 300 } };
      return { ...parts, networks: { ...parts.networks, find: () => network, defaultFor: () => network } };
    });
    const outcome = await quick.send(asked, { idempotencyKey: "slow" });
    await evm.chain.setAutomine(true);
    expect(outcome).toMatchObject({ ok: true, pending: true, value: { status: "submitted" } });
    const { paymentProof } = valueIn(outcome);
    await evm.chain.mine();
    const later = await world.send(asked, { idempotencyKey: "slow" });
    expect(later).toMatchObject({ ok: true, value: { status: "confirmed", paymentProof } });
    expect(later).not.toHaveProperty("pending");
    expect(await own.debits("evm", wallet)).toHaveLength(1);
  });
});
