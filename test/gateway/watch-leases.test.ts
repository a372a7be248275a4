// Several watchers on one database: each payment is one's at a time, and nothing stays with a watcher that has died.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ChainStanding, TransferChain } from "../../src/gateway/chain.js";
import type { GatewayParts } from "../../src/gateway/parts.js";
import { createWatcher } from "../../src/gateway/watch/watcher.js";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { handClock } from "../support/hand-clock.js";
import { answerOf, DATABASES, openWatching, reasonAgainst, stopPostgres, type Watching } from "./watching.js";

let evm: Sandbox;
beforeAll(async () => {
  evm = await createSandbox();
});
afterAll(async () => {
  await Promise.all([evm.close(), stopPostgres()]);
});

type Parts = Omit<GatewayParts, "watcher">;
type Pursued = Parameters<TransferChain["standing"]>[0];

/** The same parts with another way to look at the chain. */
function looking(parts: Parts, standing: TransferChain["standing"]): Parts {
  const find: Parts["networks"]["find"] = (name) => {
    const network = parts.networks.find(name);
    return network && { ...network, transfers: { ...network.transfers, standing } };
  };
  return { ...parts, networks: { ...parts.networks, find } };
}

/** The same parts, and how often a watcher has asked them for what is due. */
function counting(parts: Parts): { readonly parts: Parts; rounds(): number } {
  let asked = 0;
  const takeDue: Parts["database"]["payments"]["takeDue"] = (limit, leaseMs) => {
    asked += 1;
    return parts.database.payments.takeDue(limit, leaseMs);
  };
  const payments = { ...parts.database.payments, takeDue };
  return { parts: { ...parts, database: { ...parts.database, payments } }, rounds: () => asked };
}

const HASH = `0x${"ab".repeat(32)}`;
const RECIPIENT = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";

async function buildMany(world: Watching, count: number): Promise<readonly string[]> {
  const buyers = await evm.newBuyers(count);
  await evm.native.setBalances(
    buyers.map(({ address }) => address),
    10n ** 18n,
  );
  const build = async (walletAddress: string) => {
    const request = { walletAddress, recipientAddress: RECIPIENT, amount: 0.01 };
    const { paymentId } = answerOf(await world.buildSend(world.caller(), request));
    const payment = await world.payment(paymentId);
    await world.parts.database.payments.change(payment, "created", { dueAt: 1 });
    return paymentId;
  };
  return Promise.all(buyers.map(({ address }) => build(address)));
}

describe.each(DATABASES)("two watchers on one %s", (database) => {
  it.skipIf(reasonAgainst(database) !== undefined)("look at every payment, and never at one at once", async () => {
    const world = await openWatching({ database, evm });
    const ids = await buildMany(world, 60);
    const [now, seen]: [Set<string>, string[]] = [new Set(), []];
    let collisions = 0;
    const standing = async (pursuit: Pursued): Promise<ChainStanding> => {
      const name = String(pursuit.reference);
      if (now.has(name)) collisions += 1;
      now.add(name);
      // A node takes its time: long enough for the other watcher to come by.
      await new Promise((resolve) => setTimeout(resolve, 40));
      now.delete(name);
      seen.push(name);
      return { state: "unseen" };
    };
    const watchers = [world.parts, await world.another()].map((parts) =>
      createWatcher(looking(parts, standing), { intervalMs: 20 }),
    );
    for (const watcher of watchers) watcher.start();
    await expect.poll(() => new Set(seen).size, { timeout: 15_000 }).toBe(ids.length);
    await Promise.all(watchers.map((watcher) => watcher.close()));
    expect(collisions).toBe(0);
  });
});

describe("a watcher that dies in the middle of a look", () => {
  const LEASE_MS = 60_000;

  it("leaves its payments to the others when its lease is over, and not before", async () => {
    const clock = handClock(Date.now());
    const world = await openWatching({ evm, clock });
    const [id = ""] = await buildMany(world, 1);
    let [hung, looked] = [0, 0];
    const dying = looking(await world.another(), () => {
      hung += 1;
      return new Promise<ChainStanding>(() => {});
    });
    createWatcher(dying, { intervalMs: 20 }).start();
    await expect.poll(() => hung).toBe(1);
    const { parts, rounds } = counting(
      looking(world.parts, async () => {
        looked += 1;
        return { state: "waiting", signature: HASH };
      }),
    );
    const living = createWatcher(parts, { intervalMs: 20 });
    living.start();
    clock.advance(LEASE_MS - 1_000);
    const before = rounds();
    await expect.poll(rounds).toBeGreaterThan(before + 2);
    expect(looked).toBe(0);
    clock.advance(2_000);
    await expect.poll(() => looked).toBeGreaterThan(0);
    expect((await world.payment(id)).status).toBe("submitted");
    await living.close();
  });

  it("and comes back too late changes nothing any more", async () => {
    const clock = handClock(Date.now());
    const world = await openWatching({ evm, clock, behindMs: 120_000 });
    const [id = ""] = await buildMany(world, 1);
    const answers: ((standing: ChainStanding) => void)[] = [];
    const slow = createWatcher(
      looking(await world.another(), () => new Promise((resolve) => answers.push(resolve))),
      { intervalMs: 20 },
    );
    slow.start();
    await expect.poll(() => answers).toHaveLength(1);
    clock.advance(LEASE_MS + 1_000);
    const quick = createWatcher(
      looking(world.parts, async () => ({ state: "waiting", signature: HASH })),
      {
        intervalMs: 20,
      },
    );
    quick.start();
    await expect.poll(async () => (await world.payment(id)).status).toBe("submitted");
    await quick.close();
    // By what it saw a minute ago the payment would have expired.
    answers[0]?.({ state: "unseen" });
    await slow.close();
    expect(await world.payment(id)).toMatchObject({ status: "submitted", signature: HASH });
  });
});
