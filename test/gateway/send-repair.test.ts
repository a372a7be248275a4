// Payments that got lost on their way: brought back with the same bytes, signed anew only where the old ones can never land, given
// up only where nothing can move any more. The oracle is the number of debits on the chain.
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { GatewayNetwork } from "../../src/gateway/chain.js";
import type { HostedWallet } from "../../src/gateway/database/database.js";
import type { Payment } from "../../src/gateway/payment.js";
import { repairSent } from "../../src/gateway/send/repair.js";
import { createSandbox, createSolanaSandbox, type Sandbox, type SolanaSandbox } from "../../src/testing/index.js";
import { type Death, endsAt } from "./mortal.js";
import { type Change, openSending, type SendingWorld, until, valueIn } from "./sending.js";

let evm: Sandbox;
let solana: SolanaSandbox;
let world: SendingWorld;
let aheadMs = 0;

beforeAll(async () => {
  [evm, solana] = await Promise.all([createSandbox(), createSolanaSandbox()]);
});
afterAll(() => Promise.all([evm.close(), solana.close()]));
beforeEach(async () => {
  aheadMs = 0;
  world = await openSending({ evm, solana, ahead: () => aheadMs });
});

const AFTER_WRITING: Death = { at: "payments.insert", when: "after" };
const AFTER_SENDING: Death = { at: "transfers.broadcast", when: "after" };

/** A payment of 0.01 whose process ended. */
async function abandoned(family: "evm" | "solana", death: Death, wallet?: HostedWallet) {
  const from = wallet ?? (await world.newWallet(family));
  const asked = { walletAddress: from.address, recipientAddress: await world.newPayee(family), amount: 0.01 };
  const dying = await world.start(endsAt(death).change);
  const idempotencyKey = randomBytes(8).toString("hex");
  await expect(dying.send(asked, { idempotencyKey })).rejects.toThrow("the process has ended");
  const payments = await world.payments(from.address);
  const payment = payments.find(({ recipient }) => recipient.toLowerCase() === asked.recipientAddress.toLowerCase());
  if (!payment) throw new Error("the payment was not written");
  return { payment: await world.payment(payment.id), wallet: from, asked, idempotencyKey };
}

/** The parts of a process with another chain in place of a network's transfers. */
const withTransfers =
  (family: "evm" | "solana", own: (network: GatewayNetwork) => Partial<GatewayNetwork["transfers"]>): Change =>
  (parts) => {
    const network = parts.networks.defaultFor(family, "test")!;
    const changed = { ...network, transfers: { ...network.transfers, ...own(network) } };
    return { ...parts, networks: { ...parts.networks, find: () => changed, defaultFor: () => changed } };
  };

/** Where a process stands still until a test lets it go on. */
function createGate() {
  let open = () => {};
  let reach = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const pass = () => {
    reach();
    return opened;
  };
  return { open: () => open(), reached, pass };
}

const repair = async (payment: Payment) => repairSent(world.parts, await world.payment(payment.id));
const debits = (family: "evm" | "solana", { address }: HostedWallet) => world.debits(world.network(family), address);
/** Every debit, once there are so many: a block may take its moment. */
async function landed(family: "evm" | "solana", wallet: HostedWallet, count = 1): Promise<readonly bigint[]> {
  await until("it lands", async () => (await debits(family, wallet)).length >= count);
  return debits(family, wallet);
}
const refreshed = async ({ id }: Payment) => {
  const { watcher } = (await world.start()).parts;
  return watcher.refresh(await world.payment(id));
};

