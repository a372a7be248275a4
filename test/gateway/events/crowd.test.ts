// Many sockets of many accounts, told by gateways in processes of their own while payments are written, one in a hundred of them
// on a real chain: each gets exactly its own events, in the order of the commits. EVENTS_SOCKETS and EVENTS_PAYMENTS make it long:
// 1,000 and 10,000.
import { afterEach, describe, expect, it, vi } from "vitest";
import type { GatewayEvent } from "../../../src/gateway/database/database.js";
import { noPostgres } from "../../support/postgres.js";
import type { Running } from "../../support/process.js";
import { noRedis } from "../../support/redis.js";
import { ask } from "../call.js";
import { newPayment } from "../database/payments-made.js";
import { createGatewayWorld, type GatewayWorld } from "../world.js";
import { startDying } from "./dying.js";
import { figureOf } from "./figures.js";
import { type Listening, listenAs, listenLater } from "./listening.js";

const SOCKETS = Number(process.env.EVENTS_SOCKETS ?? 60);
const PAYMENTS = Number(process.env.EVENTS_PAYMENTS ?? 300);
/** Of one account, as `premium` permits. */
const OF_ONE = 20;
/** One payment of so many is on the chain. */
const ON_CHAIN = 100;
const AT_ONCE = 20;
const MEGABYTE = 2 ** 20;
const LONG = { timeout: 60_000, interval: 500 };

let world: GatewayWorld | undefined;
let instances: readonly Running[] = [];
afterEach(async () => {
  for (const one of instances) await one.stop();
  instances = [];
  await world?.close();
  world = undefined;
});

interface Crowd {
  readonly account: string;
  readonly apiKey: string;
  readonly wallet: string;
  readonly sockets: Listening[];
  /** Ids of the payments that were written. */
  readonly written: Set<string>;
}

async function newCrowd(made: GatewayWorld): Promise<Crowd> {
  const account = await made.newAccount();
  const { address: wallet, apiKey } = await made.newWallet({ family: "evm", account });
  return { account, apiKey, wallet, sockets: [], written: new Set() };
}

async function enter(crowds: readonly Crowd[], urls: readonly string[]): Promise<void> {
  for (let n = 0; n < SOCKETS; n += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, SOCKETS - n) }, async (_, at) => {
      const crowd = crowds[Math.floor((n + at) / OF_ONE)];
      const open = at % 2 === 0 ? listenAs : listenLater;
      const socket = await open(urls[at % urls.length] ?? "", crowd?.apiKey ?? "");
      await socket.subscribe(["payments"], 0);
      crowd?.sockets.push(socket);
    });
    await Promise.all(some);
  }
}

/** A payment of a hosted wallet, on the chain when it resolves. */
async function send(url: string, { account, wallet, apiKey }: Crowd): Promise<string> {
  const order = { walletAddress: wallet, recipientAddress: `0x${"5e".repeat(20)}`, amount: 0.001 };
  const resource = `https://shop.example/${account}`;
  const { status, body } = await ask(url, "POST", "/payment/send", { ...order, resource }, { key: apiKey });
  // Other payments' blocks may have made it final before anybody looked.
  expect([status, body.status]).toEqual([200, expect.stringMatching(/^(?:confirmed|finalized)$/)]);
  return String(body.paymentId);
}

async function eventsOf({ gateway }: GatewayWorld, account: string): Promise<readonly GatewayEvent[]> {
  const last = await gateway.database.events.latest(account);
  const page = await gateway.database.events.since(account, "test", 0, last + 1);
  if (page.outcome !== "ok") throw new Error("the outbox does not begin at 0");
  return page.events;
}

/** Compared by hand: an assertion for each of 200,000 events takes longer than they do. */
function differences({ sockets, account }: Crowd, outbox: readonly GatewayEvent[]): readonly string[] {
  return sockets.flatMap((socket) => {
    const events = socket.events();
    const wrong = outbox.find((own, at) => {
      const told = events[at];
      const isSame = told?.id === own.id && told.cursor === own.cursor && told.data.status === own.payment.status;
      return !isSame || told.data.paymentId !== own.payment.id || !told.data.resource?.endsWith(account);
    });
    if (!wrong && events.length === outbox.length) return [];
    return [`${account}: ${events.length} told of ${outbox.length}, the first that differs: ${wrong?.cursor}`];
  });
}

