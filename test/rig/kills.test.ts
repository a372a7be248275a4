// Processes of a seller are killed at each of twelve points of a payment, and stopped for longer than their lease at six: others with
// the same store and the same settler key go on, every proof has at most one grant and one debit, and whoever has paid gets the goods
// by asking again. Once each; by command `RIG_ROUNDS=20 npx vitest run test/rig/kills.test.ts`. Needs a build.
import { setTimeout as after } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createSandbox, type Sandbox } from "../../src/testing/index.js";
import { dice } from "../support/dice.js";
import { type Buyer, newBuyer } from "./buyer.js";
import { check, isSpent } from "./checker.js";
import { closeBooks } from "./record.js";
import { openShop, type Process, SHARED_STORES, type Shop } from "./shop.js";

const ROUNDS = Number(process.env.RIG_ROUNDS ?? 1);

/** In the order in which a payment comes to them; see points.mjs. */
const POINTS = [
  "verified, not claimed",
  "claimed",
  "the handler runs",
  "settling, not signed",
  "signed, not announced",
  "announced, not sent",
  "the bytes have left",
  "mined, not written",
  "settled, not answered",
  "half is answered",
  "answered, not written",
  "delivered",
] as const;
const STOPS = [
  "claimed",
  "the handler runs",
  "settling, not signed",
  "announced, not sent",
  "mined, not written",
  "settled, not answered",
] as const;
/** Who dies here has taken nothing, and nobody has the bytes: the proof runs out, which is known for certain then. */
const NEVER_SENT: readonly string[] = ["settling, not signed", "signed, not announced", "announced, not sent"];

const [LEASE_MS, SETTLE_MS] = [1_500, 8_000];
/** A settlement that was begun is held for so long after its time. */
const STOPPED_MS = SETTLE_MS + 3_000;
const ENV = {
  LEASE_MS: `${LEASE_MS}`,
  SETTLE_MS: `${SETTLE_MS}`,
  HANDLER_TIMEOUT_MS: "2000",
  /** Seconds that a payment lives: who dies before it was sent keeps its buyer waiting for so long. */
  MAX_TIMEOUT: "45",
};
const PATIENCE_MS = 150_000;
const ROUND_MS = 400_000;

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await createSandbox({ blockTimeMs: 1_000 });
});
afterAll(() => sandbox?.close());

const ending: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end();
});

/** Two processes that live, and one that is hit at each of the points. */
async function openRound(round: number, points: readonly string[], ACT: "die" | "stop") {
  const kinds = SHARED_STORES.filter(({ absent }) => absent() === undefined);
  const kind = kinds[(round + (ACT === "die" ? 0 : 1)) % kinds.length];
  if (!kind) throw new Error("no store that processes can share is installed");
  const store = await kind.start();
  ending.push(() => store.stop());
  const shop = await openShop(sandbox, store, ENV);
  ending.push(() => shop.close());
  const roll = dice(round);
  const framework = () => (roll(2) === 0 ? "express" : "hono");
  const survivors = [await shop.open({ FRAMEWORK: framework() }), await shop.open({ FRAMEWORK: framework() })];
  const next = () => String(survivors[roll(survivors.length)]?.url);
  const opened: { readonly point: string; readonly victim: Process; readonly key: string | undefined }[] = [];
  for (const point of points) {
    // Stopped processes come back: without a key nobody is to be served twice then.
    const key = ACT === "stop" || roll(2) === 0 ? undefined : `retry-key-of-a-buyer-${opened.length}`;
    opened.push({ point, victim: await shop.open({ POINT: point, ACT, FRAMEWORK: framework() }), key });
  }
  // Signed when all of them stand: a payment has less than a minute to live.
  const accounts = await sandbox.newBuyers(points.length);
  const victims = await Promise.all(
    accounts.map(async (account, at) => {
      const one = opened[at];
      if (!one) throw new Error("fewer processes than points");
      return { ...one, buyer: await newBuyer(next(), account, one.key ? { retryKey: one.key } : {}) };
    }),
  );
  return { shop, next, victims };
}

/** What was sold is shown once more by somebody who has seen it on the way. */
async function showAgain(sold: readonly { readonly buyer: Buyer; readonly key: string | undefined }[], url: string) {
  for (const { buyer, key } of sold) if (key) await buyer.ask(url, { by: "stranger" });
}

/** Debits by point, after all promises were found kept. */
async function closeRound(shop: Shop, victims: readonly { readonly point: string; readonly buyer: Buyer }[]) {
  const history = await closeBooks(
    shop,
    victims.map(({ buyer }) => buyer),
  );
  const pointOf = (payer: string) => victims.find(({ buyer }) => buyer.payer === payer)?.point ?? payer;
  const found = check(history).map(({ rule, payer, detail }) => `${pointOf(payer)}: ${rule} (${detail})`);
  expect(found).toEqual([]);
  // The checker lets a buyer go whose every delivery got lost on its way: one process died here, so nobody's was.
  const paid = history.purchases.filter(({ debits }) => debits.length > 0);
  const served = paid.filter(({ told }) =>
    told.some(({ by, status, complete }) => by === "buyer" && status === 200 && complete),
  );
  const nameOf = ({ payer }: { readonly payer: string }) => pointOf(payer);
  expect([served.map(nameOf), paid.filter(({ told }) => isSpent(told))]).toEqual([paid.map(nameOf), []]);
  return new Map(history.purchases.map(({ payer, debits }) => [pointOf(payer), debits.length]));
}

const rounds = Array.from({ length: ROUNDS }, (_, at) => at + 1);

describe.each(rounds)("round %i", (round) => {
  it("kills a process at each point: one grant, one debit, or none of both", { timeout: ROUND_MS }, async () => {
    const { shop, next, victims } = await openRound(round, POINTS, "die");
    const hit = async ({ point, victim, buyer }: (typeof victims)[number]) => {
      let isDead = false;
      void victim.ended.then(() => (isDead = true));
      // A busy process may refuse at first, and is asked again until it is hit.
      await buyer.insist(() => (isDead ? next() : victim.url), PATIENCE_MS);
      await expect.poll(() => isDead, { message: `${point}\n${victim.output()}` }).toBe(true);
    };
    await Promise.all(victims.map(hit));
    await showAgain(victims, next());
    const debits = await closeRound(shop, victims);
    for (const [point, count] of debits) if (!NEVER_SENT.includes(point)) expect(count, point).toBe(1);
  });

  it("stops a process at each point for longer than its lease: one grant, one debit", {
    timeout: ROUND_MS,
  }, async () => {
    const { shop, next, victims } = await openRound(round, STOPS, "stop");
    const hit = async ({ point, victim, buyer }: (typeof victims)[number]) => {
      const first = buyer.insist(() => victim.url, PATIENCE_MS);
      await stopped(victim, point);
      const elsewhere = buyer.insist(next, PATIENCE_MS);
      await after(STOPPED_MS);
      victim.signal("SIGCONT");
      await Promise.all([first, elsewhere]);
    };
    await Promise.all(victims.map(hit));
    await showAgain(victims, next());
    const debits = await closeRound(shop, victims);
    // Who wakes up past the settlement's time sends nothing any more.
    for (const [point, count] of debits) if (!NEVER_SENT.includes(point)) expect(count, point).toBe(1);
  });
});

/** Resolves when the process has come to its point. */
async function stopped(victim: Process, point: string): Promise<void> {
  await expect.poll(() => victim.output(), { timeout: 60_000, interval: 50 }).toContain(`came to the point: ${point}`);
}
