// What a gateway holds for readers that do not read: 200 sockets of one account, a flood of large events, and a process of its own
// that is measured all the while.
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Running, startNode } from "../../support/process.js";
import { root } from "../../support/sources.js";
import { newPayment } from "../database/payments-made.js";
import { createGatewayWorld, type GatewayWorld } from "../world.js";
import { figureOf } from "./figures.js";
import { type Listening, listenAs } from "./listening.js";

const READERS = 200;
const EVENTS = 1_500;
const MEGABYTE = 2 ** 20;
/** For each reader 64 KiB and one message, and what is being read from the database. */
const MOST = 48 * MEGABYTE;
const LARGE = { resource: `https://shop.example/${"x".repeat(1_900)}`, metadata: { note: "y".repeat(3_900) } };

let world: GatewayWorld;
let gateway: Running;
const opened: Listening[] = [];
beforeAll(async () => {
  const events = { connections: READERS, messagesPerSecond: 1_000 };
  world = await createGatewayWorld({
    ...{ watch: false, options: { plans: { many: { perMinute: 100_000, events } } } },
  });
  const script = join(root, "test/gateway/events/measured-gateway.mjs");
  gateway = await startNode(["--expose-gc", script], { GATEWAY_OPTIONS: JSON.stringify(world.options) });
}, 60_000);
afterAll(async () => {
  for (const one of opened) one.end();
  await gateway?.stop();
  await world?.close();
});

const measures = () => [...gateway.output().matchAll(/^held (\d+)$/gm)].map(([, bytes]) => Number(bytes));
async function held(): Promise<number> {
  const { length } = measures();
  gateway.signal("SIGUSR2");
  await expect.poll(() => measures().length, { timeout: 60_000 }).toBeGreaterThan(length);
  return measures().at(-1) ?? 0;
}

it(`A44: ${READERS} readers that do not read cost a gateway less than ${MOST / MEGABYTE} MB, and are cut`, async () => {
  const account = await world.newAccount();
  const apiKey = await world.newKey({ account, plan: "many" });
  for (let n = 0; n < READERS; n += 1) {
    const one = await listenAs(gateway.firstLine, apiKey);
    opened.push(one);
    await one.subscribe(["payments"]);
  }
  const before = await held();
  for (const { socket } of opened) socket.pause();
  let most = 0;
  for (let n = 1; n <= EVENTS; n += 1) {
    await world.gateway.parts.database.payments.insert(newPayment(account, LARGE));
    if (n % 100 === 0) most = Math.max(most, (await held()) - before);
  }
  expect(most).toBeLessThan(MOST);
  const open = async () => {
    most = Math.max(most, (await held()) - before);
    return figureOf(gateway.firstLine, "tollgate_event_sockets");
  };
  await expect.poll(open, { timeout: 120_000, interval: 500 }).toBe(0);
  // What its sockets held is given back when they are closed, which is a little later.
  let after = Number.POSITIVE_INFINITY;
  const left = async () => {
    after = (await held()) - before;
    return after;
  };
  await expect.poll(left, { timeout: 30_000, interval: 500 }).toBeLessThan(MOST / 4);
  console.log(
    `${READERS} slow readers, ${EVENTS} events of 6 KB: at most ${(most / MEGABYTE).toFixed(1)} MB, then ${(after / MEGABYTE).toFixed(1)} MB`,
  );
  expect(most).toBeLessThan(MOST);
}, 240_000);
