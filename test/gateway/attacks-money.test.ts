// What a thief tries who pays a seller of this gateway: one transaction for many proofs, settlements that revert over and over at
// the gateway's cost, and a facilitator that says no and takes the money.
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createReceive } from "../../src/gateway/receive/receive.js";
import { receiveRequest } from "../../src/gateway/schemas/index.js";
import { resumeSettlement } from "../../src/gateway/watch/settlement.js";
import { createSandbox, eip3009Payer, type Sandbox } from "../../src/testing/index.js";
import { answer, BASE_SEPOLIA_KINDS, startScriptedFacilitator } from "../support/scripted-facilitator.js";
import { settleOnChain } from "../support/settle-on-chain.js";
import { onEvm, receive, receiveBody, sign, verdictOf } from "./receiving.js";
import { createGatewayWorld, type GatewayWorld, type WorldOptions } from "./world.js";

let evm: Sandbox;
const worlds: GatewayWorld[] = [];
beforeAll(async () => {
  evm = await createSandbox();
});
afterEach(async () => {
  await evm.chain.setAutomine(true);
  await Promise.all(worlds.splice(0).map((world) => world.close()));
});
afterAll(() => evm.close());

async function worldWith(options: WorldOptions = {}): Promise<GatewayWorld> {
  const world = await createGatewayWorld({ chains: { evm }, ...options });
  worlds.push(world);
  return world;
}

/** A facilitator that the operator lists, and its gateway. */
async function withForeign() {
  const foreign = await startScriptedFacilitator({ kinds: BASE_SEPOLIA_KINDS, settle: settleOnChain(evm) });
  const world = await worldWith({ options: { facilitatorUrls: [foreign.url] } });
  return { foreign, world };
}

const PROOFS = 6;

describe("a facilitator that names one transaction for many proofs at once", () => {
  it("is believed for one of them at most", async () => {
    const { foreign, world } = await withForeign();
    try {
      foreign.always("settle", answer.claim(`0x${"ee".repeat(32)}`));
      const kind = onEvm(evm, "usdc", 2);
      const payTo = await kind.newPayee();
      const proofs = await Promise.all(Array.from({ length: PROOFS }, () => sign(kind, payTo)));
      const [key] = await world.gateway.database.keys.list(world.account);
      if (!key) throw new Error("there is no key");
      // Whoever has looked for another record of the transaction goes on only when all have looked.
      const { parts } = world.gateway;
      const { payments } = parts.database;
      const all = gateOf(PROOFS);
      const bySignature: typeof payments.bySignature = async (...given) => {
        const found = await payments.bySignature(...given);
        await all.come();
        return found;
      };
      const database = { ...parts.database, payments: { ...payments, bySignature } };
      const take = createReceive({ ...parts, database });
      const got = await Promise.all(
        proofs.map((proof) => {
          const body = receiveBody(kind, payTo, proof, { facilitatorUrl: foreign.url, timeout: 4 });
          const signal = new AbortController().signal;
          return take({ key, requestId: "test", signal }, receiveRequest.parse(body));
        }),
      );
      expect(got.filter(({ ok }) => ok).length).toBeLessThanOrEqual(1);
      expect(await kind.received(payTo)).toEqual([]);
    } finally {
      await foreign.close();
    }
  });
});

/** Opens when so many have come. */
function gateOf(count: number) {
  let come = 0;
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    come(): Promise<void> {
      come += 1;
      if (come >= count) open();
      return opened;
    },
  };
}

describe("a settlement that reverts over and over", () => {
  it("costs the gateway no more than its payer's budget of a day, however often it is taken up again", async () => {
    const world = await worldWith({ watch: false, options: { sponsored: { perAccount: 100, perPayer: 3 } } });
    const kind = onEvm(evm, "usdc", 2);
    const payTo = await kind.newPayee();
    const account = await evm.newBuyer();
    // Good for longer than the whole test takes: what is not sent again is not sent for the budget's sake alone.
    const offer = { ...kind.offer(payTo), maxTimeoutSeconds: 600 };
    const proof = await sign(kind, payTo, { payer: eip3009Payer(account), offer });
    const settlements = async () =>
      Number(await evm.chain.rpc("eth_getTransactionCount", [evm.settler.address, "latest"]));
    const waiting = async () =>
      ((await evm.chain.rpc("eth_getBlockByNumber", ["pending", false])) as { transactions: unknown[] }).transactions
        .length;
    /** The money is there while it is judged, and gone when it is mined. */
    const inVain = async (work: Promise<unknown>): Promise<void> => {
      let over = false;
      const done = work.finally(() => {
        over = true;
      });
      await expect.poll(async () => over || (await waiting()) === 1, { timeout: 10_000 }).toBe(true);
      await evm.token.setBalances([account.address], 0n);
      await evm.chain.mine();
      await done;
      await evm.token.setBalances([account.address], 1_000_000n);
    };
    const before = await settlements();
    await evm.chain.setAutomine(false);
    await inVain(receive(world, kind, payTo, proof, { timeout: 12 }));
    const { database } = world.gateway.parts;
    for (let again = 1; again <= 2; again += 1) {
      const now = async () => (await database.now()) + again * 31_000;
      const later = { ...world.gateway.parts, database: { ...database, now } };
      const [payment] = (
        await database.payments.page(world.account, "test", account.address, { type: "all", limit: 1, offset: 0 })
      ).payments;
      if (payment?.status !== "submitted") throw new Error("there is no record of a settlement that goes on");
      await inVain(resumeSettlement(later, payment));
    }
    expect((await settlements()) - before).toBe(1);
  }, 60_000);
});

describe("a facilitator that refuses a payment and takes it all the same", () => {
  it("does not end the record of a payment that was made", async () => {
    const { foreign, world } = await withForeign();
    try {
      const kind = onEvm(evm, "usdc", 2);
      const payTo = await kind.newPayee();
      const proof = await sign(kind, payTo);
      foreign.script("settle", async (exchange) => {
        await exchange.act();
        await answer.refuse("invalid_payload")(exchange);
      });
      const got = await receive(world, kind, payTo, proof, { facilitatorUrl: foreign.url, timeout: 20 });
      expect(await kind.received(payTo)).toEqual([kind.units]);
      expect(verdictOf(got)).toBe("confirmed");
    } finally {
      await foreign.close();
    }
  });
});
