// Event sockets of several instances on one database, with Redis and without: what one writes the other tells; an instance that
// dies takes nothing with it; limits and revocations count everywhere.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { noPostgres } from "../../support/postgres.js";
import { noRedis } from "../../support/redis.js";
import { newPayment, recordOf } from "../database/payments-made.js";
import { createGatewayWorld, type GatewayWorld, type Instance } from "../world.js";
import { startDying } from "./dying.js";
import { type Listening, listenAs, refusalOf } from "./listening.js";

const ONE = { connections: 2, messagesPerSecond: 5 };
const KINDS = [
  ["Postgres, with Redis", "postgres", true],
  ["Postgres, without Redis", "postgres", false],
  ["one SQLite file", "sqlite", false],
] as const;
const isAbsent = { postgres: noPostgres() !== undefined, sqlite: false, redis: noRedis() !== undefined };
const present = KINDS.filter(([, database, redis]) => !isAbsent[database] && !(redis && isAbsent.redis));

describe.each(present)("event sockets of two instances on %s", (_name, database, redis) => {
  let world: GatewayWorld;
  let other: Instance;
  const opened: Listening[] = [];
  beforeAll(async () => {
    const options = { plans: { one: { perMinute: 1_000, events: ONE } } };
    world = await createGatewayWorld({ database, redis, watch: false, options });
    other = await world.another();
  }, 60_000);
  afterAll(async () => {
    for (const one of opened) one.end();
    await world.close();
  });
  const open = async (url: string, apiKey: string): Promise<Listening> => {
    const one = await listenAs(url, apiKey);
    opened.push(one);
    return one;
  };
  const insertAt = async ({ gateway }: Instance, account: string) =>
    recordOf(await gateway.parts.database.payments.insert(newPayment(account)));

  it("of 50 racing inserts at both, with changes, lose none and tell them in the order of the commits", async () => {
    const account = await world.newAccount();
    const apiKey = await world.newKey({ account });
    const sockets = [await open(world.url, apiKey), await open(other.url, apiKey)];
    for (const one of sockets) await one.subscribe(["payments"]);
    await Promise.all(
      Array.from({ length: 50 }, async (_, n) => {
        const at = n % 2 === 0 ? world : other;
        const made = await insertAt(at, account);
        await at.gateway.parts.database.payments.change(made, "submitted", {});
      }),
    );
    for (const one of sockets) {
      const events = await one.reached(100);
      expect(events.map(({ cursor }) => cursor)).toEqual(Array.from({ length: 100 }, (_, n) => n + 1));
    }
    expect(sockets[0]?.events()).toEqual(sockets[1]?.events());
  });

  it("end on all of them when the key is revoked at one", async () => {
    const account = await world.newAccount();
    const apiKey = await world.newKey({ account });
    const sockets = [await open(world.url, apiKey), await open(other.url, apiKey)];
    const [key] = await world.gateway.database.keys.list(account);
    await other.gateway.database.keys.revoke(account, key?.id ?? "");
    for (const one of sockets) expect(await one.closed).toMatchObject({ code: 4401 });
  });

  it.runIf(redis)("count on all of them: connections and messages of an account", async () => {
    const account = await world.newAccount();
    const apiKey = await world.newKey({ account, plan: "one" });
    const sockets = [await open(world.url, apiKey), await open(other.url, apiKey)];
    for (const { url } of [world, other]) {
      const refused = await refusalOf(url, { headers: { Authorization: `Bearer ${apiKey}` } });
      expect([refused.status, refused.body]).toEqual([429, expect.stringContaining("2 event sockets")]);
    }
    for (const one of sockets) for (let n = 0; n < 5; n += 1) one.say({ method: "ping" });
    const refusals = () => sockets.flatMap(({ messages }) => messages.filter(({ type }) => type === "error"));
    await expect.poll(() => refusals().length, { timeout: 10_000 }).toBeGreaterThan(0);
  });

  it("of an instance that is killed go on at another one with since, and its seats are free", async () => {
    const account = await world.newAccount();
    const apiKey = await world.newKey({ account, plan: "one" });
    const dying = await startDying(world.options);
    const first = [await open(dying.firstLine, apiKey), await open(dying.firstLine, apiKey)];
    for (const one of first) await one.subscribe(["payments"], 0);
    let written = 0;
    let isOver = false;
    const write = async () => {
      for (; !isOver; written += 1) {
        await insertAt(world, account);
        await new Promise(setImmediate);
      }
    };
    const writing = write();
    await first[0]?.reached(10);
    await dying.kill();
    await insertAt(other, account);
    isOver = true;
    await writing;
    const total = written + 2;
    const seen = first[0]?.events().map(({ cursor }) => cursor) ?? [];
    let second: Listening | undefined;
    const again = async () => {
      second ??= await listenAs(world.url, apiKey).catch(() => undefined);
      return second;
    };
    await expect.poll(again, { timeout: 30_000, interval: 500 }).toBeDefined();
    if (!second) throw new Error("no second socket");
    opened.push(second);
    await second.subscribe(["payments"], seen.at(-1) ?? 0);
    await insertAt(other, account);
    await second.reached(total - seen.length);
    const all = [...seen, ...second.events().map(({ cursor }) => cursor)];
    expect(all).toEqual(Array.from({ length: total }, (_, n) => n + 1));
  }, 90_000);

  it("end with 1001 when their instance shuts down", async () => {
    const leaving = await world.another();
    const one = await open(leaving.url, await world.newKey({ account: await world.newAccount() }));
    await leaving.close();
    expect(await one.closed).toMatchObject({ code: 1001 });
  });
});
