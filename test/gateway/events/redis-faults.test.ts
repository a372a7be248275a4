// Redis dies, hangs and comes back under the event sockets of two instances: it is quicker with it, and nothing depends on it.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { noPostgres } from "../../support/postgres.js";
import { noRedis, type RedisServer, startRedis } from "../../support/redis.js";
import { newPayment, SENDER } from "../database/payments-made.js";
import { createGatewayWorld, type GatewayWorld, type Instance } from "../world.js";
import { type Listening, listenAs, refusalOf } from "./listening.js";

const skip = (noPostgres() ?? noRedis()) !== undefined;
const ONE = { connections: 2, messagesPerSecond: 50 };
const HOUR = 3_600_000;

describe.skipIf(skip).each([
  ["and are looked for", 200],
  // So that nothing is found by looking.
  ["and are not looked for within the hour", HOUR],
])("event sockets whose Redis has faults %s", (_name, beatMs) => {
  let redis: RedisServer;
  let world: GatewayWorld;
  let other: Instance;
  const opened: Listening[] = [];
  beforeAll(async () => {
    redis = await startRedis();
    const options = { redisUrl: redis.url, plans: { one: { perMinute: 1_000, events: ONE } } };
    world = await createGatewayWorld({
      ...{ database: "postgres", watch: false, options },
      context: { eventTimes: { beatMs, seatMs: 5_000 } },
    });
    other = await world.another();
  }, 60_000);
  afterAll(async () => {
    for (const one of opened) one.end();
    await world?.close();
    await redis?.stop();
  });

  /** A socket at each instance. */
  async function newPair() {
    const account = await world.newAccount();
    const apiKey = await world.newKey({ account, plan: "one" });
    const sockets = [await listenAs(world.url, apiKey), await listenAs(other.url, apiKey)] as const;
    opened.push(...sockets);
    for (const one of sockets) await one.subscribe(["payments"]);
    const insert = async (count: number) => {
      for (let n = 0; n < count; n += 1) await world.gateway.parts.database.payments.insert(newPayment(account));
    };
    return { account, apiKey, sockets, insert };
  }
  const expectAll = async (sockets: readonly Listening[], count: number) => {
    for (const one of sockets) {
      const cursors = (await one.reached(count)).map(({ cursor }) => cursor);
      expect(cursors).toEqual(Array.from({ length: count }, (_, n) => n + 1));
    }
  };

  /** The instance that writes has its own connection again, which may come later than the one by which the other listens. */
  const expectTelling = async (account: string, key: string) => {
    const isCounted = async () => {
      await world.call("GET", `/payment/history/${SENDER}`, undefined, { key });
      return redis.command("exists", `tollgate:rate:${account}`);
    };
    await expect.poll(isCounted, { timeout: 20_000 }).toBe(1);
  };

  it("miss nothing while it is dead, nor what was written meanwhile once it is back", async () => {
    const { account, apiKey, sockets, insert } = await newPair();
    await insert(3);
    await expectAll(sockets, 3);
    await redis.kill();
    await insert(3);
    await expectAll(beatMs === HOUR ? sockets.slice(0, 1) : sockets, 6);
    await redis.restart();
    await expectAll(sockets, 6);
    await expectTelling(account, apiKey);
    await insert(3);
    await expectAll(sockets, 9);
  }, 60_000);

  it.runIf(beatMs < HOUR)(
    "are counted on both again once it is back, although it has forgotten them",
    async () => {
      const { apiKey } = await newPair();
      await redis.kill();
      await redis.restart();
      const asked = async (url: string) =>
        refusalOf(url, { headers: { Authorization: `Bearer ${apiKey}` } }).then(
          ({ status }) => status,
          () => "granted",
        );
      for (const { url } of [world, other]) await expect.poll(() => asked(url), { timeout: 30_000 }).toBe(429);
    },
    90_000,
  );

  it.runIf(beatMs < HOUR)(
    "are told, let in and cut while it hangs",
    async () => {
      const { account, sockets, insert } = await newPair();
      const [key] = await world.gateway.database.keys.list(account);
      redis.freeze();
      try {
        await insert(3);
        await expectAll(sockets, 3);
        const late = await listenAs(other.url, await world.newKey());
        opened.push(late);
        await other.gateway.database.keys.revoke(account, key?.id ?? "");
        for (const one of sockets) expect(await one.closed).toMatchObject({ code: 4401 });
      } finally {
        redis.thaw();
      }
    },
    90_000,
  );
});
