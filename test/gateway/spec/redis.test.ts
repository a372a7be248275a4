// The specification's rates where several instances count together: on a real Redis, with either database.
import { afterAll, beforeAll, describe, it } from "vitest";
import { noPostgres } from "../../support/postgres.js";
import { noRedis } from "../../support/redis.js";
import { createGatewayWorld, type GatewayWorld, type Instance } from "../world.js";
import { checkRate, RATES } from "./limit-cases.js";

describe.each(["sqlite", "postgres"] as const)("Limits of two instances on Redis, with %s", (database) => {
  if (noRedis() !== undefined || (database === "postgres" && noPostgres() !== undefined)) return;
  let world: GatewayWorld;
  let instances: readonly Instance[];
  beforeAll(async () => {
    world = await createGatewayWorld({ database, redis: true });
    instances = [world, await world.another()];
  });
  afterAll(() => world?.close());

  it.each(RATES)("$name: passes, and not one more", (rate) => checkRate(world, instances, rate), 120_000);
});
