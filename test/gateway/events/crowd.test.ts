// Many sockets of many accounts, told by two instances while payments are written at both: each gets exactly its own events, in the
// order of the commits. EVENTS_SOCKETS and EVENTS_PAYMENTS make it long: 1,000 and 10,000.
import { afterAll, beforeAll, expect, it } from "vitest";
import { noPostgres } from "../../support/postgres.js";
import { noRedis } from "../../support/redis.js";
import { newPayment } from "../database/payments-made.js";
import { createGatewayWorld, type GatewayWorld, type Instance } from "../world.js";
import { type Listening, listenAs, listenLater } from "./listening.js";

const SOCKETS = Number(process.env.EVENTS_SOCKETS ?? 100);
const PAYMENTS = Number(process.env.EVENTS_PAYMENTS ?? 500);
/** Of one account, as `premium` permits. */
const OF_ONE = 20;
const skip = (noPostgres() ?? noRedis()) !== undefined;

let world: GatewayWorld;
let other: Instance;
beforeAll(async () => {
  if (skip) return;
  world = await createGatewayWorld({ database: "postgres", redis: true, watch: false });
  other = await world.another();
}, 60_000);
afterAll(() => world?.close());

it.skipIf(skip)(
  `${SOCKETS} sockets and ${PAYMENTS} payments: every subscriber gets exactly its own events, in order`,
  async () => {
    const accounts = await Promise.all(
      Array.from({ length: Math.ceil(SOCKETS / OF_ONE) }, async () => {
        const account = await world.newAccount();
        return { account, apiKey: await world.newKey({ account }), sockets: [] as Listening[], written: 0 };
      }),
    );
    for (let n = 0; n < SOCKETS; n += 50) {
      await Promise.all(
        Array.from({ length: Math.min(50, SOCKETS - n) }, async (_, at) => {
          const one = accounts[Math.floor((n + at) / OF_ONE)];
          const enter = at % 2 === 0 ? listenAs : listenLater;
          const socket = await enter(at % 3 === 0 ? world.url : other.url, one?.apiKey ?? "");
          await socket.subscribe(["payments"], 0);
          one?.sockets.push(socket);
        }),
      );
    }
    const begunAt = performance.now();
    for (let n = 0; n < PAYMENTS; n += 20) {
      await Promise.all(
        Array.from({ length: Math.min(20, PAYMENTS - n) }, async (_, at) => {
          const one = accounts[(n + at) % accounts.length];
          if (!one) return;
          one.written += 1;
          const { database } = (at % 2 === 0 ? world : other).gateway.parts;
          await database.payments.insert(newPayment(one.account, { resource: one.account }));
        }),
      );
    }
    const writtenAt = performance.now();
    for (const { account, sockets, written } of accounts) {
      for (const socket of sockets) {
        const events = await socket.reached(written);
        expect(events.map(({ cursor }) => cursor)).toEqual(Array.from({ length: written }, (_, n) => n + 1));
        expect(events.every(({ data }) => data.resource === account)).toBe(true);
      }
    }
    const told = accounts.reduce((sum, { sockets, written }) => sum + sockets.length * written, 0);
    const seconds = (ms: number) => (ms / 1000).toFixed(1);
    console.log(
      `${SOCKETS} sockets, ${PAYMENTS} payments, ${told} messages: written in ${seconds(writtenAt - begunAt)} s, ` +
        `all told ${seconds(performance.now() - writtenAt)} s later, ${Math.round(process.memoryUsage().rss / 1e6)} MB`,
    );
    for (const { sockets } of accounts) for (const socket of sockets) socket.end();
  },
  900_000,
);
