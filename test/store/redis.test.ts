// The store in a real Redis through both clients, whose clock is moved on the server.
import { Redis } from "ioredis";
import { createClient } from "redis";
import { afterAll, beforeAll, describe, onTestFinished } from "vitest";
import type { RedisClient } from "../../src/store/redis/client.js";
import { openRedis } from "../../src/store/redis/open.js";
import { createSharedStore } from "../../src/store/shared-store.js";
import { noRedis, type RedisServer, startRedis } from "../support/redis.js";
import { describeStore } from "./contract.js";
import { describeListing } from "./contract-list.js";
import { describeExactness, describeSharing } from "./contract-more.js";
import { describePasses } from "./contract-passes.js";

let server: RedisServer;
let names = 0;

const CLIENTS: Record<string, () => Promise<RedisClient>> = {
  async ioredis() {
    const client = new Redis(server.url);
    onTestFinished(() => client.disconnect());
    return client;
  },
  async "node-redis"() {
    const client = createClient({ url: server.url });
    await client.connect();
    onTestFinished(() => client.destroy());
    return client;
  },
};

describe.skipIf(noRedis()).each(Object.entries(CLIENTS))("on Redis through %s", (label, newClient) => {
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server?.stop());

  async function make() {
    names += 1;
    const name = `shop${names}`;
    const admin = new Redis(server.url);
    onTestFinished(() => admin.disconnect());
    const connect = async () => {
      const client = await newClient();
      const open = () => openRedis({ client, name }, "tonumber(redis.call('GET', p .. 'ahead') or '0')");
      const store = createSharedStore({ name: "redis", timeoutMs: 10_000, open });
      onTestFinished(() => store.close());
      return store;
    };
    const advance = async (ms: number) => void (await admin.incrby(`{${name}}:ahead`, ms));
    return { store: await connect(), advance, another: connect };
  }

  describeStore(`redis (${label})`, make);
  describeExactness(`redis (${label})`, make);
  describeListing(`redis (${label})`, make);
  describePasses(`redis (${label})`, make);
  describeSharing(`redis (${label})`, make);
});