describe.each([
  ["SQLite", "sqlite", 1],
  ["Postgres and Redis", "postgres", 2],
] as const)("on %s", (_name, database, count) => {
  const isShared = database === "postgres";
  const skip = isShared && (noPostgres() ?? noRedis()) !== undefined;

  it.skipIf(skip)(
    `${SOCKETS} sockets and ${PAYMENTS} payments, 1 % on the chain: every subscriber gets exactly its own events, in order`,
    async () => {
      const made = await createGatewayWorld({ database, redis: isShared, watch: false, chains: { evm: true } });
      world = made;
      instances = await Promise.all(Array.from({ length: count }, () => startDying(made.options, { watches: true })));
      const urls = instances.map(({ firstLine }) => firstLine);
      const crowds: Crowd[] = [];
      for (let n = 0; n < SOCKETS; n += OF_ONE) crowds.push(await newCrowd(made));
      const begunAt = performance.now();
      await enter(crowds, urls);
      const enteredAt = performance.now();
      let most = 0;
      const onChain: Promise<void>[] = [];
      for (let n = 0; n < PAYMENTS; n += AT_ONCE) {
        const some = Array.from({ length: Math.min(AT_ONCE, PAYMENTS - n) }, async (_, at) => {
          const index = n + at;
          const crowd = crowds[(index % ON_CHAIN === 0 ? index / ON_CHAIN : index) % crowds.length];
          if (!crowd) return;
          if (index % ON_CHAIN === 0) {
            const sent = send(urls[(index / ON_CHAIN) % urls.length] ?? "", crowd);
            onChain.push(sent.then((id) => void crowd.written.add(id)));
            return;
          }
          const payment = newPayment(crowd.account, { resource: `https://shop.example/${crowd.account}` });
          const inserted = await made.gateway.parts.database.payments.insert(payment);
          if (inserted.outcome === "ok") crowd.written.add(inserted.payment.id);
        });
        await Promise.all(some);
        if (n % 500 === 0) most = Math.max(most, ...(await residents(urls)));
        // SQLite works on this very thread, and the sockets are read on it too.
        await new Promise(setImmediate);
      }
      await Promise.all(onChain);
      const writtenAt = performance.now();
      let told = 0;
      for (const crowd of crowds) {
        // What is on the chain goes on: between the two looks it may have become final. A gap or a copy stays.
        await vi.waitFor(async () => {
          const outbox = await eventsOf(made, crowd.account);
          for (const socket of crowd.sockets) await socket.reached(outbox.length);
          expect(differences(crowd, outbox)).toEqual([]);
          expect(new Set(outbox.map(({ payment }) => payment.id))).toEqual(crowd.written);
        }, LONG);
        for (const socket of crowd.sockets) told += socket.events().length;
      }
      const toldAt = performance.now();
      expect(crowds.reduce((sum, { written }) => sum + written.size, 0)).toBe(PAYMENTS);
      expect(onChain).toHaveLength(Math.ceil(PAYMENTS / ON_CHAIN));
      most = Math.max(most, ...(await residents(urls)));
      const seconds = (ms: number) => (ms / 1000).toFixed(1);
      console.log(
        `${database}: ${SOCKETS} sockets in ${seconds(enteredAt - begunAt)} s; ${PAYMENTS} payments, ${onChain.length} on the ` +
          `chain, in ${seconds(writtenAt - enteredAt)} s; ${told} messages, the last ${seconds(toldAt - writtenAt)} s later; ` +
          `a gateway took at most ${Math.round(most / MEGABYTE)} MB`,
      );
      for (const { sockets } of crowds) for (const socket of sockets) socket.end();
    },
    900_000,
  );
});

const residents = (urls: readonly string[]): Promise<readonly number[]> =>
  Promise.all(urls.map((url) => figureOf(url, "process_resident_memory_bytes")));