describe("a payment on EVM that no node knows", () => {
  it("is sent again with the same bytes, by any number of processes, and pays once", async () => {
    const { payment, wallet } = await abandoned("evm", AFTER_WRITING);
    await Promise.all(Array.from({ length: 5 }, () => repair(payment)));
    await repair(payment);
    expect(await landed("evm", wallet)).toEqual([10n ** 16n]);
    const after = await refreshed(payment);
    expect(after).toMatchObject({ signature: payment.signature, pursuit: payment.pursuit });
    expect(after.status).toMatch(/confirmed|finalized/);
  });

  it("is sent again where a node has dropped it", async () => {
    await evm.chain.setAutomine(false);
    const { payment, wallet } = await abandoned("evm", AFTER_SENDING);
    await evm.chain.rpc("anvil_dropTransaction", [payment.signature]);
    await evm.chain.setAutomine(true);
    await evm.chain.mine();
    expect(await debits("evm", wallet)).toEqual([]);
    expect((await repair(payment)).status).toBe("submitted");
    expect(await landed("evm", wallet)).toHaveLength(1);
  });

  it("does not fail where nodes refuse it: an earlier broadcast may have reached another one", async () => {
    const { payment, wallet } = await abandoned("evm", AFTER_WRITING);
    await evm.native.setBalances([wallet.address as `0x${string}`], 0n);
    expect((await repair(payment)).status).toBe("created");
    await evm.native.setBalances([wallet.address as `0x${string}`], 10n ** 18n);
    expect((await repair(payment)).status).toBe("submitted");
    expect(await landed("evm", wallet)).toHaveLength(1);
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
    expect(await debits("evm", wallet)).toHaveLength(1);
  });

  it("has failed where another transaction took its nonce, but not before that one is final", async () => {
    const { payment, wallet } = await abandoned("evm", AFTER_WRITING);
    const own = wallet.address as `0x${string}`;
    await evm.chain.rpc("anvil_impersonateAccount", [own]);
    await evm.chain.rpc("eth_sendTransaction", [{ from: own, to: evm.seller, value: "0x1" }]);
    expect((await repair(payment)).status).not.toBe("failed");
    await evm.chain.mine(4);
    expect(await repair(payment)).toMatchObject({ status: "failed", dueAt: null, error: { code: "UNAVAILABLE" } });
    expect(await debits("evm", wallet)).toEqual([1n]);
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
    const second = await abandoned("evm", AFTER_SENDING, wallet);
    expect(second.payment.pursuit).toMatchObject({ nonce: 1 });
    expect(await debits("evm", wallet)).toEqual([]);
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
    expect(await landed("evm", wallet)).toEqual([10n ** 16n]);
    expect((await refreshed(second.payment)).status).toMatch(/confirmed|finalized/);
  });

  it("is filled by a watcher where the process that gave it back has ended", async () => {
    const { wallet, first, second } = await refusedLater(endsAt({ at: "nonces.gaps", when: "before" }).change);
    await expect(first).rejects.toThrow("the process has ended");
    expect(await debits("evm", wallet)).toEqual([]);
    aheadMs = 60_000;
    const { watcher } = (await world.start()).parts;
    watcher.start();
    const status = async () => (await world.payment(second.payment.id)).status;
    await until("the later payment goes on", async () => /confirmed|finalized/.test(await status()));
    expect(await debits("evm", wallet)).toEqual([10n ** 16n]);
  });
});

describe("the nonce of a payment that lies still", () => {
  it("is not taken to fill a gap: the payment itself is sent, however long it lay", async () => {
    const still = await abandoned("evm", AFTER_WRITING);
    const { wallet } = still;
    const { nonces } = world.database;
    const free = await nonces.take("eip155:84532", wallet.address, 0);
    const waiting = await abandoned("evm", AFTER_SENDING, wallet);
    await nonces.giveBack("eip155:84532", wallet.address, free);
    expect([free, waiting.payment.pursuit]).toMatchObject([1, { nonce: 2 }]);
    aheadMs = 3 * 60_000;
    await repair(waiting.payment);
    await repair(waiting.payment);
    expect(await debits("evm", wallet)).toEqual([]);
    await repair(still.payment);
    expect(await landed("evm", wallet, 2)).toEqual([10n ** 16n, 10n ** 16n]);
  });
});

