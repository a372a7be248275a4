// Payments on Solana that never landed: sent again with the same bytes, signed anew with the same reference only where the old
// ones can never land. The oracle is the number of debits on the chain.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Payment } from "../../src/gateway/payment.js";
import { repairSent } from "../../src/gateway/send/repair.js";
import { createSolanaSandbox, type SolanaSandbox } from "../../src/testing/index.js";
import { AFTER_SENDING, createGate, openRepairing, type RepairingWorld, withTransfers } from "./repairing.js";
import { type SendingWorld, until, valueIn } from "./sending.js";

let solana: SolanaSandbox;
let own: RepairingWorld;
let world: SendingWorld;

beforeAll(async () => {
  solana = await createSolanaSandbox();
});
afterAll(() => solana.close());
beforeEach(async () => {
  own = await openRepairing({ solana });
  world = own.world;
});

describe("a payment on Solana that never landed", () => {
  /** Accepted by a node and then lost. */
  const lost = async () => {
    solana.chain.dropTransactions(1);
    const made = await own.abandoned("solana", AFTER_SENDING);
    expect(made.payment.pursuit).toMatchObject({ kind: "solana", wire: expect.any(String) });
    return made;
  };
  const wireOf = ({ pursuit }: Payment) => (pursuit.kind === "solana" ? pursuit.wire : null);
  /** No block takes its blockhash any more, and that is final. */
  const expire = () => solana.chain.advanceSlots(151 + 40);

  it("is sent again with the same bytes as long as its blockhash lives", async () => {
    const { payment, wallet } = await lost();
    await own.repair(payment);
    await own.landed("solana", wallet);
    expect(wireOf(await world.payment(payment.id))).toBe(wireOf(payment));
    expect(await own.debits("solana", wallet)).toHaveLength(1);
  });

  it("is not signed anew where its blockhash is over and that is not final yet", async () => {
    const { payment } = await lost();
    solana.chain.advanceSlots(155);
    expect(wireOf(await own.repair(payment))).toBe(wireOf(payment));
    expect((await world.payment(payment.id)).status).not.toBe("failed");
  });

  it("is signed anew with the same reference once the old bytes can never land, by five processes once", async () => {
    const { payment, wallet, asked, idempotencyKey } = await lost();
    expire();
    await Promise.all(Array.from({ length: 5 }, () => own.repair(payment)));
    const answer = valueIn(await world.send(asked, { idempotencyKey }));
    expect(answer.status).toMatch(/confirmed|finalized/);
    expect(await own.debits("solana", wallet)).toEqual([10n ** 7n]);
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
    await own.repair(payment);
    await own.landed("solana", wallet);
    gate.open();
    await late;
    solana.chain.advanceSlots(3);
    expect(await own.debits("solana", wallet)).toHaveLength(1);
  });

  it("is signed anew by a watcher, too", async () => {
    const { payment, wallet } = await lost();
    expire();
    own.later(60_000);
    const { watcher } = (await world.start()).parts;
    watcher.start();
    const status = async () => (await world.payment(payment.id)).status;
    await until("it is confirmed", async () => /confirmed|finalized/.test(await status()));
    expect(await own.debits("solana", wallet)).toHaveLength(1);
  });

  it("is not signed anew a quarter of an hour later: whoever asked for it has given it up", async () => {
    const { payment, wallet } = await lost();
    expire();
    own.later(16 * 60_000);
    expect(await own.repair(payment)).toMatchObject({ status: "failed", error: { code: "UNAVAILABLE" } });
    expect(await own.debits("solana", wallet)).toEqual([]);
  });

  it("has failed where its wallet was removed meanwhile, or cannot pay it any more", async () => {
    const [removed, poor] = [await lost(), await lost()];
    expire();
    await world.database.wallets.remove(world.account, removed.wallet.id);
    expect(await own.repair(removed.payment)).toMatchObject({ status: "failed", error: { code: "UNAVAILABLE" } });
    const build = async () => ({ ok: false, code: "INSUFFICIENT_BALANCE", message: "expected more" }) as const;
    const emptied = await world.start(withTransfers("solana", () => ({ build })));
    const failed = await repairSent(emptied.parts, await world.payment(poor.payment.id));
    expect(failed).toMatchObject({ status: "failed", error: { code: "INSUFFICIENT_BALANCE" } });
    expect([...(await own.debits("solana", removed.wallet)), ...(await own.debits("solana", poor.wallet))]).toEqual([]);
  });

  it("waits for a chain that cannot be asked", async () => {
    const { payment, wallet } = await lost();
    expire();
    const build = async () => ({ ok: false, code: "UNAVAILABLE", message: "the chain is away" }) as const;
    const away = await world.start(withTransfers("solana", () => ({ build })));
    expect((await repairSent(away.parts, await world.payment(payment.id))).status).toBe("created");
    expect((await own.repair(payment)).status).toBe("submitted");
    expect(await own.landed("solana", wallet)).toHaveLength(1);
  });
});
