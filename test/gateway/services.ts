// One Postgres and one Redis for the tests of a file, started when they are first asked for and ended with it.
import { afterAll } from "vitest";
import { type PostgresServer, startPostgres } from "../support/postgres.js";
import { type RedisServer, startRedis } from "../support/redis.js";

let postgres: Promise<PostgresServer> | undefined;
let redis: Promise<RedisServer> | undefined;

export const sharedPostgres = (): Promise<PostgresServer> => {
  postgres ??= startPostgres();
  return postgres;
};

export const sharedRedis = (): Promise<RedisServer> => {
  redis ??= startRedis();
  return redis;
};

afterAll(async () => {
  await Promise.all([postgres, redis].map(async (service) => (await service)?.stop()));
});