describe("a payment on Solana that never landed", () => {
  /** Accepted by a node and then lost. */
  const lost = async () => {
    solana.chain.dropTransactions(1);
    const own = await abandoned("solana", AFTER_SENDING);
    expect(own.payment.pursuit).toMatchObject({ kind: "solana", wire: expect.any(String) });
    return own;
  };
  const wireOf = ({ pursuit }: Payment) => (pursuit.kind === "solana" ? pursuit.wire : null);
  /** No block takes its blockhash any more, and that is final. */
  const expire = () => solana.chain.advanceSlots(151 + 40);

  it("is sent again with the same bytes as long as its blockhash lives", async () => {
    const { payment, wallet } = await lost();
    await repair(payment);
    await landed("solana", wallet);
    expect(wireOf(await world.payment(payment.id))).toBe(wireOf(payment));
    expect(await debits("solana", wallet)).toHaveLength(1);
  });

  it("is not signed anew where its blockhash is over and that is not final yet", async () => {
    const { payment } = await lost();
    solana.chain.advanceSlots(155);
    expect(wireOf(await repair(payment))).toBe(wireOf(payment));
    expect((await world.payment(payment.id)).status).not.toBe("failed");
  });

  it("is signed anew with the same reference once the old bytes can never land, by five processes once", async () => {
    const { payment, wallet, asked, idempotencyKey } = await lost();
    expire();
    await Promise.all(Array.from({ length: 5 }, () => repair(payment)));
    const answer = valueIn(await world.send(asked, { idempotencyKey }));
    expect(answer.status).toMatch(/confirmed|finalized/);
    expect(await debits("solana", wallet)).toEqual([10n ** 7n]);
    const after = await world.payment(payment.id);
    const reference = payment.pursuit.kind === "solana" ? payment.pursuit.reference : null;
    expect(after.pursuit).toMatchObject({ reference, earlier: [payment.signature] });
    expect(after.signature).not.toBe(payment.signature);
    // The proof shows the bytes that have landed.
    const shown = JSON.parse(Buffer.from(answer.paymentProof ?? "", "base64").toString()) as {
      payload: { transaction: string };
    };
    expect(shown.payload.transaction).toBe(wireOf(after));
  });

  it("is signed anew once where two processes have built it with blockhashes of their own", async () => {
    const { payment, wallet } = await lost();
    expire();
    const gate = createGate();
    const slow = withTransfers("solana", ({ transfers }) => ({
      async sign(...given) {
        await gate.pass();
        return transfers.sign(...given);
      },
    }));
    const late = repairSent((await world.start(slow)).parts, await world.payment(payment.id));
    await gate.reached;
    solana.chain.advanceSlots(3);
    await repair(payment);
    await landed("solana", wallet);
    gate.open();
    await late;
    solana.chain.advanceSlots(3);
    expect(await debits("solana", wallet)).toHaveLength(1);
  });

  it("is signed anew by a watcher, too", async () => {
    const { payment, wallet } = await lost();
    expire();
    aheadMs = 60_000;
    const { watcher } = (await world.start()).parts;
    watcher.start();
    const status = async () => (await world.payment(payment.id)).status;
    await until("it is confirmed", async () => /confirmed|finalized/.test(await status()));
    expect(await debits("solana", wallet)).toHaveLength(1);
  });

  it("is not signed anew a quarter of an hour later: whoever asked for it has given it up", async () => {
    const { payment, wallet } = await lost();
    expire();
    aheadMs = 16 * 60_000;
    expect(await repair(payment)).toMatchObject({ status: "failed", error: { code: "UNAVAILABLE" } });
    expect(await debits("solana", wallet)).toEqual([]);
  });

  it("has failed where its wallet was removed meanwhile, or cannot pay it any more", async () => {
    const [removed, poor] = [await lost(), await lost()];
    expire();
    await world.database.wallets.remove(world.account, removed.wallet.id);
    expect(await repair(removed.payment)).toMatchObject({ status: "failed", error: { code: "UNAVAILABLE" } });
    const build = async () => ({ ok: false, code: "INSUFFICIENT_BALANCE", message: "expected more" }) as const;
    const emptied = await world.start(withTransfers("solana", () => ({ build })));
    const failed = await repairSent(emptied.parts, await world.payment(poor.payment.id));
    expect(failed).toMatchObject({ status: "failed", error: { code: "INSUFFICIENT_BALANCE" } });
    expect([...(await debits("solana", removed.wallet)), ...(await debits("solana", poor.wallet))]).toEqual([]);
  });

  it("waits for a chain that cannot be asked", async () => {
    const { payment, wallet } = await lost();
    expire();
    const build = async () => ({ ok: false, code: "UNAVAILABLE", message: "the chain is away" }) as const;
    const away = await world.start(withTransfers("solana", () => ({ build })));
    expect((await repairSent(away.parts, await world.payment(payment.id))).status).toBe("created");
    expect((await repair(payment)).status).toBe("submitted");
    expect(await landed("solana", wallet)).toHaveLength(1);
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
    expect(await debits("evm", wallet)).toHaveLength(1);
  });
});
