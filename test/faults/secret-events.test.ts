// Secrets in events: of every kind that a paywall tells, and of every log line beside them, none holds a signature, a nonce, a
// retry key, the secret of a transaction, or a pass. What `low_gas` holds is told in full in test/low-gas.test.ts.
import { expect, it, vi } from "vitest";
import "../../src/send-again.js";
import type { EventName } from "../../src/events.js";
import type { Finality } from "../../src/receive/receiver.js";
import { createFakeClock, settle } from "../support/fake-clock.js";
import { broken, createWorld, scriptedReceiver, TRANSACTION, type WorldOptions } from "../support/world.js";

const KEY = "retry-key-0123456789";
const SECRET = `0x${"5e".repeat(32)}`;
const MINUTE = 60_000;
const ETH = { amount: "1000", asset: "native", network: "base-sepolia" } as const;

/** Every event; `true`: it is told by the paywall itself, and not by a settler's gas watch. */
const EVENTS: Readonly<Record<EventName, boolean>> = {
  challenge: true,
  refusal: true,
  verified: true,
  claimed: true,
  released: true,
  settled: true,
  refused: true,
  unknown: true,
  delivered: true,
  undelivered: true,
  replayed: true,
  reconciled: true,
  expired: true,
  reorganised: true,
  low_gas: false,
};
const NAMES = Object.keys(EVENTS) as EventName[];

/** A shop with a chain that can take settlements back; what it tells, and what must not stand in it. */
function openShop(options: WorldOptions) {
  const chain: Finality[] = [];
  const finality = async (): Promise<Finality> => chain.shift() ?? { outcome: "untold" };
  const clock = createFakeClock();
  const world = createWorld({ ...options, clock, receiver: { ...scriptedReceiver(), finality } });
  const heard = new Set<EventName>();
  const told: string[] = [];
  for (const name of NAMES) {
    world.events.on(name, (event) => {
      heard.add(name);
      told.push(JSON.stringify(event, (_key, value) => (typeof value === "bigint" ? `${value}` : value)));
    });
  }
  const pass = async (ms: number) => {
    await clock.advance(ms);
    await vi.dynamicImportSettled();
    await settle();
  };
  return { ...world, chain, heard, pass, text: () => [...told, ...world.log].join("\n").toLowerCase() };
}
type Shop = ReturnType<typeof openShop>;

/** Payments that go every way that one can; gives the header of each. */
async function goEveryWay(shop: Shop, sign: () => Promise<Record<string, string>>) {
  const shown: Record<string, string>[] = [];
  const next = async () => {
    const headers = await sign();
    shown.push(headers);
    return headers;
  };
  await shop.send({ headers: await next() }, broken);
  const delivered = await next();
  await shop.send({ headers: delivered });
  await shop.send({ headers: delivered });
  await shop.send({ headers: { ...delivered, "Content-Type": "other" } });
  await shop.send({ headers: await next(), client: "leaves" });
  shop.receiver.verification = { outcome: "invalid", code: "signature_invalid" };
  await shop.send({ headers: await next() });
  shop.receiver.verification = undefined;
  shop.receiver.settlements.push(() => ({ outcome: "refused", code: "insufficient_funds", reason: "empty" }));
  await shop.send({ headers: await next() });
  for (const found of [{ outcome: "settled", transaction: TRANSACTION }, { outcome: "expired" }] as const) {
    shop.receiver.lookups = [{ outcome: "unknown", message: "not yet" }];
    shop.receiver.settlements.push(() => ({ outcome: "unknown", message: "lost" }));
    await shop.send({ headers: await next() });
    shop.receiver.lookups = [found];
    await shop.pass(MINUTE);
  }
  shop.chain.push({ outcome: "gone" }, { outcome: "lost" });
  await shop.send({ headers: await next() });
  shop.context.lookups.watch();
  await shop.pass(MINUTE);
  return shown;
}

function expectNone(text: string, secrets: readonly string[]): void {
  for (const secret of secrets)
    expect([secret.length > 15, text.includes(secret.toLowerCase())]).toEqual([true, false]);
}

it("A7: no event about authorizations, of whatever kind, holds a signature, a nonce, a retry key or a pass", async () => {
  const shop = openShop({ terms: { pass: { uses: 3, ms: 60 * MINUTE } } });
  const shown = await goEveryWay(shop, () => shop.sign({ retryKey: KEY }));
  const sold = await shop.send({ headers: await shop.sign() });
  const pass = sold.header("Payment-Pass") ?? "";
  for (let use = 0; use < 4; use += 1) await shop.send({ headers: { "Payment-Pass": pass } }, broken);
  await shop.pass(0);
  expect([...shop.heard].sort()).toEqual(NAMES.filter((name) => EVENTS[name]).sort());
  const secrets = shown.flatMap((headers) => {
    const text = headers["PAYMENT-SIGNATURE"] ?? "";
    const { signature, authorization } = JSON.parse(atob(text)).payload;
    return [text, signature.slice(2), authorization.nonce.slice(2)];
  });
  expectNone(shop.text(), [...secrets, KEY, pass]);
});

it("A7: no event about a buyer's own transactions, of whatever kind, holds its secret, its bytes or a retry key", async () => {
  const shop = openShop({ price: ETH });
  let key = 0;
  const shown = await goEveryWay(shop, () =>
    shop.show({ key: `sender/${++key}`, note: "bytes" }, { secret: SECRET, retryKey: KEY }),
  );
  await shop.pass(0);
  const told = NAMES.filter((name) => shop.heard.has(name));
  expect(told).toEqual(expect.arrayContaining(["settled", "refused", "unknown", "reconciled", "replayed", "refusal"]));
  const secrets = shown.flatMap((headers) => {
    const text = headers["PAYMENT-SIGNATURE"] ?? "";
    return [text, JSON.parse(atob(text)).payload.transaction];
  });
  expectNone(shop.text(), [...secrets, KEY, SECRET, SECRET.slice(2)]);
});
